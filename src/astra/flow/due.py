"""Which steps are due: rows of the index, one lane for what is quick and one for changes."""

from dataclasses import dataclass

from astra.trusted.ledger.ports import Ledger

QUICK, CHANGES = "quick", "changes"
TEST = "test"


@dataclass(frozen=True)
class DueStep:
    """A step that is to be run for an entity, and the key under which it runs once."""

    subject: str
    step: str
    due: str
    entity: str = ""
    """What it works on, where that is not the subject: an approval's `execute` moves its change."""

    @property
    def key(self) -> str:
        return f"{self.subject}/{self.step}/{self.due}"


def next_due(ledger: Ledger, lane: str = QUICK, *, after: str = "") -> DueStep | None:
    """Give the first step of a lane that is due, or that will be due behind a time."""
    rows = ledger.query(
        "SELECT subject, step, due FROM due_step WHERE lane = ? AND due > ?"
        " ORDER BY due, subject LIMIT 1",
        [lane, after],
    )
    return DueStep(*rows[0]) if rows else None


def due_steps(ledger: Ledger, lane: str, until: str) -> list[DueStep]:
    """Give the steps of a lane that are due by a time, oldest first."""
    rows = ledger.query(
        "SELECT subject, step, due, coalesce(entity, subject) FROM due_step"
        " WHERE lane = ? AND due <= ? ORDER BY due, subject",
        [lane, until],
    )
    return [DueStep(*row) for row in rows]
