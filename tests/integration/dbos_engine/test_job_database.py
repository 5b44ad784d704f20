"""The database of jobs is disposable: whatever became of the file, jobs run after a new start."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from astra.adapters import dbos_engine, job_database
from astra.adapters.dbos_engine import DbosEngine, Job
from astra.trusted.kernel.errors import AstraError

PROGRAM = Path(__file__).with_name("program.py")
ENGINE = Path(dbos_engine.__file__)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
pytestmark = pytest.mark.xdist_group("dbos")


@dataclass
class Jobs:
    """An engine over a file that a test spoiled."""

    path: Path
    done: list[str] = field(default_factory=list[str])
    reported: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def __post_init__(self) -> None:
        job = Job(run=lambda argument: argument, done=lambda _key, text: self.done.append(text))
        self.engine = DbosEngine(
            self.path,
            {"work": job},
            on_set_aside=lambda file, why: self.reported.append((file, why)),
        )

    def run_one(self) -> None:
        self.engine.submit("k", "work", "it ran")
        self.engine.wait("k")
        assert self.done == ["it ran"]


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    made = Jobs(tmp_path / "jobs" / "jobs.sqlite3")
    made.path.parent.mkdir()
    yield made
    made.engine.close()


def half_made(path: Path) -> None:
    """Leave what a kill left behind the first table: DBOS makes its tables one by one."""
    from dbos._migration import sqlite_migrations

    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE dbos_migrations (version INTEGER NOT NULL PRIMARY KEY)")
        connection.execute(sqlite_migrations[0].split(";")[0])
        connection.commit()


def truncated(path: Path) -> None:
    """Leave half of a whole database, as a disk does that lost the end of a file."""
    from dbos import DBOS

    job_database.prepare(path, DBOS.migrate)
    os.truncate(path, path.stat().st_size // 2)


def garbage(path: Path) -> None:
    path.write_bytes(os.urandom(50_000))


def folder(path: Path) -> None:
    path.mkdir()
    (path / "something").write_text("x")


@pytest.mark.parametrize("spoil", [half_made, truncated, garbage, folder])
def test_a_file_that_cannot_be_used_is_set_aside_and_jobs_run(
    jobs: Jobs, spoil: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    spoil(jobs.path)
    jobs.run_one()
    (aside,) = job_database.list_aside(jobs.path)
    ((file, why),) = jobs.reported
    assert file == aside.name
    assert why
    assert [record.getMessage().count(aside.name) for record in caplog.records].count(1) == 1


def test_an_empty_file_is_used_as_it_is(jobs: Jobs) -> None:
    jobs.path.touch()
    jobs.run_one()
    assert jobs.reported == []


def test_only_a_few_are_kept_with_all_that_belongs_to_them(tmp_path: Path) -> None:
    path = tmp_path / "jobs.sqlite3"
    for number in range(5):
        for part in ("", "-wal", "-shm"):
            path.with_name(path.name + part).write_text(f"{number}")
        job_database.set_aside(path, NOW + timedelta(seconds=number))
    kept = job_database.list_aside(path)
    assert [place.read_text() for place in kept] == ["2", "3", "4"]
    assert len(list(tmp_path.iterdir())) == 3 * job_database.KEPT_ASIDE


def test_a_full_disk_or_a_lock_is_not_the_files_fault(tmp_path: Path) -> None:
    path = tmp_path / "jobs.sqlite3"
    path.touch()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError, match="full") as full:
            connection.execute("CREATE TABLE t (x)")
    assert not job_database.is_to_blame(path, full.value)
    with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect(path, timeout=0)) as two:
        one.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked") as locked:
            two.execute("BEGIN EXCLUSIVE")
    assert not job_database.is_to_blame(path, locked.value)
    assert not job_database.is_to_blame(path, OSError("too many open files"))
    assert not job_database.is_to_blame(path, ImportError("no dbos"))


def test_a_folder_that_cannot_be_made_is_said_with_the_next_step(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("not a folder")
    jobs = Jobs(tmp_path / "jobs" / "jobs.sqlite3")
    with pytest.raises(AstraError, match="does not start") as refused:
        jobs.engine.submit("k", "work", "a")
    assert refused.value.reason == "no_job_engine"
    assert str(tmp_path / "jobs") in refused.value.next_step
    assert jobs.reported == []


def test_in_a_read_only_folder_it_says_so_and_loses_nothing(tmp_path: Path) -> None:
    database = tmp_path / "jobs.sqlite3"
    half_made(database)
    before = database.read_bytes()
    words = " ".join(
        [sys.executable, *map(str, [PROGRAM, ENGINE, database, tmp_path / "log", "refused"])]
    )
    mount = f"mount --bind {tmp_path} {tmp_path} && mount -o remount,bind,ro {tmp_path}"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f"{mount} && {words}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("no_job_engine: the engine for slow tools does not start")
    assert database.read_bytes() == before
    assert job_database.list_aside(database) == []


@pytest.mark.timeout(600)
def test_killed_while_it_makes_the_database_the_next_one_starts(tmp_path: Path) -> None:
    """Kill it as soon as the first table, and then some more, are there."""
    for number, tables in enumerate((1, 4)):
        place = tmp_path / f"{number}"
        place.mkdir()
        assert _killed_at(place, tables) >= 1
        with _program(place) as next_one:
            assert next_one.wait() == 0
        assert job_database.list_aside(place / "jobs.sqlite3") == [], "it was never half made"
        with closing(sqlite3.connect(place / "jobs.sqlite3")) as connection:
            assert connection.execute("SELECT count(*) FROM workflow_status").fetchall() == [(0,)]


def _killed_at(place: Path, tables: int) -> int:
    with _program(place) as process:
        deadline = time.monotonic() + 300
        while _tables(place) < tables and process.poll() is None:
            assert time.monotonic() < deadline
        process.kill()
    return _tables(place)


def _tables(place: Path) -> int:
    """Count the tables in any database there, complete or not, without waiting for it."""
    counts = [0]
    for file in place.glob("jobs.sqlite3*"):
        if file.suffix in (".sqlite3", ".unfinished"):
            try:
                with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=0)) as view:
                    ((count,),) = view.execute("SELECT count(*) FROM sqlite_master")
            except sqlite3.OperationalError:
                continue
            counts.append(count)
    return max(counts)


def _program(place: Path) -> subprocess.Popen[bytes]:
    words = [PROGRAM, ENGINE, place / "jobs.sqlite3", place / "log", "start"]
    return subprocess.Popen([sys.executable, *map(str, words)])
