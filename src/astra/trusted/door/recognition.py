"""Telling who knows a secret of a session or a token, and whether that still counts."""

from collections.abc import Callable
from dataclasses import dataclass

from astra.trusted.kernel.clock import Clock
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import access
from astra.trusted.policy.access import Principal


@dataclass(frozen=True, kw_only=True)
class Recognition:
    ledger: Ledger
    clock: Clock
    holds: Callable[[str], bool]
    """Checks the signature in a record's line."""
    held: Callable[[], bool] = lambda: False
    """Tells whether the ledger may be older than what was revoked since: then nobody is known."""

    def recognise(self, secret: str) -> Principal | None:
        if self.held():
            return None
        return access.find_principal(
            self.ledger,
            secret,
            now=self.clock.now(),
            holds=lambda record: self.holds(record.line),
        )

    def still_recognised(self, who: Principal) -> bool:
        return not self.held() and access.is_still_recognised(
            self.ledger, who, now=self.clock.now()
        )
