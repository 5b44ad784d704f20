"""`astra worker`: real processes on one chain in a real Postgres."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from driver import Astra
from postgres_server import Database, new_database
from worker_process import WorkerProcess, eventually, find_worker, list_workers


@pytest.fixture
def database() -> Iterator[Database]:
    with new_database() as database:
        yield database


@pytest.fixture
def machines(initialised: Astra, database: Database, tmp_path: Path) -> Iterator[list[Astra]]:
    """Three data folders on one chain: the first for a daemon, the others for workers."""
    places = [tmp_path / name for name in ("one", "two", "three")]
    for place in places:
        place.mkdir()
    first = initialised.copied_to(Astra(places[0]))
    first.sign_target("[ledger]", f'objects = "{tmp_path / "exchange.git"}"')
    first.run("down")
    first.json("ledger", "move", "--to", database.url)
    copies = [first, *(first.copied_to(Astra(place)) for place in places[1:])]
    for machine in copies:
        machine.extra["ASTRA_DATABASE_URL"] = database.url
    yield copies
    for machine in copies:
        machine.end()


@pytest.fixture
def workers(machines: list[Astra]) -> Iterator[list[WorkerProcess]]:
    processes = [WorkerProcess(machine) for machine in machines[1:]]
    yield processes
    for process in processes:
        process.end()


def test_a_worker_joins_says_what_it_can_do_and_leaves_in_order(
    machines: list[Astra], workers: list[WorkerProcess]
) -> None:
    daemon, worker = machines[0], workers[0]
    worker.words = ("--jobs", "3", "--label", "gpu=yes", "--instance", "web-1")
    worker.start()
    item = eventually(lambda: find_worker(daemon, worker))
    assert (item["jobs"], item["labels"], item["instance"]) == (3, {"gpu": "yes"}, "web-1")
    assert item["problems"] == []
    assert item["epoch"] >= 1
    worker.send(signal.SIGTERM)
    assert worker.wait() == 0
    eventually(lambda: list_workers(daemon) == {})
    joined = daemon.json("ledger", "tail", "--type", "worker_left")["items"]
    assert [record["data"]["worker"] for record in joined] == [item["id"]]
    assert daemon.json("ledger", "verify")["ok"]


def test_a_worker_never_leads_and_a_daemon_is_never_a_worker(
    machines: list[Astra], workers: list[WorkerProcess]
) -> None:
    daemon, worker = machines[0], workers[0].start()
    item = eventually(lambda: find_worker(daemon, worker))
    shown = {machine["id"]: machine["leads"] for machine in daemon.json("machines")["items"]}
    assert shown[item["id"]] == [f"worker:{item['id']}"]
    own = daemon.json("machines")["own"]
    assert not any(name.startswith("worker:") for name in shown[own])


def test_a_stop_is_proven_by_each_worker_and_names_the_one_that_hangs(
    machines: list[Astra], workers: list[WorkerProcess]
) -> None:
    daemon, hanging, answering = machines[0], workers[0].start(), workers[1].start()
    hangs = eventually(lambda: find_worker(daemon, hanging))["id"]
    answers = eventually(lambda: find_worker(daemon, answering))["id"]
    hanging.send(signal.SIGSTOP)
    try:
        eventually(lambda: stop_states(daemon).get(answers))
        assert stop_states(daemon)[hangs] is False
        eventually(lambda: find_worker(daemon, hanging, "away"))
    finally:
        hanging.send(signal.SIGCONT)
    eventually(lambda: stop_states(daemon)[hangs])


def test_a_data_root_with_a_chain_of_its_own_has_no_workers(astra: Astra) -> None:
    answer = astra.run("worker")
    assert answer.returncode == 1
    assert "a worker needs a chain that machines share" in answer.stderr
    assert astra.json("workers")["items"] == []


def test_a_data_folder_with_a_daemon_takes_no_worker(machines: list[Astra]) -> None:
    daemon = machines[0]
    pid = daemon.daemon_pid()
    answer = daemon.run("worker", "--json")
    assert json.loads(answer.stdout)["pid"] == pid
    os.kill(pid, 0)


def stop_states(asked: Astra) -> dict[str, bool]:
    answer = json.loads(asked.run("stop", "--now", "--json").stdout)
    return {item["id"]: item["reached"] for item in answer.get("machines", [])}
