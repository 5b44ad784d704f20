"""Whether agent code may run without a sandbox: the operator's word, as the ledger tells it.

Two things have to come together: the daemon's own setting `ASTRA_SANDBOX=off-unsafe`, and the
operator's signature in the chain. Each alone changes nothing. Taking the word back is free, and the
next run hears it.
"""

from datetime import datetime
from typing import Any

from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed

ALLOWED, REVOKED = "sandbox_off_allowed", "sandbox_off_revoked"
OFF = "off-unsafe"
SUBJECT = "sandbox"


def build_allowed_event(ledger: Ledger, signed: Signed, *, now: datetime) -> Event:
    event = Event(type=ALLOWED, actor="operator", data=content(), subject=SUBJECT)
    return authority.signed_event(ledger, event, signed, now=now)


def build_revoked_event(*, actor: str) -> Event:
    return Event(type=REVOKED, actor=actor, data={}, subject=SUBJECT)


def content() -> dict[str, Any]:
    """Give what an operator signs to have agent code run without a sandbox."""
    return {"sandbox": OFF}


class UnsafeRecord:
    """Whether a signature in force allows it, worked out again only when the chain has changed."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known = (0, False)

    def is_in_force(self) -> bool:
        version = self._ledger.version(SUBJECT)
        if version != self._known[0]:
            self._known = (version, self._is_allowed())
        return self._known[1]

    def _is_allowed(self) -> bool:
        newest = self._ledger.newest(ALLOWED, REVOKED)
        if newest is None or newest.type == REVOKED:
            return False
        return authority.is_signed_by_operator(self._ledger, newest)
