"""Research sessions as rows: lists and what is open; everything else is in their records."""

from collections.abc import Iterator

from astra.research import events
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record

COLUMNS = "sequence, id, question, state, actor, correlation, started_at, finished_at, findings"


def _apply_record(record: Record) -> Iterator[Statement]:
    if record.type == events.STARTED:
        yield (
            "INSERT INTO research_session VALUES (?, ?, ?, 'running', ?, ?, ?, '', 0)",
            (
                *(record.sequence, record.subject, record.data["request"]["question"]),
                *(record.actor, record.correlation, record.time),
            ),
        )
    if record.data.get("model"):
        yield (
            (
                "INSERT INTO research_reading VALUES (?, 1)"
                " ON CONFLICT (day) DO UPDATE SET count = count + 1"
            ),
            (record.time[:10],),
        )
    if record.type == events.FINISHED:
        yield (
            (
                "UPDATE research_session SET state = 'finished', finished_at = ?, findings = ?"
                " WHERE id = ?"
            ),
            (record.time, len(record.data["order"]), record.subject),
        )


PROJECTION = Projection(
    "research",
    (
        """CREATE TABLE research_session (
            sequence INTEGER PRIMARY KEY, id TEXT UNIQUE, question TEXT, state TEXT, actor TEXT,
            correlation TEXT, started_at TEXT, finished_at TEXT, findings INTEGER
        )""",
        "CREATE TABLE research_reading (day TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID",
        "CREATE INDEX research_session_state ON research_session (state, sequence)",
        "CREATE INDEX research_session_story ON research_session (correlation, sequence)",
    ),
    _apply_record,
    types=frozenset({events.STARTED, events.TASK_FINISHED, events.FINISHED}),
)
