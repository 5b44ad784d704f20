"""What an actor may do at once without a person's approval: calls, boxes, requests that wait.

It is counted before anything is recorded, so that being over a cap costs little. What tools keep
has caps as well, which `astra.operations.caps` lists together with these.

>>> WAITING_REQUESTS.build_error().reason
'too_many_waiting'
"""

from dataclasses import dataclass

from astra.trusted.kernel.errors import Refused


@dataclass(frozen=True, kw_only=True)
class Cap:
    """So many of something, for one actor (or for all agents together), and no more."""

    most: int
    what: str
    """What is counted, as it reads behind its number."""
    next_step: str
    code: str = "too_many_waiting"
    counted_for: str = "each actor"
    """All actors together, where what it protects (a person's list, a disk) is one for all."""
    setting: str = ""
    """The setting of astra.toml that changes it."""

    def build_error(self, most: int | None = None) -> Refused:
        """Give the error for one more than there may be."""
        number = self.most if most is None else most
        return Refused(
            f"{number:,} {self.what} already", code=self.code, next_step=self.next_step, most=number
        )


CALLS_AT_ONCE = Cap(
    most=16,
    what="calls of yours are running",
    code="too_many_at_once",
    next_step="wait until one of them has ended, then call again",
)
BOXES_AT_ONCE = Cap(
    most=4,
    what="boxes of yours are running",
    code="too_many_boxes",
    next_step="wait until one of them has ended, then call again",
    setting="budgets.boxes_at_once",
)
WAITING_REQUESTS = Cap(
    most=20,
    what="requests of yours wait for the operator",
    next_step="wait until the operator has decided some of them: astra approvals",
    setting="budgets.waiting_requests",
)

CALL_BURST, CALLS_PER_SECOND = 2_000, 100
"""How fast one actor may call; beyond, calls are refused before they are looked at."""
REFUSALS_A_MINUTE = 60
"""How many refusals of one actor have a record of their own in a minute; the rest are counted."""
STORED_ARGUMENTS = 4 * 1024
"""How many bytes of a call's arguments a record keeps; the digest covers all of them."""
