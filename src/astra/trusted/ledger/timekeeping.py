"""One notion of time, for whatever expires, falls due or is counted by the day.

The time is that of the machine's clock, but never before the last record's. So setting a clock
back revives nothing: while it is behind, time stands still. A clock that was ahead and was set
right again would hold the time for as long as it had been ahead. The way out is a record that the
operator signs (`clock_accepted`): with it, and only with it, the chain's time goes back.

Time that goes back would revive what had expired, and prolong what was made while the clock was
ahead. So nothing that was given for a time is carried over: approvals, statements, sessions and
tokens from before an acceptance are over.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from astra.trusted.kernel.clock import Clock, format_time, parse_time
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Statement
from astra.trusted.ledger.record import Event, Head, Record
from astra.trusted.ledger.verbs import END

CLOCK_ACCEPTED = "clock_accepted"


def current_time(now: datetime, head: Head) -> datetime:
    """Give the time that counts when a clock says `now` and a ledger ends at a head.

    >>> ahead = Head(7, "", "2027-03-01T12:00:00.000000Z")
    >>> format_time(current_time(parse_time("2026-03-01T12:00:00.000000Z"), ahead))
    '2027-03-01T12:00:00.000000Z'
    """
    return now if head.is_empty else max(now, parse_time(head.time))


@dataclass(frozen=True)
class LedgerClock:
    """The clock that everything but the ledger itself is given."""

    ledger: Ledger
    machine: Clock
    """What the machine says: for the ledger, and for telling that it is behind."""

    def now(self) -> datetime:
        return current_time(self.machine.now(), self.ledger.head())


def time_of_batch(events: Sequence[Event], *, now: datetime, head: Head) -> str:
    """Give the time of the records that a batch becomes behind a head."""
    if accepts_clock(events):
        return format_time(now)
    return max(format_time(now), head.time)


def accepts_clock(events: Sequence[Event]) -> bool:
    """Tell whether a batch lets time go back: alone, and made from a statement that was checked."""
    return len(events) == 1 and events[0].type == CLOCK_ACCEPTED and events[0].signed


def last_acceptance(ledger: Ledger, *, before: int = END) -> int:
    """Give the place of the last acceptance of the clock; what is before it is of another time."""
    record = ledger.newest(CLOCK_ACCEPTED, before=before)
    return record.sequence if record else 0


def bring_back(record: Record, table: str, column: str) -> Statement:
    """Let nothing in a table wait for a time that lies ahead of the clock that was accepted.

    For projections whose rows fall due, or are counted by how long ago they were.
    """
    return (
        f"UPDATE {table} SET {column} = ? WHERE {column} > ?",  # noqa: S608 - fixed names
        (record.time, record.time),
    )
