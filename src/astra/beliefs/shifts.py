"""Saying that a belief changed: one record when evidence moves it across the middle.

A belief is held when its lower bound is above one half, doubted when its upper bound is below, and
open in between. What the last record said is in the tables, so that whoever looks again, after a
crash as well, records nothing twice; the record's key is the evidence that moved it.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from astra.beliefs import events
from astra.beliefs.book import Beliefs
from astra.beliefs.model import Belief, Standing
from astra.trusted.kernel.errors import DuplicateKey
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.record import Event

_AT_ONCE = 200


@dataclass
class Shifts:
    book: Beliefs
    _looked_at: int = field(default=0, init=False)
    """The newest evidence that was looked at; lost with the process, then all is looked at."""

    def is_due(self) -> bool:
        return self.book.has_moved_after(self._looked_at)

    def record(self) -> None:
        """Record every belief that stands elsewhere than the newest record of it says.

        What moves meanwhile is looked at next time: many outcomes in a row are one look.
        """
        is_full = True
        while is_full:
            beliefs = self.book.list_moved_after(self._looked_at, limit=_AT_ONCE)
            is_full = len(beliefs) == _AT_ONCE
            for belief in beliefs:
                self._record_shift(belief)
                self._looked_at = max(self._looked_at, belief.changed or 0)

    def _find_story(self, belief: Belief) -> str:
        """Name the story of the outcome that moved a belief: the shift is a part of it."""
        outcome = self.book.ledger.record(belief.changed or 0)
        return outcome.correlation if outcome else random_id("cor")

    def _record_shift(self, belief: Belief) -> None:
        standing, before = belief.confidence.standing, belief.recorded_standing
        if standing == (before or Standing.OPEN):
            return
        event = Event(
            type=events.SHIFTED,
            actor="daemon",
            data=_describe_shift(belief, before or str(Standing.OPEN), str(standing)),
            correlation=self._find_story(belief),
            subject=belief.id,
            key=f"belief:{belief.id}:{belief.changed}",
        )
        with suppress(DuplicateKey):  # it was said before the daemon ended
            self.book.ledger.append([event])


def _describe_shift(belief: Belief, before: str, after: str) -> dict[str, Any]:
    return {
        "statement": belief.statement,
        "from": before,
        "to": after,
        "mean": round(belief.confidence.mean, 4),
        "lower": round(belief.confidence.lower, 4),
        "upper": round(belief.confidence.upper, 4),
        "evidence": belief.changed,
        "count": belief.count,
    }
