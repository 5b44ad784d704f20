"""Ids, clock, canonical JSON, signatures and errors: no I/O, imported by all, imports nothing."""
