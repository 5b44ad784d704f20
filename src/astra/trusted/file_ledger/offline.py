"""The records that the operator's authority rests on, read without lock or index.

Verifying trusts no daemon and no index. What it needs to know of the operators (their keys, roles
and rules, the signed configuration, signed restores) it reads from the chain itself, into an index
of its own in memory: the same checks of the same signatures as everywhere else.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from typing import Any

from astra.trusted.file_ledger.sqlite_index import SqliteIndex
from astra.trusted.kernel.errors import LedgerArchived, LedgerDamaged, LedgerUnavailable
from astra.trusted.ledger import chain, stored
from astra.trusted.ledger.formats import ROOT_CREATED
from astra.trusted.ledger.projection import MENTIONS, RECORDS, SUBJECTS
from astra.trusted.ledger.record import EMPTY, Head, Record
from astra.trusted.ledger.remainder import ARCHIVED
from astra.trusted.ledger.stored import StoredChain
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED
from astra.trusted.ledger.verbs import END, LedgerVerbs
from astra.trusted.policy import cosigning, operators
from astra.trusted.policy.authority import KEY_ROTATED, RESTORED

_TYPES = (
    *(ROOT_CREATED, KEY_ROTATED, RESTORED, "config_signed"),
    *(*operators.CHANGES, cosigning.GIVEN, ARCHIVED),
)
_MARKS = tuple(f'"type":"{name}"'.encode() for name in _TYPES)


class OfflineLedger(LedgerVerbs):
    """Enough of a ledger to check signatures; it takes nothing and knows these types only."""

    def __init__(self, stored_chain: StoredChain) -> None:
        records = _read_records(stored_chain)
        self._index = SqliteIndex(None, (RECORDS, MENTIONS, SUBJECTS))
        self._index.apply(records[sequence] for sequence in sorted(records))
        newest = records[max(records)] if records else None
        self._head = Head(newest.sequence, newest.hash, newest.time) if newest else EMPTY

    def head(self) -> Head:
        return self._head

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._index.query(sql, parameters)

    def append(self, *_events: Any, **_options: Any) -> list[Record]:
        raise LedgerUnavailable(
            "a ledger that is only read, from its files, takes no record", next_step="astra up"
        )

    def position(self) -> int:
        return self._head.sequence

    def wait(self, after: int, timeout: float) -> bool:  # noqa: ARG002 - the port's names
        return False

    def wake(self) -> None:
        pass

    def close(self) -> None:
        self._index.close()


def open_offline(stored_chain: StoredChain) -> "closing[OfflineLedger]":
    return closing(OfflineLedger(stored_chain))


def _read_records(stored_chain: StoredChain) -> dict[int, Record]:
    try:
        records = {record.sequence: record for record in _find_authority_records(stored_chain)}
        for sequence in sorted(_named_heads(records.values()) - records.keys()):
            if record := _find_record(stored_chain, sequence):
                records[record.sequence] = record
    except (ValueError, EOFError, zlib.error) as error:
        raise LedgerDamaged(
            f"the chain cannot be read: {error}", next_step="astra ledger verify"
        ) from None
    return records


def find_staying(ledger: LedgerVerbs) -> Callable[[Record], bool]:
    """Tell which records stay when their month is archived: those that verifying rests on."""
    heads = _named_heads(ledger.records(*_TYPES, limit=END))
    types = frozenset({*_TYPES, CLOCK_ACCEPTED})
    return lambda record: record.type in types or record.sequence in heads


def _find_record(stored_chain: StoredChain, sequence: int) -> Record | None:
    try:
        return next(stored.read_records(stored_chain, after=sequence - 1), None)
    except LedgerArchived:
        return next(_read_left_behind(stored_chain, sequence), None)


def _read_left_behind(stored_chain: StoredChain, sequence: int) -> Iterator[Record]:
    """Look for a record among those that stayed when their month was archived."""
    start = f'{{"sequence":{sequence},'.encode()
    for _, lines in stored_chain.read_segments():
        yield from (chain.parse(raw[:-1].decode()) for raw in lines if raw.startswith(start))


def _find_authority_records(stored_chain: StoredChain) -> Iterator[Record]:
    for _, lines in stored_chain.read_segments():
        for raw in lines:
            if raw.endswith(b"\n") and any(mark in raw for mark in _MARKS):
                record = chain.parse(raw[:-1].decode())
                if record.type in _TYPES:
                    yield record


def _named_heads(records: Iterable[Record]) -> set[int]:
    """Give the places that signatures name as the state they were made for."""
    heads: set[int] = set()
    for record in records:
        with suppress(KeyError, TypeError, ValueError):
            heads.add(int(record.raw_data["authority"]["statement"]["head"]["sequence"]))
    return {sequence for sequence in heads if sequence > 0}
