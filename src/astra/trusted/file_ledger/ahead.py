"""Building the index of another version of Astra while this data root is in use.

A version whose projections changed needs an index of its own, and with a long history that takes
minutes. So it is built before the change of versions, beside the one in use, by a process that
takes no lock; the daemon that starts afterwards finds it and folds what came since.

It goes up to the newest signed checkpoint, and no further: what is behind that may be written and
not durable yet, and an index that knows more than the disk would be an alarm.
"""

from collections.abc import Sequence
from itertools import takewhile

from astra.trusted.file_ledger import check, opening, sqlite_index
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.kernel.errors import IndexUnavailable
from astra.trusted.ledger import stored
from astra.trusted.ledger.projection import Projection
from astra.trusted.ledger.stored import StoredChain


def build_ahead(
    places: LedgerPlaces,
    projections: Sequence[Projection],
    stored_chain: StoredChain,
    *,
    public_key: str,
) -> int:
    """Build the index of these projections unless it is there; gives how many records it has."""
    path, _ = sqlite_index.find_newest(places.index, projections)
    if path.exists():
        return max(check.read_positions([path]), default=(0, ""))[0]
    point = opening.signed_checkpoint(places, public_key)
    last = point.sequence if point else 0
    records = takewhile(lambda one: one.sequence <= last, stored.read_records(stored_chain))
    try:
        sqlite_index.build(path, projections, records)
    except FileNotFoundError as error:
        raise IndexUnavailable(
            "the unfinished index was swept away: a daemon started meanwhile",
            next_step="astra ledger rebuild --ahead, once more",
        ) from error
    return last
