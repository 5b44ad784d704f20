"""Handing each checkpoint to the witness, and holding the ledger when the witness knows more.

Never in the path of an append: a lane of the background does it, and once more when the daemon
leaves. Each turn reads first, compares, and then sends what is missing there, so a crash between a
checkpoint and its publication, or after it, changes nothing. A witness that cannot be reached is
trouble in the status, and is tried again.
"""

import contextlib
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from astra.adapters.witnesses.configured import make_witness
from astra.trusted.file_ledger import checkpoints
from astra.trusted.file_ledger.indexed import IndexedLedger
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger import witnessing
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.witnessing import Judgement, State, Witness
from astra.trusted.policy import authority, restoring
from astra.trusted.policy.restoring import Hold

AT_ONCE, IN_BACKGROUND = 5.0, 60.0
_REASONS = {State.BEHIND: restoring.BEHIND, State.CONTRADICTS: restoring.CONTRADICTS}


@dataclass
class _Known:
    """What is known of one witness since this process began."""

    address: str = ""
    judgement: Judgement | None = None
    published: Checkpoint | None = None
    compared: bool = False
    trouble: str = ""


@dataclass(kw_only=True)
class WitnessKeeping:
    ledger: IndexedLedger
    root: DataRoot
    address: Callable[[], str]
    """Gives the address that the operator signed, or nothing."""
    _known: _Known = field(default_factory=_Known, init=False)
    _turn: threading.Lock = field(default_factory=threading.Lock, init=False)

    def open(self) -> None:
        """Compare before anything begins; a witness that does not answer soon is asked later."""
        shutil.rmtree(self.root.var / "witness", ignore_errors=True)
        with contextlib.suppress(AstraError):
            self._take_turn(AT_ONCE, publishes=False)

    def advance(self) -> None:
        self._take_turn(IN_BACKGROUND, publishes=True)

    def hand_over_head(self) -> None:
        """Hand over where the chain ends now: nobody watches it while no daemon runs."""
        with contextlib.suppress(AstraError, OSError):
            if self.address():
                self.ledger.sync()
                self.ledger.write_checkpoint()
                self._take_turn(AT_ONCE, publishes=True)

    def is_due(self) -> bool:
        if not self.address():
            return False
        status = self._current_status()
        newest = self.ledger.last_checkpoint
        return not status.compared or (not self.ledger.holds and newest != status.published)

    def state(self) -> dict[str, Any]:
        """Describe the witness for whoever looks at the status."""
        status = self._current_status()
        point = status.judgement.newest if status.judgement else status.published
        return {
            "address": status.address,
            "state": self._name_state(status),
            "sequence": point.sequence if point else 0,
            "trouble": status.trouble,
        }

    def _name_state(self, known: _Known) -> str:
        if not known.address:
            return "none"
        if known.trouble and not known.judgement:
            return "unreachable"
        if known.judgement:
            return str(known.judgement.state)
        return "gives nothing back" if known.compared else "not asked yet"

    def _current_status(self) -> _Known:
        address = self.address()
        if address != self._known.address:
            self._known = _Known(address=address)
        return self._known

    def _take_turn(self, seconds: float, *, publishes: bool) -> None:
        with self._turn:
            status = self._current_status()
            if not status.address:
                return
            try:
                self._compare_and_publish(status, seconds, publishes=publishes)
            except AstraError as error:
                status.trouble = error.detail
                raise

    def _compare_and_publish(self, known: _Known, seconds: float, *, publishes: bool) -> None:
        root_id = authority.find_keys(self.ledger).root_id
        witness = make_witness(known.address, root=self.root, root_id=root_id, seconds=seconds)
        points = witness.read()
        known.judgement = None if points is None else self._judge_points(points)
        known.compared = True
        known.trouble = _describe_forgery(known.judgement)
        if publishes and not self.ledger.holds:
            self._publish_missing(witness, known, known.judgement)

    def _judge_points(self, points: Sequence[Checkpoint | None]) -> Judgement:
        """Compare, and hold the ledger where the witness knows what the chain does not."""
        created = self.ledger.record(1)
        key = str(created.data.get("ledger_key", "")) if created else ""
        head = self.ledger.head().sequence
        judgement = witnessing.judge(
            points,
            public_key=key or self.root.read_ledger_key().public,
            head=head,
            hash_at=self._hash_at,
            left_behind=restoring.left_behind(self.ledger),
        )
        if judgement.is_alarming:
            hold = Hold(
                reason=_REASONS[judgement.state],
                detail=judgement.describe_problem(head),
                left_behind=judgement.newest,
                until=judgement.until,
            )
            self.ledger.hold(hold)
        return judgement

    def _hash_at(self, sequence: int) -> str | None:
        record = self.ledger.record(sequence)
        return record.hash if record else None

    def _publish_missing(
        self, witness: Witness, known: _Known, judgement: Judgement | None
    ) -> None:
        own_points = checkpoints.recent(self.ledger.places.checkpoints)
        if judgement is None:  # it gives nothing back: what was sent is all there is to go by
            missing_points = (
                witnessing.list_unpublished(own_points, known.published)
                if known.published
                else own_points[-1:]
            )
        else:
            missing_points = witnessing.list_unpublished(own_points, judgement.newest)
        if missing_points:
            witness.publish(missing_points)
        if own_points:
            known.published = own_points[-1]
            if judgement is not None and not judgement.is_alarming:
                known.judgement = Judgement(
                    state=State.AGREES, newest=own_points[-1], forged=judgement.forged
                )


def _describe_forgery(judgement: Judgement | None) -> str:
    if judgement is None or not judgement.forged:
        return ""
    return f"the witness holds {judgement.forged} lines that this ledger's key did not sign"
