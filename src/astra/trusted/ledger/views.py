"""Reading the record back: ranges, filters, and the story an id belongs to."""

from astra.trusted.ledger import chain
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import EMPTY, Head, Record


def records(ledger: Ledger, *, after: int = 0, limit: int = 100, type_: str = "") -> list[Record]:
    """Give records in order of sequence, from behind `after` on."""
    return ledger.records(*_to_type_filter(type_), after=after, limit=limit)


def newest_records(ledger: Ledger, *, count: int, type_: str = "") -> list[Record]:
    """Give the newest records, oldest of them first."""
    return ledger.records(*_to_type_filter(type_), limit=count, newest_first=True)[::-1]


def settled_head(ledger: Ledger) -> Head:
    """Give the newest record that no crash takes back: what somebody signs names this one."""
    newest = ledger.newest()
    if newest is None:
        return EMPTY
    return Head(newest.sequence, newest.hash, newest.time)


def story(ledger: Ledger, identifier: str, *, limit: int = 10_000, after: int = 0) -> list[Record]:
    """Give every record of the stories that an id takes part in, in order.

    An id takes part in a story when a record of that story mentions it.
    """
    rows = ledger.query(
        "WITH name AS (SELECT ? AS id UNION SELECT correlation FROM mention"
        " JOIN record USING (sequence) WHERE mention.id = ?)"
        " SELECT line FROM record WHERE sequence IN"
        " (SELECT sequence FROM mention WHERE id IN (SELECT id FROM name))"
        " AND sequence > ? ORDER BY sequence LIMIT ?",
        [identifier, identifier, after, limit],
    )
    return [chain.parse(line) for (line,) in rows]


def _to_type_filter(type_: str) -> tuple[str, ...]:
    return (type_,) if type_ else ()
