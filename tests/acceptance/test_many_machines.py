"""Several daemons on one chain, each with its own data folder: whichever is asked, the same."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from driver import Astra, let_it_be_overdue, past
from forking import run_in_sandbox, sleepers, start_forking
from postgres_server import Database, new_database
from worker_process import eventually

WRITE = "ASTRA_CODE_WRITE_ENABLED"
LEASE = "background"


@pytest.fixture
def database() -> Iterator[Database]:
    with new_database() as database:
        yield database


@pytest.fixture
def machines(initialised: Astra, database: Database, tmp_path: Path) -> Iterator[list[Astra]]:
    """Three machines: one whose chain moved into Postgres, and two copies of its data folder."""
    places = [tmp_path / name for name in ("one", "two", "three")]
    for place in places:
        place.mkdir()
    first = initialised.copied_to(Astra(places[0]))
    first.json("ledger", "move", "--to", database.url)
    made = [first, *(first.copied_to(Astra(place)) for place in places[1:])]
    for machine in made:
        machine.extra["ASTRA_DATABASE_URL"] = database.url
    yield made
    for machine in made:
        machine.end()


def find_leader(asked: Astra) -> str:
    items = asked.json("machines")["items"]
    return next((item["id"] for item in items if LEASE in item["leads"]), "")


def own_id(machine: Astra) -> str:
    return str(machine.json("machines")["own"])


def test_what_is_decided_at_one_machine_holds_at_every_machine(machines: list[Astra]) -> None:
    one, two, _ = machines
    two.daemon_pid()
    one.json("flags", "set", WRITE, "on")
    eventually(lambda: two.json("status")["flags"][WRITE]["on"])
    two.json("flags", "set", WRITE, "off")
    eventually(lambda: not one.json("status")["flags"][WRITE]["on"])
    token = one.json("tokens", "create", "robot", "--role", "viewer", "--days", "7")["id"]
    eventually(lambda: [item["id"] for item in two.json("tokens", "list")["items"]] == [token])
    two.json("tokens", "revoke", token)
    eventually(lambda: one.json("tokens", "list")["items"][0]["ended"])
    call = ("tools", "call", "fetch_url", '{"url": "https://example.com/x"}')
    waiting = one.json(*call, code=3)["approval_id"]
    eventually(lambda: [item["id"] for item in two.json("approvals")["items"]] == [waiting])
    two.json("approve", waiting)
    eventually(lambda: not one.json("approvals")["items"])
    assert one.json("ledger", "verify")["ok"]
    assert two.json("ledger", "verify")["ok"]


def test_calls_of_other_machines_are_not_closed_by_a_daemon_that_starts(
    machines: list[Astra],
) -> None:
    one, two, _ = machines
    running = start_forking(one)
    two.json("status")
    assert two.json("ledger", "tail", "--type", "tool_interrupted")["items"] == []
    one.json("stop", "--now")
    running.join()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_schedules_go_on_at_another_machine_when_the_leader_is_killed_or_hangs(
    machines: list[Astra], number: signal.Signals
) -> None:
    one, two, three = machines
    pid = one.daemon_pid()
    eventually(lambda: find_leader(one) == own_id(one))
    words = ["--name", "test", "--cron", "@yearly", "--tool", "astra.health"]
    schedule = one.json("schedules", "create", *words)["id"]
    two.daemon_pid()
    os.kill(pid, number)
    eventually(lambda: find_leader(two) == own_id(two))
    with past(three, days=1) as runtime:
        let_it_be_overdue(runtime, runtime.timetable.get(schedule), seconds=5)
    eventually(lambda: two.json("schedules", "history", schedule)["items"])
    if number == signal.SIGSTOP:
        os.kill(pid, signal.SIGCONT)
        eventually(lambda: one.json("schedules", "history", schedule)["items"])
    items = two.json("schedules", "history", schedule)["items"]
    assert [item["outcome"] for item in items] == ["succeeded"]
    assert two.json("ledger", "verify")["ok"]


def test_a_stop_reaches_every_machine_and_a_start_ends_it_everywhere(
    machines: list[Astra],
) -> None:
    one, two, _ = machines
    running = start_forking(two)
    one.daemon_pid()
    both = {own_id(one): True, own_id(two): True}
    # It names whoever has not answered after a few seconds; asked again, it says how it is by then.
    eventually(lambda: list_reached(one) == both)
    assert sleepers() == []
    running.join()
    assert run_in_sandbox(two, "true", code=1)["code"] == "stopped"
    reached = one.json("ledger", "tail", "--type", "stop_reached")["items"]
    assert max(item["data"]["report"]["ended"] for item in reached) == 1
    two.json("start")
    eventually(lambda: not one.json("status")["stopped"])
    eventually(lambda: not (one.root / "var" / "stop").exists())


def test_a_machine_that_does_not_answer_is_named_and_stops_when_it_is_back(
    machines: list[Astra],
) -> None:
    one, two, _ = machines
    one.daemon_pid()
    pid = two.daemon_pid()
    hanging = own_id(two)
    os.kill(pid, signal.SIGSTOP)
    try:
        answer = one.run("stop", "--now", "--json")
        states = {item["id"]: item for item in json.loads(answer.stdout)["machines"]}
        assert answer.returncode == 1
        assert (states[hanging]["reached"], states[own_id(one)]["reached"]) == (False, True)
        assert states[hanging]["name"].endswith(str(two.root))
    finally:
        os.kill(pid, signal.SIGCONT)
    eventually((two.root / "var" / "stop").exists)
    eventually(lambda: len(one.json("ledger", "tail", "--type", "stop_reached")["items"]) == 2)


def test_a_machine_that_is_gone_is_forgotten_on_request(machines: list[Astra]) -> None:
    one, two, _ = machines
    one.daemon_pid()
    gone = own_id(two)
    eventually(lambda: is_kept(one, gone))
    two.kill_daemon()
    eventually(lambda: not is_answering(one, gone))
    one.json("machines", "--forget", gone)
    assert [item["id"] for item in one.json("machines")["items"]] == [own_id(one)]


def list_reached(asked: Astra) -> dict[str, bool]:
    answer = json.loads(asked.run("stop", "--now", "--json").stdout)
    return {item["id"]: item["reached"] for item in answer.get("machines", [])}


def is_kept(asked: Astra, machine: str) -> bool:
    """Try to forget a machine that lives; one that was too slow to say so is back in a second."""
    answer = asked.run("machines", "--forget", machine, "--json")
    return json.loads(answer.stdout).get("code") == "conflict"


def is_answering(asked: Astra, machine: str) -> bool:
    items = asked.json("machines")["items"]
    return any(item["answers"] for item in items if item["id"] == machine)
