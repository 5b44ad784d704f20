"""Going on from an older state, on the operator's word: one batch that voids what was open.

`var/restored.json` says that a backup was put in place and nobody has signed for it yet. The record
of the restore ends that, so a crash in between leaves the file and changes nothing.

A statement for a restore is good in one place: it names the opening, an id that each daemon draws
when it opens the ledger and that is nowhere on disk. So whoever keeps a signed restore cannot put
the same backup in place again and have it count there, within its ten minutes or after.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from astra.trusted.approvals.desk import Desk
from astra.trusted.approvals.events import STALE
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import Conflict
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import access, authority, restoring, stopping
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.restoring import HeldLedger, Hold

MARKER = "restored.json"
WHY = "this data root was put back to an older state"


@dataclass(frozen=True, kw_only=True)
class Restores:
    ledger: HeldLedger
    desk: Desk
    clock: Clock
    var: Path
    opening: str = field(default_factory=lambda: random_id("open"))
    """Drawn anew by each daemon; what is signed for another opening does not count here."""

    @property
    def marker(self) -> Path:
        return self.var / MARKER

    def settle(self) -> None:
        """Hold the ledger where a backup was put in place without a signature so far."""
        try:
            came_from = json.loads(self.marker.read_bytes())
            place = int(came_from["sequence"])
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError, KeyError):
            place = self.ledger.head().sequence
        if restoring.is_signed_after(self.ledger, place):
            self.marker.unlink(missing_ok=True)
            return
        detail = f"it was restored from a backup that ends at record {place}"
        self.ledger.hold(Hold(reason=restoring.FROM_BACKUP, detail=detail))

    def content(self) -> dict[str, Any]:
        """Give what the operator signs to go on from here."""
        return restoring.content(self.ledger.holds, self.opening)

    def sign(self, signed: Signed) -> Record:
        """Record the operator's word, void what was open, stop all work, and go on."""
        holds = self.ledger.holds
        if not holds:
            raise Conflict(
                "this data root was not put back to an older state",
                code="not_held",
                next_step="to put a backup in place: astra restore BACKUP --data-root NEW",
            )
        event = restoring.event(holds, self.opening)
        event = authority.signed_event(self.ledger, event, signed, now=self.clock.now())
        record, *_ = self.ledger.append([event, *self._build_void_events(event.correlation)])
        self.marker.unlink(missing_ok=True)
        self.ledger.release()
        return record

    def _build_void_events(self, story: str) -> Iterator[Event]:
        """Give a record for everything that somebody could still use."""
        for state in ("pending", "approved"):
            for approval in self.desk.list_by_state(state=state):
                data = {"approval": approval.id, "reason": WHY}
                yield _build_event(STALE, approval.id, data, story)
        for token in access.list_tokens(self.ledger):
            if not token.ended:
                yield _build_event(access.TOKEN_REVOKED, token.id, {"token": token.id}, story)
        for session in access.list_open_sessions(self.ledger):
            yield _build_event(access.SESSION_CLOSED, session, {"session": session}, story)
        yield stopping.build_stopped_event(random_id("stop"), {"because": WHY}, actor="operator")


def _build_event(type_: str, subject: str, data: dict[str, Any], story: str) -> Event:
    return Event(type=type_, actor="operator", data=data, subject=subject, correlation=story)
