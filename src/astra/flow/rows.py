"""The rows of due steps: statements that all domains are made of."""

from collections.abc import Callable, Iterator

from astra.flow.due import QUICK
from astra.trusted.ledger.projection import Statement
from astra.trusted.ledger.record import Record

Effect = Callable[[Record], Iterator[Statement]]


def insert(record: Record, step: str, due: str | None) -> Statement:
    row = (record.subject, step, due, QUICK)
    return "INSERT INTO due_step VALUES (?, ?, ?, ?, NULL)", row


def upsert(record: Record, step: str, subject: str | None = None) -> Statement:
    return (
        (
            "INSERT INTO due_step VALUES (?, ?, ?, ?, NULL)"
            " ON CONFLICT (subject, step) DO UPDATE SET due = excluded.due"
        ),
        (subject or record.subject, step, record.time, QUICK),
    )


def delete_step(subject: str | None, step: str) -> Statement:
    return "DELETE FROM due_step WHERE subject = ? AND step = ?", (subject, step)


def delete_steps(record: Record) -> Iterator[Statement]:
    yield "DELETE FROM due_step WHERE subject = ?", (record.subject,)
