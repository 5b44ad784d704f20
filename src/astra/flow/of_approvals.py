"""What an approval makes due: reminders, its end, and what its kind does once it is decided."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from astra.flow import rows
from astra.flow.due import CHANGES
from astra.flow.of_goals import SETTLE_STEP
from astra.goals import adoption, promotion
from astra.plans import book
from astra.schedules import tokens
from astra.spend import raising
from astra.trusted.approvals import desk
from astra.trusted.changes import model as changes
from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.ledger.projection import Statement
from astra.trusted.ledger.record import Record
from astra.trusted.upstream import sync

_OWN_STEPS: Mapping[str, str] = MappingProxyType(
    {
        promotion.KIND: "create-goal",
        tokens.KIND: "export-token",
        adoption.KIND: "adopt-goal",
        adoption.DESIRE_KIND: "adopt-desire",
        raising.KIND: raising.STEP,
        sync.KIND: sync.STEP,
        book.KIND: "approve-plan",
    }
)
"""What falls due once an approval of a kind is granted."""


def _insert_steps(record: Record) -> Iterator[Statement]:
    yield rows.insert(record, "expire", record.data["expires_at"])
    for number, delay in enumerate(desk.REMINDERS, start=1):
        yield rows.insert(
            record, f"announce-{number}", format_time(parse_time(record.time) + delay)
        )
    if step := _OWN_STEPS.get(record.data["kind"]):
        yield rows.insert(record, step, None)
    if record.data["kind"] == changes.KIND:
        change = record.data["subject_id"]
        yield rows.delete_step(change, "ask")
        yield (
            "INSERT INTO due_step VALUES (?, 'execute', NULL, ?, ?)",
            (record.subject, CHANGES, change),
        )
    if record.data["kind"] == adoption.KIND:
        yield rows.delete_step(record.data["subject_id"], SETTLE_STEP)
    if record.data["kind"] == book.KIND:
        yield rows.delete_step(record.data["subject_id"], "ask-approval")


def _finish_export(record: Record) -> Iterator[Statement]:
    yield (
        "DELETE FROM due_step WHERE subject = ? AND step = 'export-token'",
        (record.data["approval"],),
    )


def _finish_announcement(record: Record) -> Iterator[Statement]:
    yield (
        "DELETE FROM due_step WHERE subject = ? AND step = ?",
        (record.data["approval"], record.data["step"]),
    )


def _release_steps(record: Record) -> Iterator[Statement]:
    yield "DELETE FROM due_step WHERE subject = ? AND step LIKE 'announce-%'", (record.subject,)
    yield (
        "UPDATE due_step SET due = ? WHERE subject = ? AND due IS NULL",
        (
            record.time,
            record.subject,
        ),
    )


def _withdraw_steps(record: Record) -> Iterator[Statement]:
    """Let nothing be due any more, but for the plan that this was about."""
    yield _pass_on(record, "close")
    yield "DELETE FROM due_step WHERE subject = ? AND step <> 'approve-plan'", (record.subject,)
    yield (
        "UPDATE due_step SET step = ?, due = ? WHERE subject = ?",
        (book.REJECT_STEP, record.time, record.subject),
    )


def _ask_again(record: Record) -> Iterator[Statement]:
    yield _pass_on(record, "ask")
    yield from rows.delete_steps(record)


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
        desk.REQUESTED: _insert_steps,
        desk.ANNOUNCED: _finish_announcement,
        desk.GRANTED: _release_steps,
        desk.REJECTED: _withdraw_steps,
        desk.STALE: _ask_again,
        desk.EXPIRED: rows.delete_steps,
        desk.USED: rows.delete_steps,
        tokens.EXPORTED: _finish_export,
    }
)
