"""What an approval makes due: reminders, its end, and what its kind does once it is decided."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from astra.flow import rows
from astra.flow.due import CHANGES
from astra.goals import promotion
from astra.plans import book
from astra.schedules import tokens
from astra.trusted.approvals import desk
from astra.trusted.changes import model as changes
from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.ledger.projection import Statement
from astra.trusted.ledger.record import Record


def _requested(record: Record) -> Iterator[Statement]:
    yield rows.insert(record, "expire", record.data["expires_at"])
    for number, delay in enumerate(desk.REMINDERS, start=1):
        yield rows.insert(
            record, f"announce-{number}", format_time(parse_time(record.time) + delay)
        )
    if record.data["kind"] == promotion.KIND:
        yield rows.insert(record, "create-goal", None)
    if record.data["kind"] == tokens.KIND:
        yield rows.insert(record, "export-token", None)
    if record.data["kind"] == changes.KIND:
        change = record.data["subject_id"]
        yield rows.done(change, "ask")
        yield (
            "INSERT INTO due_step VALUES (?, 'execute', NULL, ?, ?)",
            (record.subject, CHANGES, change),
        )
    if record.data["kind"] == book.KIND:
        yield rows.insert(record, "approve-plan", None)
        yield rows.done(record.data["subject_id"], "ask-approval")


def _exported(record: Record) -> Iterator[Statement]:
    yield (
        "DELETE FROM due_step WHERE subject = ? AND step = 'export-token'",
        (record.data["approval"],),
    )


def _announced(record: Record) -> Iterator[Statement]:
    yield (
        "DELETE FROM due_step WHERE subject = ? AND step = ?",
        (record.data["approval"], record.data["step"]),
    )


def _granted(record: Record) -> Iterator[Statement]:
    yield "DELETE FROM due_step WHERE subject = ? AND step LIKE 'announce-%'", (record.subject,)
    yield (
        "UPDATE due_step SET due = ? WHERE subject = ? AND due IS NULL",
        (
            record.time,
            record.subject,
        ),
    )


def _rejected(record: Record) -> Iterator[Statement]:
    """Let nothing be due any more, but for the plan that this was about."""
    yield _pass_on(record, "close")
    yield "DELETE FROM due_step WHERE subject = ? AND step <> 'approve-plan'", (record.subject,)
    yield (
        "UPDATE due_step SET step = ?, due = ? WHERE subject = ?",
        (book.REJECT_STEP, record.time, record.subject),
    )


def _stale(record: Record) -> Iterator[Statement]:
    yield _pass_on(record, "ask")
    yield from rows.over(record)


def _pass_on(record: Record, step: str) -> Statement:
    """Let the end of an approval make a step of its change due."""
    return (
        (
            "INSERT OR IGNORE INTO due_step SELECT entity, ?, ?, lane, entity FROM due_step"
            " WHERE subject = ? AND step = 'execute'"
        ),
        (step, record.time, record.subject),
    )


EFFECTS: Mapping[str, rows.Effect] = MappingProxyType(
    {
        desk.REQUESTED: _requested,
        desk.ANNOUNCED: _announced,
        desk.GRANTED: _granted,
        desk.REJECTED: _rejected,
        desk.STALE: _stale,
        desk.EXPIRED: rows.over,
        desk.USED: rows.over,
        tokens.EXPORTED: _exported,
    }
)
