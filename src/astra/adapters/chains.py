"""Which chain a data root has: the one in its files, or one in a database.

The database's library is imported only where the setting names one.
"""

from collections.abc import Callable, Mapping, Sequence

from astra.trusted.file_ledger.indexed import Choice, IndexedLedger
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.file_ledger.moved import read_place, refuse_other_place
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.file_ledger.reserve import Reserve
from astra.trusted.file_ledger.stored import ChainFiles
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.clock import Clock
from astra.trusted.ledger.projection import Projection
from astra.trusted.ledger.stored import StoredChain
from astra.trusted.settings.environment import Settings
from astra.trusted.stop.machines import Alone, Machines


def find_chain(root: DataRoot, settings: Settings) -> StoredChain:
    """Give the stored chain of a data root, to read without a ledger."""
    url = check_place(root, settings)
    if not url:
        return ChainFiles(LedgerPlaces(root.var).chain)
    from astra.adapters.postgres_ledger.stored import ChainRows

    return ChainRows(url)


def open_ledger(
    root: DataRoot,
    settings: Settings,
    *,
    projections: Sequence[Projection],
    clock: Clock,
    reserve: Reserve,
    urgent: Choice,
    harmless: Choice,
) -> IndexedLedger:
    """Take ownership of a data root and open its chain, wherever that is."""
    url, key = check_place(root, settings), root.read_ledger_key()
    if not url:
        return FileLedger(
            root.var,
            projections=projections,
            key=key,
            clock=clock,
            reserve=reserve,
            urgent=urgent,
            harmless=harmless,
        )
    from astra.adapters.postgres_ledger.ledger import PostgresLedger

    return PostgresLedger(
        url,
        root.var,
        projections=projections,
        key=key,
        clock=clock,
        reserve=reserve,
        urgent=urgent,
        harmless=harmless,
    )


def find_machines(
    root: DataRoot, settings: Settings, wanted_leases: Mapping[str, Callable[[], bool]]
) -> Machines:
    """Give the machines that share the chain, this one among them; alone on its own files."""
    url = check_place(root, settings)
    if not url:
        return Alone()
    from astra.adapters.postgres_ledger.membership import Membership

    return Membership(url, root.var, wanted_leases)


def check_place(root: DataRoot, settings: Settings) -> str:
    """Give the address of the database if there is one; refuse one that is not this chain's."""
    url, place = settings.database_url, read_place(root.var)
    address = ""
    if url:
        from astra.adapters.postgres_ledger.connecting import describe_address

        address = describe_address(url)
    refuse_other_place(place, address)
    return url
