"""A permit: proof, within this process, that the gate allowed one call.

It lives in memory, is never written down, fits one call and is used once. It stops mistakes (a new
door that forgets to ask), not hostile code in this process; that is what sandboxes are for.
"""

import threading

from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.budgets import Scope

_MINT = object()


class Permit:
    __slots__ = ("_lock", "_used", "call_id", "digest", "spent", "tool")

    def __init__(
        self, mint: object, *, call_id: str, tool: str, digest: str, spent: tuple[Scope, ...]
    ) -> None:
        if mint is not _MINT:
            raise _build_refusal("only the gate makes permits")
        self.call_id, self.tool, self.digest, self.spent = call_id, tool, digest, spent
        self._used = False
        self._lock = threading.Lock()

    def use(self, tool: str, digest: str) -> None:
        """Spend the permit on the call it was made for."""
        with self._lock:
            if self._used or (tool, digest) != (self.tool, self.digest):
                raise _build_refusal("it was made for another call, or used before")
            self._used = True

    def __reduce__(self) -> str:
        raise _build_refusal("it cannot be stored or sent")


def mint(*, call_id: str, tool: str, digest: str, spent: tuple[Scope, ...] = ()) -> Permit:
    """Make a permit. Only `policy.gate` calls this; a test keeps it so."""
    return Permit(_MINT, call_id=call_id, tool=tool, digest=digest, spent=spent)


def _build_refusal(why: str) -> Refused:
    return Refused(f"permit not valid: {why}", code="no_permit", next_step="ask the gate")
