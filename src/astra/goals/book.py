"""The book of goals: which there are, and where each came from.

A goal is created by a record (`goal_created`) and is `open` from then on; what works on it comes
with planning.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from astra.trusted.kernel.errors import NotFound
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.paging import check_page
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record

CREATED = "goal_created"
_COLUMNS = "id, text, state, source, desire_id, approval_id, created_at, correlation, sequence"


@dataclass(frozen=True, kw_only=True)
class Goal:
    id: str
    text: str
    state: str
    source: str
    desire_id: str | None
    approval_id: str | None
    created_at: str
    correlation: str
    sequence: int

    def as_dict(self) -> dict[str, Any]:
        return {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name != "sequence"
        }


@dataclass(frozen=True)
class Goals:
    ledger: Ledger

    def listed(self, *, limit: int = 50, after: int = 0) -> tuple[list[Goal], int | None]:
        """Give goals in the order they were created, and where the next page starts."""
        after = check_page(limit, after)
        rows = self._where("sequence > ? ORDER BY sequence LIMIT ?", after, limit + 1)
        more = len(rows) > limit
        return rows[:limit], rows[limit - 1].sequence if more else None

    def get(self, identifier: str) -> Goal:
        goals = self._where("id = ?", identifier)
        if not goals:
            label = identifier if is_id(identifier) else "with that id"
            raise NotFound(f"there is no goal {label}", next_step="astra goals list")
        return goals[0]

    def _where(self, condition: str, *parameters: Any) -> list[Goal]:
        rows = self.ledger.query(
            f"SELECT {_COLUMNS} FROM goal WHERE {condition}",  # noqa: S608 - fixed texts
            parameters,
        )
        names = _COLUMNS.split(", ")
        return [Goal(**dict(zip(names, row, strict=True))) for row in rows]


def _apply(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        "INSERT INTO goal VALUES (?, ?, ?, 'open', ?, ?, ?, ?, ?)",
        (
            record.sequence,
            record.subject,
            data["text"],
            data["source"],
            data.get("desire"),
            data.get("approval"),
            record.time,
            record.correlation,
        ),
    )


PROJECTION = Projection(
    "goals",
    (
        """CREATE TABLE goal (
            sequence INTEGER PRIMARY KEY, id TEXT UNIQUE, text TEXT, state TEXT, source TEXT,
            desire_id TEXT, approval_id TEXT, created_at TEXT, correlation TEXT
        )""",
    ),
    _apply,
    types=frozenset({CREATED}),
)
