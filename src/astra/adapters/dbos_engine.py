"""Durable jobs on DBOS, in an SQLite file of their own.

A job is a kind, an argument (a short text) and a key. `run` does the work and says in a text how it
went; that text is kept, and `done` gets it, also after a crash in between: what ran to its end is
not run again. A job that was cut off in the middle is started again by the next daemon.

Nothing here is the truth about anything. The ledger says which jobs there are; delete this
database, and whoever submitted a job submits it again under the same key.

What DBOS does by itself and must not do here:
- it pickles: a serializer of our own writes JSON, and reading a pickle is refused even where a row
  says that it is one;
- it names its version after a hash of source, and strands jobs of other versions: patching is on;
- it takes its executor id from the environment: the daemon's own is fixed;
- its SQLite file locks readers out while somebody writes: write-ahead logging is on;
- it creates its tables while it starts, one by one, and trips over another process that does the
  same, and for ever over what a killed one left: they are made before, by one process at a time,
  whole or not at all (`job_database`), and a file that cannot be used is set aside;
- it keeps what is done for ever: `forget` throws it away;
- on Python 3.12 and newer it has SQLite give fractions of a second, which an SQLite before 3.42
  does not know: it is taught.
"""

import importlib
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from astra.adapters import job_database
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.text import one_line

EXECUTOR_ID = "daemon"
WORKERS = 4
KEPT = timedelta(days=7)
_OVER = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
_PAGE = 500
_FAILURE = "astra_job_failure"
_log = logging.getLogger("astra.jobs")
_KNOWS_FRACTIONS = (3, 42, 0)

Workflow = Callable[[str, str], None]


class JobFailed(Exception):
    """What a job raised, in words: the exception itself does not outlive its process."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One kind of job: the work, and what follows from how it went."""

    run: Callable[[str], str]
    done: Callable[[str, str], None]


class DbosEngine:
    """At most one in a process, as DBOS has it."""

    def __init__(
        self,
        path: Path,
        jobs: Mapping[str, Job],
        *,
        executor_id: str = EXECUTOR_ID,
        workers: int = WORKERS,
        on_set_aside: Callable[[str, str], None] = lambda _file, _why: None,
    ) -> None:
        """Prepare an engine; `on_set_aside` hears which file could not be used, and why."""
        self.path = path
        self._jobs = jobs
        self._executor_id = executor_id
        self._workers = workers
        self._on_set_aside = on_set_aside
        self._workflow: Workflow | None = None
        self._lock = threading.Lock()
        self._busy = 0

    @property
    def busy(self) -> bool:
        """Tell whether a job runs in this process right now.

        It goes down before DBOS writes the end, so whoever waited for a job does not find it here.
        """
        return self._busy > 0

    def start(self) -> None:
        """Open the database, and go on with the jobs that a dead process left.

        A database that cannot be used is set aside and made anew. Raises AstraError where that does
        not help: the folder cannot be written, the disk is full.
        """
        with self._lock:
            if self._workflow is None:
                self._workflow = self._open_database()

    def submit(self, key: str, kind: str, argument: str) -> None:
        """Run a job in the background. While one with this key is under way, that one is meant."""
        self.start()
        from dbos import DBOS, SetWorkflowID

        assert self._workflow is not None  # noqa: S101 - started above
        workflow_status = DBOS.get_workflow_status(key)
        if workflow_status is not None and workflow_status.status not in _OVER:
            return
        if workflow_status is not None:
            DBOS.delete_workflow(key)
        with SetWorkflowID(key):
            DBOS.start_workflow(self._workflow, kind, argument)

    def wait(self, key: str) -> None:
        """Block until a job is over."""
        from dbos import DBOS

        DBOS.retrieve_workflow(key).get_result()

    def cancel(self, key: str) -> None:
        """Let no further step of a job begin. What runs is asked to end, not interrupted."""
        from dbos import DBOS

        DBOS.cancel_workflow(key)

    def states(self) -> dict[str, str]:
        from dbos import DBOS

        return {workflow.workflow_id: workflow.status for workflow in DBOS.list_workflows()}

    def forget(self, before: datetime) -> int:
        """Throw away jobs that were over before a moment; says how many."""
        from dbos import DBOS

        workflows = DBOS.list_workflows(
            status=_OVER,
            completed_before=format_time(before),
            limit=_PAGE,
            load_input=False,
            load_output=False,
        )
        if workflows:
            DBOS.delete_workflows([workflow.workflow_id for workflow in workflows])
        return len(workflows)

    def close(self) -> None:
        """Leave; what still runs is gone on with by the next process."""
        with self._lock:
            if self._workflow is None:
                return
            from dbos import DBOS

            DBOS.destroy(destroy_registry=True)
            self._workflow = None

    def _open_database(self) -> Workflow:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with job_database.hold_lock(self.path):
                return self._launch_or_replace()
        except Exception as error:  # the library raises anything; callers hear one error
            raise _make_unavailable_error(self.path, error) from error

    def _launch_or_replace(self) -> Workflow:
        try:
            return self._launch_engine()
        except Exception as error:  # whether the file is to blame is asked, not guessed
            if not job_database.is_to_blame(self.path, error):
                raise
            self._set_aside(error)
        return self._launch_engine()

    def _set_aside(self, error: Exception) -> None:
        aside = job_database.set_aside(self.path, datetime.now(UTC))
        why = one_line(f"{type(error).__name__}: {error}", 300)
        _log.error("the job database could not be used and is now %s: %s", aside.name, why)
        with suppress(
            AstraError
        ):  # a record that cannot be kept now does not keep jobs from running
            self._on_set_aside(aside.name, why)

    def _launch_engine(self) -> Workflow:
        from dbos import DBOS

        _refuse_pickles()
        _teach_fractions_of_seconds()
        job_database.prepare(self.path, DBOS.migrate)
        try:
            workflow = self._launch_on(job_database.url(self.path))
            self.forget(datetime.now(UTC) - KEPT)
        except BaseException:  # whatever it was, a half-started library is taken down
            DBOS.destroy(destroy_registry=True)
            raise
        return workflow

    def _launch_on(self, url: str) -> Workflow:
        from dbos import DBOS

        DBOS(
            config={
                "name": "astra",
                "system_database_url": url,
                "executor_id": self._executor_id,
                "enable_patching": True,
                "serializer": _json_serializer(),
                "max_executor_threads": self._workers,
                "enable_otlp": False,
                "log_level": "WARNING",
            }
        )

        def job(kind: str, argument: str) -> None:
            with self._count_busy():
                outcome = DBOS.run_step({"name": kind}, self._jobs[kind].run, argument)
                self._jobs[kind].done(argument, outcome)

        workflow = DBOS.workflow(name="astra_job")(job)
        DBOS.launch()
        return workflow

    @contextmanager
    def _count_busy(self) -> Generator[None, None, None]:
        with self._lock:
            self._busy += 1
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1


