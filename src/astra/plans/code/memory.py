"""Which edit format works for which model, as outcomes say: a count, and an order to try them in.

It is a habit and no more: nothing is allowed or refused by it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record

EDIT_TRIED = "code_edit_tried"
SYMBOL, REPLACE, FILES, DIFF = "symbol", "search_replace", "whole_files", "diff"
FORMATS = (SYMBOL, REPLACE, FILES, DIFF)
_LONGEST_NAME = 200


class FormatMemory(Protocol):
    def order(self, model: str) -> Sequence[str]:
        """Give the formats in the order in which to try them."""
        ...

    def note(self, model: str, edit_format: str, *, worked: bool, correlation: str) -> None: ...


class NoMemory:
    """Every model is new."""

    def order(self, model: str) -> Sequence[str]:
        del model
        return FORMATS

    def note(self, model: str, edit_format: str, *, worked: bool, correlation: str) -> None:
        pass


@dataclass(frozen=True)
class LedgerMemory:
    ledger: Ledger

    def order(self, model: str) -> Sequence[str]:
        rows = self.ledger.query(
            "SELECT format, worked, failed FROM edit_format WHERE model = ?", (_name_of(model),)
        )
        return sort_formats({str(row[0]): (int(row[1]), int(row[2])) for row in rows})

    def note(self, model: str, edit_format: str, *, worked: bool, correlation: str) -> None:
        data = {"model": _name_of(model), "format": edit_format, "worked": worked}
        event = Event(type=EDIT_TRIED, actor="daemon", data=data, correlation=correlation)
        self.ledger.append([event])


def sort_formats(counts: dict[str, tuple[int, int]]) -> list[str]:
    """Sort by how likely each works; one that was never tried stands between.

    >>> sort_formats({"symbol": (0, 2), "diff": (3, 0)})
    ['diff', 'search_replace', 'whole_files', 'symbol']
    """

    def likelihood(name: str) -> float:
        successes, failures = counts.get(name, (0, 0))
        return (successes + 1) / (successes + failures + 2)

    return sorted(FORMATS, key=lambda name: -likelihood(name))


def _name_of(model: str) -> str:
    return one_line(model, _LONGEST_NAME)


def _project_record(record: Record) -> Iterator[Statement]:
    data = record.data
    successes = int(bool(data["worked"]))
    yield (
        (
            "INSERT INTO edit_format (model, format, worked, failed) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (model, format) DO UPDATE SET worked = worked + excluded.worked,"
            " failed = failed + excluded.failed"
        ),
        (data["model"], data["format"], successes, 1 - successes),
    )


PROJECTION = Projection(
    "edit_formats",
    (
        """CREATE TABLE edit_format (
            model TEXT, format TEXT, worked INTEGER, failed INTEGER, PRIMARY KEY (model, format)
        ) WITHOUT ROWID""",
    ),
    _project_record,
    types=frozenset({EDIT_TRIED}),
)
