"""When a record cannot be folded: which one it is, and what to do about it.

Nothing is skipped. A root of which one record is
not understood is refused whole, since what was not folded may have been a stop or a revocation.
"""

from collections.abc import Iterable

from astra.trusted.kernel.errors import AstraError, LedgerDamaged
from astra.trusted.ledger.projection import Projection
from astra.trusted.ledger.record import Record


class RecordUnreadable(LedgerDamaged):
    """A record is intact, and this version of Astra cannot make sense of it."""

    code = "record_unreadable"


def find_objection(projection: Projection, record: Record) -> str:
    """Say why a projection cannot read a record, or nothing when it can."""
    if not projection.wants(record):
        return ""
    try:
        for _ in projection.apply(record):
            pass
    except AstraError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is about this record
        return describe_error(error)
    return ""


def check(projections: Iterable[Projection], records: Iterable[Record]) -> int:
    """Fold records into nothing: raises for the first that cannot be read, else counts them."""
    folds = tuple(projections)
    count = 0
    for record in records:
        count += 1
        for projection in folds:
            if why := find_objection(projection, record):
                raise unreadable_error(projection, record, why)
    return count


def unreadable_error(projection: Projection, record: Record, why: str) -> RecordUnreadable:
    label = f"record {record.sequence} ({record.type}, schema {record.schema})"
    return RecordUnreadable(
        f"{label} cannot be read for {projection.name}: {why}. The chain is intact; this version"
        " of Astra does not understand that record",
        next_step="run `astra doctor`; use the version of Astra that wrote the record, or one"
        " that can read it",
        sequence=record.sequence,
        type=record.type,
        schema=record.schema,
    )


def describe_error(error: Exception) -> str:
    return f"{type(error).__name__} {error}"[:300]
