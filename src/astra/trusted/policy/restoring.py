"""Going back is a signed record: `ledger_restored`.

A copy of an older state knows nothing of what was decided and used up since. So whoever puts one in
place says so with the operator's key. From that record on:

- statements that were signed before it are accepted no more, whatever is left of their time: each
  has to name this record or a later one as the head it was signed for (`authority`);
- open approvals, tokens and sessions are void: each gets its own record in the same batch;
- all work is stopped, because flags, plans and schedules are those of the older state too: it
  starts again by `astra start`, after somebody has looked;
- checkpoints at the witness that are not in this chain, up to the time named, count no more.

What is signed names the opening: an id that the daemon drew when it opened this ledger. The same
state opened again takes a new signature.

Until that record is there the ledger is held: it takes what tightens, ends or notes, and nothing
else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from astra.trusted.kernel.errors import LedgerError
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.policy import authority
from astra.trusted.policy.authority import RESTORED

BEHIND, CONTRADICTS = "behind_witness", "contradicts_witness"
NO_CHECKPOINT, FROM_BACKUP = "no_checkpoint", "restored_backup"
NEXT_STEP = "find out why; if this is the state to go on from: astra restore"


class LedgerHeld(LedgerError):
    code = "ledger_held"


@dataclass(frozen=True, kw_only=True)
class Hold:
    """Why nothing may begin on this data root until the operator signs."""

    reason: str
    detail: str
    left_behind: Checkpoint | None = None
    """The furthest checkpoint of a witness that this chain does not hold."""
    until: str = ""
    """The time of the latest such checkpoint."""


class HeldLedger(Ledger, Protocol):
    """A ledger that can be held: it takes only what begins and loosens nothing."""

    @property
    def holds(self) -> tuple[Hold, ...]: ...

    def hold(self, hold: Hold) -> None: ...

    def release(self) -> None:
        """Go on, now that the operator's word for it is in the chain."""
        ...


def build_held_error(holds: Sequence[Hold]) -> LedgerHeld:
    why = "; ".join(hold.detail for hold in holds)
    return LedgerHeld(f"nothing begins on this data root: {why}", next_step=NEXT_STEP)


def content(holds: Sequence[Hold], opening: str) -> dict[str, Any]:
    """Give what an operator signs to go on from here."""
    checkpoint_data: dict[str, Any] | None = None
    for hold in holds:
        if point := hold.left_behind:
            checkpoint_data = {"sequence": point.sequence, "hash": point.hash, "until": hold.until}
    return {
        "reasons": sorted({hold.reason for hold in holds}),
        "left_behind": checkpoint_data,
        "opening": opening,
    }


def left_behind(ledger: Ledger) -> str:
    """Give the time up to which the operator signed away what a witness knows, or nothing."""
    until = ""
    for record in ledger.records(RESTORED, limit=100, newest_first=True):
        checkpoint_data = record.data.get("left_behind")
        if checkpoint_data and authority.is_signed_by_operator(ledger, record):
            until = max(until, str(checkpoint_data["until"]))
    return until


def is_signed_after(ledger: Ledger, sequence: int) -> bool:
    """Tell whether the operator has signed a restore behind a place in the chain."""
    return any(
        authority.is_signed_by_operator(ledger, record)
        for record in ledger.records(RESTORED, after=sequence, limit=100)
    )


def event(holds: Sequence[Hold], opening: str) -> Event:
    return Event(type=RESTORED, actor="operator", data=content(holds, opening), subject="ledger")
