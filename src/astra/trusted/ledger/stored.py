"""A chain as it is stored, for those who read it without a ledger: to verify, export or back up.

Files and databases hold the same lines. Read from a database they come in the same segments, one a
month, so that whoever verifies need not know where they were.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Protocol

from astra.trusted.ledger import chain
from astra.trusted.ledger.record import Head, Record
from astra.trusted.ledger.segments import segment_name

_TIME = b'"time":"'


class StoredChain(Protocol):
    def read_lines(self, *, after: int = 0) -> Iterator[str]:
        """Give the complete lines whose sequence is behind `after`."""
        ...

    def read_segments(self) -> Iterator[tuple[str, Iterable[bytes]]]:
        """Give each segment's name and its raw lines, whatever they are."""
        ...

    def read_end(self) -> Head:
        """Give the last good record."""
        ...


def read_records(stored: StoredChain, *, after: int = 0) -> Iterator[Record]:
    return map(chain.parse, stored.read_lines(after=after))


def group_by_segment(lines: Iterable[str]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Put lines into the segments that files would have them in."""
    last = ""

    def name_segment(raw: bytes) -> str:
        nonlocal last
        start = raw.find(_TIME) + len(_TIME)
        last = segment_name(raw[start : start + 7].decode(errors="replace"), last=last)
        return last

    return groupby((f"{line}\n".encode() for line in lines), key=name_segment)
