"""Spans of time as the command line says them, in words.

>>> now = datetime(2026, 3, 1, 12, tzinfo=UTC)
>>> describe_age("2026-03-01T11:57:30.000000Z", now=now)
'for 2 minutes'
>>> describe_left("2026-03-01T11:59:00.000000Z", now=now)
'its time is over'
"""

from datetime import UTC, datetime, timedelta

from astra.trusted.kernel.clock import parse_time

_STEPS = (
    (timedelta(days=2), timedelta(days=1), "day"),
    (timedelta(hours=2), timedelta(hours=1), "hour"),
    (timedelta(minutes=1), timedelta(minutes=1), "minute"),
)


def describe_age(since: str, *, now: datetime | None = None) -> str:
    """Say how long something lasts; a moment ahead of this clock is now."""
    return f"for {describe_span((now or datetime.now(UTC)) - parse_time(since))}"


def describe_left(until: str, *, now: datetime | None = None) -> str:
    """Say how long something has left."""
    time_left = parse_time(until) - (now or datetime.now(UTC))
    return f"{describe_span(time_left)} left" if time_left > timedelta() else "its time is over"


def describe_span(span: timedelta) -> str:
    for least, unit, name in _STEPS:
        if span >= least:
            count = span // unit
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "less than a minute"
