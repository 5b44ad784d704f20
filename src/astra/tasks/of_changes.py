"""The table of the tasks of changes, one of those that the book of tasks reads."""

from collections.abc import Iterator

from astra.trusted.changes.tasks import CREATED, DISABLED, ENABLED, FINISHED
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record


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
