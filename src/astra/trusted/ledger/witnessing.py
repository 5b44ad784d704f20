"""A witness keeps checkpoints outside the data root, and shows when the chain went back.

Whoever deletes the end of the chain can delete its index and its checkpoints too, and whoever puts
an older copy back puts all three back. What was sent elsewhere before is still there. `judge` is a
pure comparison of that with the chain; reaching a witness is an adapter's business (`Witness`).

Only checkpoints that the ledger's own key signed have a say: what somebody else put there is an
alarm of its own and never makes a sound chain look cut. Where the operator signed that records were
left behind (`ledger_restored`), checkpoints of those records have no say any more.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger import checkpoint
from astra.trusted.ledger.checkpoint import Checkpoint

HashAt = Callable[[int], str | None]
"""Gives the hash of a record of the chain, or nothing where the chain does not hold it."""


class WitnessUnreachable(AstraError):
    """Raised while a witness cannot be reached: nothing is lost, and it is tried again."""

    code = "witness_unreachable"
    http_status = 503


class Witness(Protocol):
    """A place outside the data root that keeps checkpoints; adapters keep one contract suite."""

    @property
    def address(self) -> str: ...

    def read(self) -> Sequence[Checkpoint | None] | None:
        """Give the newest checkpoints it keeps (None for a line that is none), oldest first.

        None where it takes checkpoints and gives none back. Raises WitnessUnreachable.
        """
        ...

    def publish(self, points: Sequence[Checkpoint]) -> None:
        """Hand checkpoints over, once each or again: what it has already changes nothing."""
        ...


class State(StrEnum):
    AGREES = "agrees"
    EMPTY = "empty"
    BEHIND = "behind"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What a witness says about a chain."""

    state: State
    newest: Checkpoint | None = None
    """The checkpoint that decides: the newest that agrees, or the furthest that does not."""
    until: str = ""
    """The time of the latest checkpoint that does not agree."""
    forged: int = 0
    """How many lines the ledger's key did not sign."""

    @property
    def is_alarming(self) -> bool:
        return self.state in {State.BEHIND, State.CONTRADICTS}

    def describe_problem(self, head: int) -> str:
        """Say what is wrong and name both ends, or nothing."""
        if self.newest is None or not self.is_alarming:
            return ""
        sequence = self.newest.sequence
        if self.state is State.BEHIND:
            return (
                f"the chain ends at record {head}, and the witness knows record {sequence}:"
                f" {sequence - head} or more records are gone, or an older copy was put in place"
            )
        return (
            f"record {sequence} is not the one that the witness knows: the chain was rewritten, or"
            " went on from an older copy"
        )


def judge(
    points: Iterable[Checkpoint | None],
    *,
    public_key: str,
    head: int,
    hash_at: HashAt,
    left_behind: str = "",
) -> Judgement:
    """Compare a chain that ends at `head` with what a witness keeps.

    `left_behind` is the time up to which the operator signed checkpoints away that are not in this
    chain.
    """
    lines = list(points)
    signed_points = [
        point for point in lines if point and checkpoint.is_signed_by(point, public_key)
    ]
    forged = len(lines) - len(signed_points)
    agreeing = [point for point in signed_points if hash_at(point.sequence) == point.hash]
    disagreeing_points = [
        point for point in signed_points if point not in agreeing and point.time > left_behind
    ]
    if disagreeing_points:
        furthest = max(disagreeing_points, key=_sort_key)
        state = State.BEHIND if furthest.sequence > head else State.CONTRADICTS
        until = max(point.time for point in disagreeing_points)
        return Judgement(state=state, newest=furthest, until=until, forged=forged)
    if not agreeing:
        return Judgement(state=State.EMPTY, forged=forged)
    return Judgement(state=State.AGREES, newest=max(agreeing, key=_sort_key), forged=forged)


def list_unpublished(own: Sequence[Checkpoint], newest: Checkpoint | None) -> list[Checkpoint]:
    """Give the checkpoints that a witness does not have yet, by the newest that it has."""
    if newest is None:
        return list(own)
    return [point for point in own if _sort_key(point) > _sort_key(newest)]


def _sort_key(point: Checkpoint) -> tuple[int, str]:
    return point.sequence, point.time
