"""Test runs on workers: real daemons, workers, boxes, git and Postgres."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from changing import IDENTITY, git
from driver import Astra, make_repository
from postgres_server import Database, new_database
from worker_process import WorkerProcess, eventually, find_worker

FLAG = "ASTRA_CODE_WRITE_ENABLED"
QUICK = "def answer() -> int:\n    return 40 + 2\n"
SLOW = "import time\n\n\ndef answer() -> int:\n    time.sleep(15)\n    return 42\n"
TESTS = "from agent import answer\n\n\ndef test_the_answer():\n    assert answer() == 42\n"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Astra:
    """A project with a test, and a data root that says how to run it and how commits travel."""
    made = Astra(tmp_path_factory.mktemp("project"))
    target = make_repository(made.folder / "target")
    (target / "tests").mkdir()
    (target / "tests/test_agent.py").write_text(TESTS)
    (target / "conftest.py").write_text("")
    git(target, "add", "-A")
    git(target, *IDENTITY, "commit", "-qm", "tests")
    made.json("init", target, "--throwaway")
    made.json("flags", "set", FLAG, "on")
    made.run("down")
    return made


@pytest.fixture
def database() -> Iterator[Database]:
    with new_database() as database:
        yield database


@pytest.fixture
def exchange(tmp_path: Path) -> Path:
    folder = tmp_path / "exchange.git"
    subprocess.run(["git", "init", "-q", "--bare", str(folder)], check=True)
    return folder


@pytest.fixture
def machines(
    prepared: Astra, database: Database, tmp_path: Path, exchange: Path
) -> Iterator[list[Astra]]:
    """Three data folders on one chain: the first for a daemon, the others for workers."""
    places = [tmp_path / name for name in ("one", "two", "three")]
    for place in places:
        place.mkdir()
    first = prepared.copied_to(Astra(places[0]))
    sign(first, exchange)
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


def sign(astra: Astra, exchange: Path | None, *lines: str) -> None:
    command = f"{sys.executable} -m pytest -q --disable-plugin-autoload -p no:cacheprovider"
    objects = [f"objects = {json.dumps(str(exchange))}"] if exchange else []
    words = [f"test_command = {json.dumps(command)}", "mutation_seconds = 0", "[ledger]", *objects]
    astra.sign_target(*words, *lines)


def propose(astra: Astra, text: str = QUICK) -> dict[str, Any]:
    edit = astra.folder / "edit"
    edit.write_text(text)
    words = ("--edit", f"agent.py={edit}", "--reason", "better")
    return astra.json("changes", "propose", *words)


class Proposal(threading.Thread):
    """A change that is proposed while the test goes on; `answer` is there after `join`."""

    def __init__(self, astra: Astra, text: str) -> None:
        super().__init__()
        self.astra, self.text = astra, text
        self.answer: dict[str, Any] = {}
        self.start()

    def run(self) -> None:
        self.answer = propose(self.astra, self.text)


def records(database: Database, type_: str) -> list[dict[str, Any]]:
    with database.connect() as connection:
        rows = connection.execute(
            "SELECT line FROM astra.record WHERE line LIKE %s ORDER BY sequence",
            [f'%"type":"{type_}"%'],
        ).fetchall()
    return [json.loads(str(line)) for (line,) in rows]


def start_all(daemon: Astra, workers: list[WorkerProcess]) -> dict[str, WorkerProcess]:
    """Start workers, and give them by their ids when all are ready."""
    for worker in workers:
        worker.start()
    return {eventually(lambda w=w: find_worker(daemon, w))["id"]: w for w in workers}


def test_the_tests_of_a_change_run_on_a_worker(
    machines: list[Astra], workers: list[WorkerProcess], database: Database
) -> None:
    daemon, worker = machines[0], workers[0].start()
    item = eventually(lambda: find_worker(daemon, worker))
    change = propose(daemon)
    assert change["evidence"]["verdict"] == "passed"
    (run,) = change["evidence"]["runs"]
    assert run["report"]["passed"] == 1
    (ended,) = records(database, "job_ended")
    assert (ended["data"]["worker"], ended["data"]["epoch"] >= 1) == (item["id"], True)
    assert ended["data"]["ending"] == "done"
    assert daemon.json("ledger", "verify")["ok"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_job_of_a_worker_that_dies_or_hangs_is_moved_once(
    machines: list[Astra],
    workers: list[WorkerProcess],
    database: Database,
    number: signal.Signals,
) -> None:
    daemon = machines[0]
    by_id = start_all(daemon, workers)
    proposal = Proposal(daemon, SLOW)
    (claim,) = eventually(lambda: records(database, "job_claimed"))
    lost = claim["data"]["worker"]
    first = by_id[lost]
    pid = first.pid
    first.send(number)
    proposal.join()
    assert proposal.answer["evidence"]["verdict"] == "passed"
    if number == signal.SIGSTOP:
        first.send(signal.SIGCONT)
        eventually(lambda: find_worker(daemon, first))
        assert first.pid == pid
    claims = records(database, "job_claimed")
    assert [claim["data"]["worker"] == lost for claim in claims] == [True, False]
    assert len(records(database, "job_moved")) == 1
    (ended,) = records(database, "job_ended")
    assert ended["data"]["worker"] == claims[1]["data"]["worker"]
    assert len(records(database, "tests_passed")) == 1
    assert daemon.json("ledger", "verify")["ok"]


def test_a_worker_that_is_told_to_leave_finishes_its_job_first(
    machines: list[Astra], workers: list[WorkerProcess], database: Database
) -> None:
    daemon, worker = machines[0], workers[0].start()
    eventually(lambda: find_worker(daemon, worker))
    proposal = Proposal(daemon, SLOW)
    eventually(lambda: records(database, "job_claimed"))
    worker.send(signal.SIGTERM)
    assert worker.wait() == 0
    proposal.join()
    assert proposal.answer["evidence"]["verdict"] == "passed"
    assert [record["data"]["ending"] for record in records(database, "job_ended")] == ["done"]
    assert records(database, "job_moved") == []


def test_a_worker_past_its_deadline_gives_its_job_up_and_another_does_it(
    machines: list[Astra], workers: list[WorkerProcess], database: Database
) -> None:
    daemon = machines[0]
    for worker in workers:
        worker.words = ("--drain", "0")
    by_id = start_all(daemon, workers)
    proposal = Proposal(daemon, SLOW)
    (claim,) = eventually(lambda: records(database, "job_claimed"))
    leaving = by_id[claim["data"]["worker"]]
    leaving.send(signal.SIGTERM)
    assert leaving.wait() == 0
    proposal.join()
    assert proposal.answer["evidence"]["verdict"] == "passed"
    assert len(records(database, "job_claimed")) == 2
    assert len(records(database, "job_ended")) == 1


def test_only_a_worker_with_the_signed_labels_gets_test_runs(
    machines: list[Astra], workers: list[WorkerProcess], database: Database, exchange: Path
) -> None:
    daemon, plain, labelled = machines[0], *workers
    sign(daemon, exchange, "[workers]", 'test_labels = { gpu = "yes" }')
    labelled.words = ("--label", "gpu=yes")
    plain.start()
    labelled.start()
    eventually(lambda: find_worker(daemon, plain))
    wanted = eventually(lambda: find_worker(daemon, labelled))["id"]
    assert propose(daemon)["evidence"]["verdict"] == "passed"
    claims = records(database, "job_claimed")
    assert [claim["data"]["worker"] for claim in claims] == [wanted]


def test_a_worker_whose_preflight_fails_takes_no_jobs_and_says_why(
    machines: list[Astra], workers: list[WorkerProcess], database: Database
) -> None:
    daemon, worker = machines[0], workers[0]
    sign(daemon, None)
    worker.start()
    item = eventually(lambda: find_worker(daemon, worker, "unfit"))
    assert "no [ledger] objects" in item["problems"][0]
    assert propose(daemon)["evidence"]["verdict"] == "passed"
    assert records(database, "job_offered") == []


def test_without_workers_the_leader_tests_by_itself(
    machines: list[Astra], database: Database
) -> None:
    assert propose(machines[0])["evidence"]["verdict"] == "passed"
    assert records(database, "job_offered") == []