def _make_unavailable_error(path: Path, error: Exception) -> AstraError:
    why = one_line(f"{type(error).__name__}: {error}", 300)
    return AstraError(
        f"the engine for slow tools does not start: {why}",
        code="no_job_engine",
        next_step=f"see that {path.parent} can be written and has space; it is tried again",
    )


def _refuse_pickles() -> None:
    """Close the way on which a row of the database could become code."""

    def refuse(_self: Any, _serialized_data: str) -> Any:
        raise TypeError("this database holds JSON; a pickle is not read")

    serialization: Any = importlib.import_module("dbos._serialization")
    serialization.DefaultSerializer.deserialize = refuse


def _teach_fractions_of_seconds() -> None:
    """Have every connection answer `unixepoch('subsec')`, which is NULL before SQLite 3.42."""
    if sqlite3.sqlite_version_info >= _KNOWS_FRACTIONS:
        return
    sqlalchemy: Any = importlib.import_module("sqlalchemy")  # which DBOS brings along
    if not sqlalchemy.event.contains(sqlalchemy.Engine, "connect", _add_unixepoch):
        sqlalchemy.event.listen(sqlalchemy.Engine, "connect", _add_unixepoch)


def _add_unixepoch(connection: Any, _record: Any) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.create_function("unixepoch", 1, _compute_unixepoch)


def _compute_unixepoch(modifier: str) -> float:
    return time.time() if modifier == "subsec" else int(time.time())


def _json_serializer() -> Any:
    from dbos import Serializer

    class Json(Serializer):
        """Plain JSON; what is not JSON is an error here and not code somewhere else."""

        def serialize(self, data: Any) -> str:
            return json.dumps(data, default=_exception_to_json)

        def deserialize(self, serialized_data: str) -> Any:
            return json.loads(serialized_data, object_hook=_failure_from_json)

        def name(self) -> str:
            return "astra_json"

    return Json()


def _exception_to_json(value: Any) -> Any:
    """Write an exception (DBOS keeps those) as words; anything else is refused."""
    if isinstance(value, BaseException):
        return {_FAILURE: f"{type(value).__name__}: {value}"}
    raise TypeError(f"{type(value).__name__} is not JSON")


def _failure_from_json(members: dict[str, Any]) -> Any:
    return JobFailed(members[_FAILURE]) if members.keys() == {_FAILURE} else members
