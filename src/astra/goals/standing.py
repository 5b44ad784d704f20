"""How a goal stands when a task of it is to be claimed, and the version that the claim expects.

A version counts the records about a goal. Its tasks' records are about its tasks, and leave all of
it as it was but what was used up and whether a task waits. So at a version that is known only those
are read, in one question with the version: nothing can move between the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from astra.goals.book import GOAL_ROW, IS_WAITING, read_goal
from astra.goals.model import Goal, Usage
from astra.trusted.ledger.ports import Ledger

MOST_REMEMBERED = 64
_FROM = " FROM goal JOIN subject ON subject.id = goal.id WHERE goal.id = ?"
_WHOLE = f"SELECT subject.version, {IS_WAITING}, {GOAL_ROW}{_FROM}"
_MOVING = f"SELECT subject.version, {IS_WAITING}, model_calls, tokens, milliseconds, nano{_FROM}"


class Standing(NamedTuple):
    """A goal, and the version an append expects that is to find it like that."""

    goal: Goal
    version: int


@dataclass(frozen=True)
class Standings:
    ledger: Ledger
    _known: dict[str, tuple[Sequence[Any], Goal]] = field(
        default_factory=dict[str, tuple[Sequence[Any], Goal]]
    )
    """Of each goal, its version and whether a task waits, and what it is then."""

    def read(self, identifier: str) -> Standing | None:
        """Give a goal as it is and how many records made it so, read in one go."""
        return self._read_moving(identifier) or self._read_whole(identifier)

    def _read_moving(self, identifier: str) -> Standing | None:
        state, goal = self._known.get(identifier, ((), None))
        row = self.ledger.query_row(_MOVING, [identifier]) if goal else None
        if goal is None or row is None or row[:2] != state:
            return None
        version, _, model_calls, tokens, milliseconds, nano = row
        usage = Usage(model_calls=model_calls, tokens=tokens, milliseconds=milliseconds, nano=nano)
        return Standing(replace(goal, usage=usage), version)

    def _read_whole(self, identifier: str) -> Standing | None:
        row = self.ledger.query_row(_WHOLE, [identifier])
        if row is None:
            return None
        goal = read_goal(row[2:])
        for oldest in list(self._known)[: max(0, len(self._known) + 1 - MOST_REMEMBERED)]:
            self._known.pop(oldest, None)
        self._known[identifier] = (row[:2], goal)
        return Standing(goal, row[0])
