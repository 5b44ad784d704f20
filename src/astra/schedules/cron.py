"""When a schedule fires: five cron fields in an IANA zone, to the exact instant.

The fields are read, and days matched, by `cronsim`; what the wall clock does to real time is worked
out here, as Debian's cron treats it:

- Minute and hour both fixed (`30 2 * * *`): each wall time once. What falls into a skipped stretch
  fires at its end; a repeated stretch fires the first time only.
- Otherwise (`*/10 * * * *`, `30 * * * *`): real time. Repeated hours repeat, skipped ones do not
  happen.

>>> from datetime import UTC, datetime
>>> nightly = parse("30 2 * * *", "Europe/Berlin")
>>> nightly.after(datetime(2026, 3, 28, 12, tzinfo=UTC)).isoformat()
'2026-03-29T01:00:00+00:00'
"""

import difflib
import functools
import itertools
import zoneinfo
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NoReturn

from cronsim import CronSim, CronSimError

from astra.trusted.kernel.errors import BadInput

FIELDS = ("minute", "hour", "day-of-month", "month", "day-of-week")
NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_LONGEST = 200
_LONGEST_GAP = 50  # years; the longest there is, a leap day on one weekday, is 40
_SECOND, _MINUTE, _DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=1)
_STRIDE = timedelta(days=5)  # no zone has changed its clock twice within so few days since 1970
_LOOK_BACK = tuple(timedelta(hours=hours) for hours in (2, 26, 32 * 24, 367 * 24, 4 * 366 * 24))
_EPOCH = datetime(2000, 1, 1)  # noqa: DTZ001 - wall time has no zone


class NeverFires(BadInput):
    code = "never_fires"


@dataclass(frozen=True)
class Calendar:
    """The instants of one expression in one zone."""

    expression: str
    zone: tzinfo
    _fields: CronSim = field(repr=False, compare=False)

    def after(self, moment: datetime) -> datetime:
        """Give the first firing behind a moment, in UTC."""
        return _cache_first_after(self, moment.astimezone(UTC))

    def upcoming(self, moment: datetime, count: int) -> list[datetime]:
        """Give the next few firings, in the schedule's own zone."""
        following = itertools.islice(self._all_after(moment), count)
        return [firing.astimezone(self.zone) for firing in following]

    def list_between(self, start: datetime, end: datetime, *, most: int) -> list[datetime]:
        """Give the firings behind `start` up to and including `end`, the first `most` of them."""
        following = itertools.takewhile(lambda firing: firing <= end, self._all_after(start))
        return list(itertools.islice(following, most))

    def at_or_before(self, moment: datetime) -> datetime | None:
        """Give the last firing that is not behind a moment; none in four years is none."""
        for distance in _LOOK_BACK:
            start = moment - distance
            if (firing := self.after(start)) <= moment:
                return self._find_last(firing, moment)
        return None

    def first_after(self, moment: datetime) -> datetime:
        return self._by_the_wall(moment) if self._has_fixed_time else self._by_real_time(moment)

    @functools.cached_property
    def _has_fixed_time(self) -> bool:
        minute, hour = self.expression.split()[:2]
        return not minute.startswith("*") and not hour.startswith("*")

    def _find_last(self, firing: datetime, moment: datetime) -> datetime:
        for following in self._all_after(firing):
            if following > moment:
                break
            firing = following
        return firing

    def _all_after(self, moment: datetime) -> Iterator[datetime]:
        while True:
            try:
                moment = self.after(moment)
            except NeverFires:
                return
            yield moment

    def _by_the_wall(self, moment: datetime) -> datetime:
        wall = self._to_wall_time(moment)
        while True:
            wall = self._next_wall(wall)
            if (real := self._to_instant(wall)) > moment:
                return real

    def _by_real_time(self, moment: datetime) -> datetime:
        """Go from stretch to stretch in which the zone's offset stays the same."""
        wall = self._to_wall_time(moment)
        while True:
            offset = self._read_offset(moment)
            candidate = (self._next_wall(wall) - offset).replace(tzinfo=UTC)
            change = self._next_change(moment, candidate)
            if change is None:
                return candidate
            moment, wall = change, self._to_wall_time(change) - _SECOND

    def _next_wall(self, wall: datetime) -> datetime:
        """Give the first wall time behind one that all five fields agree with."""
        start = wall.replace(second=0, microsecond=0) + _MINUTE
        if (next_time := self._on_day(start.date(), start.time())) is not None:
            return next_time
        day, last = start.date(), start.year + _LONGEST_GAP
        while (day := self._next_day(day)).year <= last:
            if (next_time := self._on_day(day, time.min)) is not None:
                return next_time
        raise NeverFires(
            f"cron_expression: day-of-month: {self.expression!r} never comes",
            next_step="name a day that its months have",
            field="day-of-month",
        )

    def _on_day(self, day: date, earliest: time) -> datetime | None:
        """Give the first wall time of a day that is not before `earliest`."""
        if day.month not in self._fields.months or not self._fields.match_day(day):
            return None
        for hour in self._sorted_hours:
            first = earliest.minute if hour == earliest.hour else 0
            if hour >= earliest.hour:
                for minute in self._sorted_minutes[bisect_left(self._sorted_minutes, first) :]:
                    return datetime.combine(day, time(hour, minute))
        return None

    def _next_day(self, day: date) -> date:
        """Go on by a day, or to the next month where this one does not count."""
        if day.month in self._fields.months:
            return day + _DAY
        return (day.replace(day=1) + 32 * _DAY).replace(day=1)

    @functools.cached_property
    def _sorted_hours(self) -> list[int]:
        return sorted(self._fields.hours)

    @functools.cached_property
    def _sorted_minutes(self) -> list[int]:
        return sorted(self._fields.minutes)

    def _to_instant(self, wall: datetime) -> datetime:
        """Give the instant of a wall time: the first of two, or the end of the gap it is in."""
        real = wall.replace(tzinfo=self.zone).astimezone(UTC)
        if self._to_wall_time(real) == wall:
            return real
        return self._next_change(real - timedelta(days=2), real) or real

    def _to_wall_time(self, moment: datetime) -> datetime:
        return moment.astimezone(self.zone).replace(tzinfo=None, fold=0)

    def _read_offset(self, moment: datetime) -> timedelta:
        return moment.astimezone(self.zone).utcoffset() or timedelta(0)

    def _next_change(self, start: datetime, end: datetime) -> datetime | None:
        """Give the first instant behind `start`, up to `end`, at which the offset is another."""
        offset, before = self._read_offset(start), start
        while before < end:
            behind = min(before + _STRIDE, end)
            if self._read_offset(behind) != offset:
                return self._bisect_change(before, behind, offset)
            before = behind
        return None

    def _bisect_change(self, before: datetime, behind: datetime, offset: timedelta) -> datetime:
        low, high = int(before.timestamp()), int(behind.timestamp())
        while high - low > 1:
            middle = (low + high) // 2
            if self._read_offset(datetime.fromtimestamp(middle, UTC)) == offset:
                low = middle
            else:
                high = middle
        return datetime.fromtimestamp(high, UTC)


