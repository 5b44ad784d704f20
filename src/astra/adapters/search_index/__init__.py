"""An index for searching: the target's files by blob, their symbols, and records of the ledger.

It is a projection of git objects and of the ledger in a SQLite file below `var/search`, and may be
deleted at any time. Text is in it only as an inverted index (FTS5, contentless): passages are read
from their objects again. What the read tools would not show is not in it.
"""
