"""What everybody asks of a ledger's records, once: by sequence, by type, by what they are about.

Both ledgers (the files and the fake) mix these in over their own `query`, so that they cannot
answer differently. Each verb is a range of an index, whatever lies behind it: a page of one type
reads that page, and several types are read side by side, each no further than the page is long.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from astra.trusted.ledger import chain
from astra.trusted.ledger.record import Record

END = 1 << 62
"""A sequence that no record reaches."""
_OF_TYPE = (
    "SELECT sequence, line FROM record WHERE type = ? AND sequence > ? AND sequence < ?"
    " ORDER BY sequence {order} LIMIT ?"
)
_OF_ANY_TYPE = (
    "SELECT sequence, line FROM record WHERE sequence > ? AND sequence < ?"
    " ORDER BY sequence {order} LIMIT ?"
)
_MENTIONING = (
    "SELECT line FROM mention CROSS JOIN record USING (sequence)"
    " WHERE mention.id = ? AND mention.sequence > ? AND mention.sequence < ?{types}"
    " ORDER BY mention.sequence {order} LIMIT ?"
)


_MOST_KEPT = 64
"""Answers kept by types; the code asks for a dozen, and whoever filters by hand for any."""


class LedgerVerbs(ABC):
    """The verbs of the port, for whoever has a `query` and says how far it answers."""

    _newest_records: tuple[int, dict[tuple[str, ...], Record | None]] = (-1, {})
    """How far the ledger was, and the newest records of types that were read since."""

    @abstractmethod
    def position(self) -> int: ...

    @abstractmethod
    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...

    def query_row(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Give the first row of an answer, if there is one."""
        rows = self.query(sql, parameters)
        return rows[0] if rows else None

    def version(self, subject: str) -> int:
        """Count the records about a subject, for an append that expects no other came since."""
        row = self.query_row("SELECT version FROM subject WHERE id = ?", [subject])
        return int(row[0]) if row else 0

    def is_claimed(self, key: str) -> bool:
        """Tell whether a record has claimed a key."""
        return self.query_row("SELECT 1 FROM unique_key WHERE key = ?", [key]) is not None

    def record(self, sequence: int) -> Record | None:
        """Give one record by its place in the chain."""
        row = self.query_row("SELECT line FROM record WHERE sequence = ?", [sequence])
        return chain.parse(row[0]) if row else None

    def records(
        self,
        *types: str,
        after: int = 0,
        before: int = END,
        limit: int = 100,
        newest_first: bool = False,
    ) -> list[Record]:
        """Give a page of records between two places, of some types or of every type."""
        sql, parameters = _page_of_types(types, after, before, limit, newest_first=newest_first)
        return [chain.parse(line) for _, line in self.query(sql, parameters)]

    def newest(self, *types: str, before: int = END) -> Record | None:
        """Give the newest record of some types, or of every type.

        Every call asks for some (was the work stopped, was the clock accepted), and few records
        come in between: an answer stands until the ledger moves. The position is read first, so
        what is kept for it may be newer than it, and never older.
        """
        if before != END:
            return self._read_newest(types, before)
        position, (kept_at, answers) = self.position(), self._newest_records
        if position != kept_at or len(answers) >= _MOST_KEPT:
            answers: dict[tuple[str, ...], Record | None] = {}
            self._newest_records = position, answers
        if types not in answers:
            answers[types] = self._read_newest(types, END)
        return answers[types]

    def _read_newest(self, types: Sequence[str], before: int) -> Record | None:
        sql, parameters = _page_of_types(types, 0, before, 1, newest_first=True)
        row = self.query_row(sql, parameters)
        return chain.parse(row[1]) if row else None

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
        type_filter = f" AND type IN ({_format_placeholders(types)})" if types else ""
        sql = _MENTIONING.format(types=type_filter, order=_format_order(newest_first=newest_first))
        rows = self.query(sql, [identifier, after, before, *types, limit])
        return [chain.parse(line) for (line,) in rows]

    def records_of(self, subject: str, *types: str) -> list[Record]:
        """Give the records whose subject is an id, in order."""
        mentions = self.find_mentions(subject, *types)
        return [record for record in mentions if record.subject == subject]


def _page_of_types(
    types: Sequence[str], after: int, before: int, limit: int, *, newest_first: bool
) -> tuple[str, list[Any]]:
    order = _format_order(newest_first=newest_first)
    if not types:
        return _OF_ANY_TYPE.format(order=order), [after, before, limit]
    one = _OF_TYPE.format(order=order)
    if len(types) == 1:
        return one, [types[0], after, before, limit]
    parts = " UNION ALL ".join(f"SELECT * FROM ({one})" for _ in types)  # noqa: S608 - fixed texts
    parameters = [value for type_ in types for value in (type_, after, before, limit)]
    sql = f"SELECT * FROM ({parts}) ORDER BY sequence {order} LIMIT ?"  # noqa: S608 - fixed texts
    return sql, [*parameters, limit]


def _format_order(*, newest_first: bool) -> str:
    return "DESC" if newest_first else "ASC"


def _format_placeholders(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