@functools.lru_cache(maxsize=4096)
def _cache_first_after(calendar: Calendar, moment: datetime) -> datetime:
    """Remember a little: what falls due at one instant asks the same question."""
    return calendar.first_after(moment)


@functools.lru_cache(maxsize=4096)
def parse(expression: str, timezone: str) -> Calendar:
    """Read an expression and a zone; a refusal names the field at fault."""
    zone = _parse_zone(timezone)
    text = NICKNAMES.get(expression.strip().lower(), expression.strip())
    calendar = Calendar(text, zone, _parse_fields(text))
    calendar.after(datetime(2026, 1, 1, tzinfo=UTC))
    return calendar


def _parse_fields(text: str) -> CronSim:
    fields = text.split()
    if text.startswith("@"):
        _refuse_field("nickname", text, f"one of {', '.join(NICKNAMES)}")
    if len(fields) != len(FIELDS) or len(text) > _LONGEST:
        _refuse_field("fields", text, f"five fields: {' '.join(FIELDS)}")
    for position, name in enumerate(FIELDS):
        alone = ["*"] * len(FIELDS)
        alone[position] = fields[position]
        try:
            CronSim(" ".join(alone), _EPOCH)
        except (CronSimError, AssertionError, ValueError, IndexError):
            _refuse_field(name, fields[position], _describe_accepted(name))
    try:
        return CronSim(text, _EPOCH)
    except (CronSimError, AssertionError, ValueError):
        _refuse_field("day-of-month", text, "a day that its months have")


def _describe_accepted(name: str) -> str:
    ranges = {
        "minute": "0-59",
        "hour": "0-23",
        "day-of-month": "1-31, L or LW",
        "month": "1-12 or JAN-DEC",
        "day-of-week": "0-7 or SUN-SAT (0 and 7 are Sunday)",
    }
    return f"{ranges[name]}, with * , - and /"


def _refuse_field(name: str, given: str, accepted: str) -> NoReturn:
    raise BadInput(
        f"cron_expression: {name}: {given[:_LONGEST]!r} is not understood",
        code="bad_cron",
        next_step=f"accepted: {accepted}",
        field=name,
    )


def _parse_zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    if name not in _list_zones():
        close = difflib.get_close_matches(name[:60], _list_zones(), n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else "an IANA name: Europe/Berlin"
        raise BadInput(
            f"timezone: {name[:60]!r} is no IANA time zone",
            code="bad_timezone",
            next_step=hint,
            field="timezone",
        )
    return zoneinfo.ZoneInfo(name)


@functools.cache
def _list_zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())
