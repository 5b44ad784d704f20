"""Time as aware UTC from a clock that tests can set, and its one written form.

>>> format_time(parse_time("2026-03-01T12:00:00.000001Z"))
'2026-03-01T12:00:00.000001Z'
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Protocol

_WRITTEN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{1,6}Z")


class Clock(Protocol):
    def now(self) -> datetime: ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


def format_time(moment: datetime) -> str:
    """Write a moment in 27 characters, so that written times sort as text."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def show_time(written: str) -> str:
    """Show a written time to the second, as everything does that people read.

    >>> show_time("2026-03-01T11:59:00.123456Z")
    '2026-03-01 11:59:00Z'
    """
    return f"{written[:10]} {written[11:19]}Z"


MOST_AHEAD = timedelta(minutes=5)


def describe_time_ahead(last: str, now: datetime) -> str:
    """Say that the last record's time is ahead of the clock by more than clocks differ.

    >>> now = parse_time("2026-03-01T12:00:00.000000Z")
    >>> describe_time_ahead("2027-03-01T12:00:00.000000Z", now)
    'the last record is from 2027-03-01 12:00:00Z, 365 days ahead of the clock'
    """
    if not last or parse_time(last) - now <= MOST_AHEAD:
        return ""
    ahead = parse_time(last) - now
    by = f"{ahead.days} days" if ahead.days else f"{int(ahead.total_seconds() / 60)} minutes"
    return f"the last record is from {show_time(last)}, {by} ahead of the clock"


def parse_time(text: str) -> datetime:
    """Read what `format_time` writes; anything else is a ValueError."""
    if not _WRITTEN.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is not a time as Astra writes it")
    return datetime.fromisoformat(text)
