"""Durable jobs, and each trap of the library below them."""

import base64
import json
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from astra.adapters import dbos_engine
from astra.adapters.dbos_engine import DbosEngine, Job

PROGRAM = Path(__file__).with_name("program.py")
ENGINE = Path(dbos_engine.__file__)
pytestmark = pytest.mark.xdist_group("dbos")


class Work:
    def __init__(self, place: Path) -> None:
        self.seen: list[str] = []
        self.began, self.go_on = threading.Event(), threading.Event()
        job = Job(run=self.run, done=lambda _argument, outcome: self.seen.append(f"{outcome}"))
        self.engine = DbosEngine(place / "jobs" / "jobs.sqlite3", {"work": job})

    def run(self, argument: str) -> str:
        self.seen.append(argument)
        if argument == "fails":
            raise ValueError(argument)
        if argument == "waits":
            self.began.set()
            self.go_on.wait()
        return f"{argument} went well"


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    made = Work(tmp_path)
    yield made
    made.engine.close()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


def program(
    place: Path, what: str, *, module: Path = ENGINE, executor: str = "daemon", **environment: str
) -> subprocess.Popen[str]:
    words = [module, place / "jobs.sqlite3", place / "log", what, executor]
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), *map(str, words)],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
    )


def killed(place: Path, what: str, **options: str) -> None:
    """Run a job up to where it hangs, then kill the process."""
    with program(place, what, **options) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "kill me\n"
        process.kill()


def resumed(place: Path, **options: object) -> list[str]:
    with program(place, "resume", **options) as process:  # type: ignore[arg-type]
        assert process.wait() == 0
    return (place / "log").read_text().splitlines()


def rows(place: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(place / "jobs.sqlite3")) as connection:
        found = connection.execute(sql).fetchall()
        connection.commit()
    return found


def test_a_job_runs_and_hands_on_how_it_went(work: Work) -> None:
    work.engine.submit("k", "work", "a")
    work.engine.wait("k")
    assert work.seen == ["a", "a went well"]


def test_it_is_busy_while_a_job_runs_and_not_once_it_is_over(work: Work) -> None:
    work.engine.submit("k", "work", "waits")
    work.began.wait()
    assert work.engine.busy
    work.go_on.set()
    work.engine.wait("k")
    assert not work.engine.busy


def test_it_starts_nothing_before_it_is_needed(work: Work) -> None:
    assert not work.engine.path.exists()
    work.engine.close()


def test_a_job_that_fails_is_over_and_can_be_submitted_again(work: Work) -> None:
    for _ in range(2):
        work.engine.submit("k", "work", "fails")
        with pytest.raises(Exception, match="fails"):
            work.engine.wait("k")
    assert work.seen == ["fails", "fails"]


def test_killed_in_the_middle_it_is_started_again(place: Path) -> None:
    killed(place, "hang-in-run")
    assert resumed(place) == ["run a", "run a", "done a fine"]


def test_killed_behind_its_end_it_is_not_run_again(place: Path) -> None:
    killed(place, "hang-in-done")
    assert resumed(place) == ["run a", "done a fine"]


def test_a_change_of_code_strands_no_job(place: Path) -> None:
    changed = place / "changed_engine.py"
    text = ENGINE.read_text()
    line = "            with self._count_busy():\n                outcome = DBOS.run_step"
    assert line in text
    changed.write_text(
        text.replace(line, line.replace("outcome", "str(1)\n                outcome"))
    )
    killed(place, "hang-in-run")
    assert resumed(place, module=changed)[-1] == "done a fine"


def test_the_environment_does_not_choose_the_executor(place: Path) -> None:
    killed(place, "hang-in-run", DBOS__VMID="somebody", DBOS__APPVERSION="1")
    assert rows(place, "SELECT executor_id, application_version FROM workflow_status") == [
        ("daemon", "PATCHING_ENABLED")
    ]
    assert resumed(place, DBOS__VMID="somebody else", DBOS__APPVERSION="2")[-1] == "done a fine"


def test_what_it_keeps_is_json_and_never_unpickled(place: Path) -> None:
    killed(place, "hang-in-run")
    ((inputs,),) = rows(place, "SELECT inputs FROM workflow_input")
    assert json.loads(str(inputs)) == {"args": ["work", "a"], "kwargs": {}}
    assert rows(place, "SELECT serialization FROM workflow_status") == [("astra_json",)]
    planted = base64.b64encode(pickle.dumps(Planted(str(place / "owned")))).decode()
    rows(place, f"UPDATE workflow_input SET inputs = '{planted}'")
    rows(place, "UPDATE workflow_status SET serialization = 'py_pickle'")
    with program(place, "read") as process:
        assert process.wait() == 0
    assert not (place / "owned").exists()


def test_readers_and_a_writer_do_not_lock_each_other_out(place: Path) -> None:
    killed(place, "hang-in-run")
    assert rows(place, "PRAGMA journal_mode") == [("wal",)]
    assert (place / "jobs.sqlite3").stat().st_mode & 0o077 == 0


def test_two_processes_can_start_on_a_fresh_file_at_once(place: Path) -> None:
    both = [program(place, "start", executor=name) for name in ("one", "two")]
    for process in both:
        with process:
            assert process.wait() == 0


def test_deleting_the_database_leaves_a_clean_start(place: Path) -> None:
    killed(place, "hang-in-run")
    for file in place.glob("jobs.sqlite3*"):
        file.unlink()
    with program(place, "start") as process:
        assert process.wait() == 0
    assert rows(place, "SELECT count(*) FROM workflow_status") == [(0,)]


def test_what_is_over_is_thrown_away_in_time(work: Work) -> None:
    work.engine.submit("k", "work", "a")
    work.engine.wait("k")
    assert work.engine.forget(datetime.now(UTC) - timedelta(hours=1)) == 0
    assert work.engine.states() == {"k": "SUCCESS"}
    assert work.engine.forget(datetime.now(UTC) + timedelta(hours=1)) == 1
    assert work.engine.states() == {}


class Planted:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (open, (self.path, "w"))


def test_an_older_sqlite_tells_fractions_of_seconds_as_newer_pythons_have_dbos_ask(
    work: Work,
) -> None:
    import sqlalchemy

    work.engine.start()
    memory = sqlalchemy.create_engine("sqlite://")
    with memory.connect() as connection:
        seconds = connection.execute(sqlalchemy.text("SELECT unixepoch('subsec')")).scalar()
    memory.dispose()
    assert isinstance(seconds, float)
    assert abs(seconds - datetime.now(UTC).timestamp()) < 3600
