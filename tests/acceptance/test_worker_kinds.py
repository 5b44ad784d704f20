"""Work of workers besides test runs: mutants of a change, and research."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from changing import IDENTITY, git
from driver import Astra, make_repository
from postgres_server import Database, new_database
from worker_process import WorkerProcess, eventually, find_worker

TESTS = "from agent import answer\n\n\ndef test_the_answer():\n    assert answer() == 42\n"
CHANGED = "def answer() -> int:\n    return 40 + 2\n"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Astra:
    """A project with a test, and a data root in which code may be written."""
    astra = Astra(tmp_path_factory.mktemp("project"))
    target = make_repository(astra.folder / "target")
    (target / "tests").mkdir()
    (target / "tests/test_agent.py").write_text(TESTS)
    (target / "conftest.py").write_text("")
    git(target, "add", "-A")
    git(target, *IDENTITY, "commit", "-qm", "tests")
    astra.json("init", target, "--throwaway")
    astra.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    astra.run("down")
    return astra


@pytest.fixture
def database() -> Iterator[Database]:
    with new_database() as database:
        yield database


@pytest.fixture
def machines(prepared: Astra, database: Database, tmp_path: Path) -> Iterator[list[Astra]]:
    """A daemon and two places for workers, with a folder through which commits travel."""
    exchange = tmp_path / "exchange.git"
    subprocess.run(["git", "init", "-q", "--bare", str(exchange)], check=True)
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    first = prepared.copied_to(Astra(tmp_path / "one"))
    command = f"{sys.executable} -m pytest -q --disable-plugin-autoload -p no:cacheprovider"
    words = [f"test_command = {json.dumps(command)}", "mutation_seconds = 120", "[ledger]"]
    first.sign_target(*words, f"objects = {json.dumps(str(exchange))}")
    first.run("down")
    first.json("ledger", "move", "--to", database.url)
    machines = [first, *(first.copied_to(Astra(tmp_path / name)) for name in ("two", "three"))]
    for machine in machines:
        machine.extra["ASTRA_DATABASE_URL"] = database.url
    yield machines
    for machine in machines:
        machine.end()


@pytest.fixture
def workers(machines: list[Astra]) -> Iterator[list[WorkerProcess]]:
    processes = [WorkerProcess(machine) for machine in machines[1:]]
    yield processes
    for process in processes:
        process.end()


def propose(astra: Astra) -> dict[str, Any]:
    edit = astra.folder / "edit"
    edit.write_text(CHANGED)
    return astra.json("changes", "propose", "--edit", f"agent.py={edit}", "--reason", "better")


def list_records(asked: Astra, type_: str) -> list[dict[str, Any]]:
    items = asked.json("ledger", "tail", "--type", type_, "--count", "100")["items"]
    return [item["data"] for item in items]


def test_the_mutants_of_a_change_are_measured_on_a_worker(
    machines: list[Astra], workers: list[WorkerProcess]
) -> None:
    daemon, worker = machines[0], workers[0].start()
    item = eventually(lambda: find_worker(daemon, worker))
    mutation = propose(daemon)["evidence"]["mutation"]
    assert mutation["measured"], mutation
    assert mutation["mutants"] > 0
    assert [data["kind"] for data in list_records(daemon, "job_offered")] == ["tests", "mutants"]
    ends = list_records(daemon, "job_ended")
    assert [(data["worker"], data["ending"]) for data in ends] == [(item["id"], "done")] * 2
    assert daemon.json("ledger", "verify")["ok"]


def test_a_worker_without_that_kind_leaves_mutants_to_the_leader(
    machines: list[Astra], workers: list[WorkerProcess]
) -> None:
    daemon, worker = machines[0], workers[0]
    worker.words = ("--kinds", "tests")
    worker.start()
    eventually(lambda: find_worker(daemon, worker))
    assert propose(daemon)["evidence"]["mutation"]["measured"]
    assert [data["kind"] for data in list_records(daemon, "job_offered")] == ["tests"]


def test_research_is_done_by_a_worker_and_recorded_once(
    machines: list[Astra], workers: list[WorkerProcess]
) -> None:
    daemon, worker = machines[0], workers[0].start()
    item = eventually(lambda: find_worker(daemon, worker))
    session = daemon.json("research", "ask", "where is the answer computed?")
    assert session["state"] == "finished"
    assert session["findings"], session
    (end,) = list_records(daemon, "job_ended")
    assert (end["worker"], end["ending"]) == (item["id"], "done"), end
    numbers = [data["task"]["number"] for data in list_records(daemon, "research_task_finished")]
    assert len(numbers) == len(set(numbers))
    assert len(list_records(daemon, "research_finished")) == 1
    assert list_records(daemon, "research_resumed") == []
