"""What happened to code so far, in numbers, and what should not have happened at all.

An alert is a record of the code family that came while code writing was off. Nothing is decided by
either; people look at them.
"""

from collections.abc import Iterator
from typing import Any

from astra.trusted.changes import events, model, verdicts
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record
from astra.trusted.policy import flags

CODE_WRITE = "ASTRA_CODE_WRITE_ENABLED"
_COUNTED = {
    model.SCHEDULED: "scheduled_modifications",
    model.APPROVED: "approvals",
    model.REJECTED: "rejections",
    model.EXECUTED: "executed_modifications",
    model.TESTS_FAILED: "failed_tests",
    model.TESTS_PASSED: "passed_tests",
    model.ROLLED_BACK: "rollbacks",
    model.RESTORED: "restorations",
}


def count_changes(ledger: Ledger) -> dict[str, int]:
    rows = dict(ledger.query("SELECT name, value FROM change_counter"))
    return {name: int(rows.get(name, 0)) for name in sorted(set(_COUNTED.values()))}


def list_alerts(ledger: Ledger) -> list[dict[str, Any]]:
    rows = ledger.query("SELECT sequence, type, subject FROM change_alert ORDER BY sequence")
    return [{"sequence": row[0], "type": row[1], "change": row[2]} for row in rows]


def _apply_record(record: Record) -> Iterator[Statement]:
    if record.type == flags.FLAG_SET:
        yield from _apply_flag(record)
        return
    if name := _choose_counter(record):
        yield (
            (
                "INSERT INTO change_counter VALUES (?, 1)"
                " ON CONFLICT (name) DO UPDATE SET value = value + 1"
            ),
            (name,),
        )
    if record.type in events.CODE_MODIFICATION_EVENTS:
        yield (
            (
                "INSERT INTO change_alert SELECT ?, ?, ?"
                " WHERE NOT EXISTS (SELECT 1 FROM change_flag WHERE is_on = 1)"
            ),
            (record.sequence, record.type, record.subject),
        )


def _choose_counter(record: Record) -> str | None:
    """Name what a record counts as; new tests that fail on the old code are no failure."""
    if record.type == model.TESTS_FAILED and verdicts.is_expected_failure(record.data):
        return None
    return _COUNTED.get(record.type)


def _apply_flag(record: Record) -> Iterator[Statement]:
    if record.data["flag"] == CODE_WRITE:
        yield "DELETE FROM change_flag", ()
        yield "INSERT INTO change_flag VALUES (?)", (int(record.data["on"]),)


PROJECTION = Projection(
    "change_counts",
    (
        "CREATE TABLE change_counter (name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID",
        "CREATE TABLE change_flag (is_on INTEGER)",
        "CREATE TABLE change_alert (sequence INTEGER PRIMARY KEY, type TEXT, subject TEXT)",
    ),
    _apply_record,
    types=frozenset({flags.FLAG_SET, *_COUNTED, *events.CODE_MODIFICATION_EVENTS}),
)
