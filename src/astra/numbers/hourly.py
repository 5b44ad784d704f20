"""What happened in each hour, counted as it is recorded: what alerts compare.

The measures are those of the days (`daily`). Calls that `astra smoke` makes are left out: they are
nobody's activity, and a schedule makes them at every hour.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from astra.numbers import daily
from astra.trusted.kernel.clock import format_time
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record

SMOKE_DOOR = "smoke"
CALLS = ("calls_ok", "calls_refused", "calls_failed")


def sum_lately(ledger: Ledger, measures: Sequence[str], *, hours: int, now: datetime) -> int:
    """Count what happened in this hour and so many whole ones before it."""
    first = name_hour(now - timedelta(hours=hours))
    return sum(_sum_hours(ledger, measure, first, name_hour(now)) for measure in measures)


def find_last_hour(ledger: Ledger, measures: Sequence[str]) -> str:
    """Name the newest hour in which something was counted, or nothing."""
    rows = [
        ledger.query("SELECT max(hour) FROM hour_count WHERE measure = ?", [measure])
        for measure in measures
    ]
    return max((hour or "" for ((hour,),) in rows), default="")


def list_active_hours(ledger: Ledger, measure: str, *, days: int, now: datetime) -> list[str]:
    """Name the hours before this one in which something was counted."""
    first, this_hour = name_hour(now - timedelta(days=days)), name_hour(now)
    rows = ledger.query(
        "SELECT hour FROM hour_count WHERE measure = ? AND hour >= ? AND hour < ? ORDER BY hour",
        [measure, first, this_hour],
    )
    return [hour for (hour,) in rows]


def name_hour(moment: datetime) -> str:
    """Name the UTC hour of a moment.

    >>> from datetime import UTC
    >>> name_hour(datetime(2026, 3, 1, 7, 59, tzinfo=UTC))
    '2026-03-01T07'
    """
    return format_time(moment)[:13]


def _sum_hours(ledger: Ledger, measure: str, first: str, last: str) -> int:
    rows = ledger.query(
        "SELECT coalesce(sum(value), 0) FROM hour_count WHERE measure = ? AND hour BETWEEN ? AND ?",
        [measure, first, last],
    )
    return rows[0][0]


def _add_to_hour(record: Record) -> Iterator[Statement]:
    if record.data.get("door") == SMOKE_DOOR:
        return
    if measure := daily.choose_measure(record):
        yield _COUNT, (measure, record.time[:13], daily.count_in(record))


_COUNT = """
    INSERT INTO hour_count VALUES (?, ?, ?)
    ON CONFLICT (measure, hour) DO UPDATE SET value = value + excluded.value
"""

PROJECTION = Projection(
    "hour counts",
    (
        """CREATE TABLE hour_count (
            measure TEXT, hour TEXT, value INTEGER, PRIMARY KEY (measure, hour)
        ) WITHOUT ROWID""",
    ),
    _add_to_hour,
    types=daily.TYPES,
)
