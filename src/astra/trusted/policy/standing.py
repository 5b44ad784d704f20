"""What standing permissions of every kind have in common: until when each counts, and what ends it.

What was signed before the operator accepted the clock, or before a restore, is void.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.kernel.errors import BadInput
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Record
from astra.trusted.ledger.timekeeping import current_time, last_acceptance
from astra.trusted.policy import authority
from astra.trusted.policy.authority import RESTORED


def judge(ledger: Ledger, record: Record, *, until: str, left: int, now: datetime) -> str:
    """Say whether a permission is `usable`, or why it is not: `void`, `expired` or `used_up`."""
    if not is_in_force(ledger, record):
        return "void"
    if until <= format_time(current_time(now, ledger.head())):
        return "expired"
    return "usable" if left else "used_up"


def is_in_force(ledger: Ledger, record: Record) -> bool:
    """Tell whether a record is signed, and neither a restore nor an accepted clock voided it."""
    restored = ledger.newest(RESTORED)
    is_current = record.sequence > last_acceptance(ledger) and (
        restored is None or restored.sequence < record.sequence
    )
    return is_current and authority.is_signed_by_operator(ledger, record)


def parse_until(text: Any, build_refusal: Callable[[str], BadInput]) -> datetime:
    try:
        return parse_time(str(text))
    except ValueError:
        raise build_refusal("until is not a time as Astra writes it") from None
