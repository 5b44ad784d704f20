"""The book of tasks: each is recorded before anything of it runs.

A CODE_MODIFY task is MANUAL and not enabled until an operator approves its change; the approval
enables it and runs it. What the task is about (`subject_id`) tells the rest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from astra.trusted.kernel.errors import NotFound
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.paging import check_page
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record

CREATED, ENABLED, FINISHED = "task_created", "task_enabled", "task_finished"
DISABLED = "task_disabled"
CODE_MODIFY, MANUAL = "CODE_MODIFY", "MANUAL"
_COLUMNS = (
    "id, kind, schedule, enabled, state, outcome, subject_id, created_at, finished_at, correlation"
)


@dataclass(frozen=True, kw_only=True)
class Task:
    id: str
    kind: str
    schedule: str
    enabled: bool
    state: str
    outcome: str
    subject_id: str
    created_at: str
    finished_at: str | None
    correlation: str

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


@dataclass(frozen=True)
class Tasks:
    ledger: Ledger

    def list_page(
        self, *, state: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> tuple[list[Task], str | None]:
        """Give tasks, newest first, and where the next page starts."""
        before = check_page(limit, cursor)
        state_filter, states = ("", []) if state is None else ("state = ? AND ", [state])
        rows = self.ledger.query(
            f"SELECT sequence, {_COLUMNS} FROM task WHERE {state_filter}sequence < ?"  # noqa: S608 - fixed text
            " ORDER BY sequence DESC LIMIT ?",
            [*states, before, limit + 1],
        )
        cursor = str(rows[limit - 1][0]) if len(rows) > limit else None
        return [_task_from_row(row[1:]) for row in rows[:limit]], cursor

    def get(self, identifier: str) -> Task:
        rows = self.ledger.query(
            f"SELECT {_COLUMNS} FROM task WHERE id = ?",  # noqa: S608 - fixed text
            [identifier],
        )
        if not rows:
            task_label = identifier if is_id(identifier) else "with that id"
            raise NotFound(f"there is no task {task_label}", next_step="astra tasks list")
        return _task_from_row(rows[0])


def make_created_event(identifier: str, *, subject_id: str, actor: str, correlation: str) -> Event:
    data = {
        "kind": CODE_MODIFY,
        "schedule": MANUAL,
        "enabled": False,
        "subject_id": subject_id,
    }
    return Event(type=CREATED, actor=actor, data=data, correlation=correlation, subject=identifier)


def make_enabled_event(identifier: str, *, approval: str, correlation: str) -> Event:
    data = {"approval": approval}
    return Event(
        type=ENABLED, actor="daemon", data=data, correlation=correlation, subject=identifier
    )


def make_disabled_event(identifier: str, *, reason: str, correlation: str) -> Event:
    data = {"reason": reason}
    return Event(
        type=DISABLED, actor="daemon", data=data, correlation=correlation, subject=identifier
    )


def make_finished_event(identifier: str, *, outcome: str, correlation: str) -> Event:
    data = {"outcome": outcome}
    return Event(
        type=FINISHED, actor="daemon", data=data, correlation=correlation, subject=identifier
    )


def _task_from_row(row: tuple[Any, ...]) -> Task:
    values: dict[str, Any] = dict(zip(_COLUMNS.split(", "), row, strict=True))
    values["enabled"] = bool(values["enabled"])
    return Task(**values)


def _apply_tasks(record: Record) -> Iterator[Statement]:
    data = record.data
    if record.type == CREATED:
        yield (
            "INSERT INTO task VALUES (?, ?, ?, ?, 0, 'waiting', '', ?, ?, NULL, ?)",
            (
                record.sequence,
                record.subject,
                data["kind"],
                data["schedule"],
                data["subject_id"],
                record.time,
                record.correlation,
            ),
        )
    elif record.type == ENABLED:
        yield "UPDATE task SET enabled = 1, state = 'running' WHERE id = ?", (record.subject,)
    elif record.type == DISABLED:
        yield "UPDATE task SET enabled = 0, state = 'waiting' WHERE id = ?", (record.subject,)
    else:
        yield (
            "UPDATE task SET state = 'finished', outcome = ?, finished_at = ? WHERE id = ?",
            (data["outcome"], record.time, record.subject),
        )


PROJECTION = Projection(
    "tasks",
    (
        """CREATE TABLE task (
            sequence INTEGER PRIMARY KEY, id TEXT UNIQUE, kind TEXT, schedule TEXT,
            enabled INTEGER, state TEXT, outcome TEXT, subject_id TEXT, created_at TEXT,
            finished_at TEXT, correlation TEXT
        )""",
        "CREATE INDEX task_state ON task (state, sequence)",
        "CREATE INDEX task_outcome ON task (outcome, sequence)",
        "CREATE INDEX task_story ON task (correlation)",
    ),
    _apply_tasks,
    types=frozenset({CREATED, ENABLED, DISABLED, FINISHED}),
)
