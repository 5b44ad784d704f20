"""Programs of which only one may run, and apps of several processes."""

from dataclasses import replace
from pathlib import Path

import pytest

from astra.deployments.app_plan import plan_of
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings.configuration import parse
from deployment_world import World
from holding import CRASHES


def test_stop_first_ends_the_old_release_before_the_new_one_starts(world: World) -> None:
    world.plan = replace(world.plan, stop_first=True)
    first = world.deploy("a")
    second = world.deploy("b")
    assert world.holder.stopped == [first.release]
    assert world.holder.serves == second.release


def test_a_release_that_fails_after_stop_first_leaves_the_old_one_serving(world: World) -> None:
    world.plan = replace(world.plan, stop_first=True)
    first = world.deploy("a")
    bad = world.finish(world.misbehave(CRASHES, "b").id)
    assert bad.state == "failed"
    assert world.keep_serving() == ""
    assert world.holder.serves == first.release


@pytest.mark.parametrize(
    "change", [{"port": 9}, {"network": ()}, {"command": ("serve", "{port}")}, {"listens": False}]
)
def test_another_port_or_kind_of_network_is_replaced_stop_first(
    world: World, change: dict[str, object]
) -> None:
    first = world.deploy("a")
    world.plan = replace(world.plan, **change)  # type: ignore[arg-type]
    second = world.deploy("b")
    assert world.holder.stopped == [first.release]
    assert world.holder.serves == second.release


def test_parts_are_read_from_the_configuration_and_sealed() -> None:
    plan = plan_of(
        parse(
            '[app]\ncommand = "web"\nport = 8800\nreplace = "stop-first"\n'
            '[app.parts.worker]\ncommand = "work --queue a"\n'
        ),
        Path("/data"),
    )
    assert plan.stop_first
    assert plan.parts == (("worker", ("work", "--queue", "a")),)
    assert plan.protection.startswith("an HTTP server with worker")
    assert plan.restore(plan.seal()) == plan


@pytest.mark.parametrize(
    "text",
    [
        '[app.parts."../x"]\ncommand = "a"',
        "[app.parts.worker]",
        '[app.parts.worker]\nport = 1\ncommand = "a"',
        "[app]\nparts = 1",
        '[app]\nreplace = "never"',
    ],
)
def test_parts_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(BadSetting):
        parse(text)
