"""The ledger on local disk."""

from astra.adapters.file_ledger.ledger import FileLedger
from astra.adapters.file_ledger.places import LedgerPlaces

__all__ = ["FileLedger", "LedgerPlaces"]
