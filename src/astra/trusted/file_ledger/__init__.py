"""The ledger on local disk."""
