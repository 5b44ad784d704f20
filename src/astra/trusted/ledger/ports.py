"""What the rest of Astra may ask of a ledger; the adapters and the fake keep one contract suite."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from astra.trusted.ledger.record import Event, Head, Record
from astra.trusted.ledger.verbs import END


class Ledger(Protocol):
    def append(
        self,
        events: Sequence[Event],
        *,
        expect: Mapping[str, int] | None = None,
        lazy: bool = False,
    ) -> list[Record]:
        """Append a batch, all of it or nothing, and return its records.

        `expect` maps subjects to the version (number of records) they must have now; otherwise
        StaleVersion. An event's `key` that the ledger already holds is DuplicateKey. When this
        returns, the records are on disk and in the index; with `lazy` they follow within 100 ms,
        and lazy events carry neither subject nor key.
        """
        ...

    def head(self) -> Head: ...

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Ask the index, which has applied every acknowledged record that is not lazy."""
        ...

    def query_row(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Give the first row of an answer: for what a key leads to and is asked all the time."""
        ...

    def version(self, subject: str) -> int:
        """Count the records about a subject: what an append expects that relies on it."""
        ...

    def is_claimed(self, key: str) -> bool:
        """Tell whether a record has claimed a key."""
        ...

    def record(self, sequence: int) -> Record | None:
        """Give one record by its place in the chain."""
        ...

    def records(
        self,
        *types: str,
        after: int = 0,
        before: int = END,
        limit: int = 100,
        newest_first: bool = False,
    ) -> list[Record]:
        """Give a page of records between two places, of some types or of every type."""
        ...

    def newest(self, *types: str, before: int = END) -> Record | None:
        """Give the newest record of some types, or of every type."""
        ...

    def records_of(self, subject: str, *types: str) -> list[Record]:
        """Give the records whose subject is an id, in order, of some types or of every type."""
        ...

    def find_mentions(
        self,
        identifier: str,
        *types: str,
        after: int = 0,
        before: int = END,
        limit: int = END,
        newest_first: bool = False,
    ) -> list[Record]:
        """Give the records that name an id anywhere: as subject, correlation or in their data."""
        ...

    def position(self) -> int:
        """Give the sequence that the index has come to: what `wait` is asked to go beyond."""
        ...

    def wait(self, after: int, timeout: float) -> bool:
        """Block until the index holds a record behind sequence `after`; tell whether it does."""
        ...

    def wake(self) -> None:
        """Let everybody who waits look up now, records or not."""
        ...

    def close(self) -> None: ...
