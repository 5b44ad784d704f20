"""Whether agent code may run without a sandbox: the operator's word, as the ledger tells it.

Two things have to come together: the daemon's own setting `ASTRA_SANDBOX=off-unsafe`, and the
operator's signature in the chain. Each alone changes nothing. Taking the word back is free, and the
next run hears it.
"""

from datetime import datetime
from typing import Any

from astra.trusted.ledger import views
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed

ALLOWED, REVOKED = "sandbox_off_allowed", "sandbox_off_revoked"
OFF = "off-unsafe"
SUBJECT = "sandbox"


def allowed(ledger: Ledger, signed: Signed, *, now: datetime) -> Event:
    event = Event(type=ALLOWED, actor="operator", data=content(), subject=SUBJECT)
    return authority.signed_event(ledger, event, signed, now=now)


def revoked(*, actor: str) -> Event:
    return Event(type=REVOKED, actor=actor, data={}, subject=SUBJECT)


def content() -> dict[str, Any]:
    """Give what an operator signs to have agent code run without a sandbox."""
    return {"sandbox": OFF}


class UnsafeRecord:
    """Whether a signature in force allows it, worked out again only when the chain has changed."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known = (0, False)

    def in_force(self) -> bool:
        rows = self._ledger.query("SELECT version FROM subject WHERE id = ?", [SUBJECT])
        version = rows[0][0] if rows else 0
        if version != self._known[0]:
            self._known = (version, self._find())
        return self._known[1]

    def _find(self) -> bool:
        given = views.last(self._ledger, count=1, type_=ALLOWED)
        taken = views.last(self._ledger, count=1, type_=REVOKED)
        if not given or (taken and taken[0].sequence > given[0].sequence):
            return False
        return authority.holds(self._ledger, given[0])
