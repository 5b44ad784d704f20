"""Each kind of look counts by itself, and a command alone protects what has no port."""

from dataclasses import replace
from pathlib import Path

import pytest

from astra.deployments import events
from astra.deployments.app_plan import plan_of
from astra.deployments.ports import Checked
from astra.deployments.watching import Tally
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings.configuration import parse
from deployment_world import World
from holding import REFUSED


def failing_after(world: World, looks: int) -> None:
    """Have the health command fail once it was well so many times."""
    run = world.command.run

    def count_and_fail(*words: object) -> Checked:
        world.command.well = world.command.runs < looks
        return run(*words)  # type: ignore[arg-type]

    world.command.run = count_and_fail  # type: ignore[method-assign]


@pytest.mark.parametrize("path", ["/healthz", ""], ids=["with HTTP", "alone"])
def test_a_command_that_fails_every_time_in_the_watch_takes_the_release_back(
    world: World, path: str
) -> None:
    world.plan = replace(world.plan, health_command=("check",), health_path=path, watch_seconds=60)
    good = world.deploy("a")
    world.command.runs = 0
    failing_after(world, 1)
    made = world.request("b")
    work = world.work()
    while world.now(made.id).state != "rolling_back":
        assert work.advance()
    assert "health command failed 3 times in a row" in world.now(made.id).reason
    world.command.runs = -1000
    assert world.finish(made.id).rollback_to == good.release


def test_a_worker_that_never_started_does_not_come_into_service(world: World) -> None:
    world.plan = replace(world.plan, health_command=("check",), health_path="", listens=False)
    done = world.finish(world.misbehave(REFUSED, "b").id)
    assert (done.state, done.reason[:18]) == ("failed", "it was not started")
    assert events.SWITCHED not in world.types()
    assert world.command.runs == 0


def test_good_answers_of_http_do_not_dilute_a_command_that_fails_now_and_then(
    world: World,
) -> None:
    tally = Tally(name="health command")
    outcomes = [tally.count(Checked(ok=number % 2 == 0, detail="")) for number in range(12)]
    assert not any(outcomes)
    trouble = tally.judge()
    assert trouble
    assert trouble.reason == "its health command failed 6 of 12 times"


def test_a_health_command_runs_in_staging_too(world: World) -> None:
    world.plan = replace(world.plan, staging=True, health_command=("check",))
    world.command.well = False
    done = world.deploy("a")
    assert (done.state, "the command said so" in done.reason) == ("failed", True)
    assert world.holder.serves is None


def test_a_worker_needs_a_health_command_and_neither_port_nor_path() -> None:
    worker = plan_of(
        parse('[app]\ncommand = "worker"\nhealth_command = "check --now"'), Path("/data")
    )
    assert (worker.listens, worker.health_path) == (False, "")
    assert worker.protection == "a worker without a port; health: the command check"
    server = plan_of(parse('[app]\ncommand = "serve"\nport = 8800'), Path("/data"))
    assert server.protection == "an HTTP server; health: GET /healthz"
    both = plan_of(
        parse('[app]\ncommand = "serve"\nhealth_path = "/up"\nhealth_command = "check"'),
        Path("/data"),
    )
    assert both.protection == "an HTTP server; health: GET /up and the command check"


@pytest.mark.parametrize(
    "setting",
    [
        'health_host = "a\\r\\nX: y"',
        'health_host = ""',
        "health_seconds = 0",
        "drain_seconds = 999999",
    ],
)
def test_settings_that_no_server_understands_are_refused(setting: str) -> None:
    with pytest.raises(BadSetting, match=setting.partition(" ")[0]):
        parse(f"[app]\n{setting}")
