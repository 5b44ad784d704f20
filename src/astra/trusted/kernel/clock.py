"""Time as aware UTC from a clock that tests can set, and its one written form.

>>> format_time(parse_time("2026-03-01T12:00:00.000001Z"))
'2026-03-01T12:00:00.000001Z'
"""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime: ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


def format_time(moment: datetime) -> str:
    """Write a moment in 27 characters, so that written times sort as text."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def parse_time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
