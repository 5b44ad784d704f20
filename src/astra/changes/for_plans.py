"""What a worker is told of the change it proposed: that it passed, or what failed, with output."""

from dataclasses import dataclass
from typing import Any

from astra.plans.ports import ChangeOutcome
from astra.trusted.changes import verdicts
from astra.trusted.changes.model import SCHEDULED, Change, State
from astra.trusted.changes.views import Book
from astra.trusted.kernel.text import one_line

_MOST_FAILURES, _LONGEST_MESSAGE, _LONGEST_REASON = 5, 600, 1_000
_PASSED = frozenset({State.AWAITING, State.GRANTED, State.APPROVED, State.EXECUTED})
_SENT_BACK = frozenset({State.TESTS_FAILED, State.REVISE, State.CONFLICT})


@dataclass(frozen=True)
class TestedChanges:
    book: Book

    def find(self, change_id: str) -> ChangeOutcome:
        change = self.book.get(change_id)
        while change.superseded_by:
            change = self.book.get(change.superseded_by)
        if change.state is State.GATHERING:
            return ChangeOutcome(state=ChangeOutcome.PENDING)
        if change.state in _PASSED:
            return ChangeOutcome(state=ChangeOutcome.PASSED)
        is_open = change.state in _SENT_BACK
        state = ChangeOutcome.FAILED if is_open else ChangeOutcome.CLOSED
        return ChangeOutcome(state=state, reason=describe_failures(change))

    def find_newest(self, agent_id: str, *, after: int) -> str:
        """Name the newest change that a plan proposed after a record."""
        records = self.book.ledger.records(SCHEDULED, after=after, newest_first=True)
        of_plan = (record for record in records if record.actor == f"agent:{agent_id}")
        return next((str(record.subject) for record in of_plan), "")


def describe_failures(change: Change) -> str:
    """Say what failed, test by test, as far as it fits."""
    failures = verdicts.failures(change)[:_MOST_FAILURES]
    lines = [one_line(change.reason, _LONGEST_REASON), *map(_describe_failure, failures)]
    return "\n".join(line for line in lines if line)


def _describe_failure(failure: dict[str, Any]) -> str:
    name = one_line(str(failure.get("name") or failure.get("title") or ""), 200)
    return f"{name}: {one_line(str(failure.get('message', '')), _LONGEST_MESSAGE)}"
