"""Of two people who set the same thing, the second is told what the first one did.

Whoever decides may say up to where they have looked. What was recorded about the same thing since
then was not seen, so nothing is decided over it.
"""

from astra.trusted.kernel.errors import Conflict
from astra.trusted.ledger.record import Record

CODE = "changed_meanwhile"


def unseen_change_error(what: str, record: Record, **more: object) -> Conflict:
    """Give the refusal that names the record nobody saw; `more` is what became of the thing."""
    change_data = {name: value for name, value in record.data.items() if name != "authority"}
    return Conflict(
        f"{what} was changed since you looked at it, by {record.actor} at {record.time}"
        f" (record {record.sequence}, {record.type})",
        code=CODE,
        next_step="look at it as it is now, and decide again",
        by=record.actor,
        at=record.time,
        sequence=record.sequence,
        change={"type": record.type, **change_data},
        **more,
    )
