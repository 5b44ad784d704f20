"""The ledger on local disk."""

from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.file_ledger.places import LedgerPlaces

__all__ = ["FileLedger", "LedgerPlaces"]
