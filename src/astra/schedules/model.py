"""What a schedule is, and every decision about it that needs no world: pure functions of values.

A firing is one instant at which a schedule was to run. It is in one state at a time:

    (due) ──► running ──► succeeded | failed | skipped | interrupted | cancelled
      │          └──► retrying ──► running …
      ├──► queued (the one before still runs) ──► running | cancelled
      ├──► waiting (for what it depends on) ──► running | skipped
      └──► skipped, or counted as missed

Open firings are running, retrying, queued or waiting; the others are closed and stay so.
"""

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from astra.schedules import cron
from astra.schedules.cron import Calendar
from astra.trusted.kernel import canonical, ids
from astra.trusted.kernel.clock import format_time, parse_time

GRACE = timedelta(seconds=60)
MOST_COUNTED = 10_000
MOST_QUEUED = 100
LONGEST_BACKOFF = timedelta(days=1)
DELETED = "deleted"
RATED, FEWEST_RATED = 10, 5
"""By how many of the newest firings a success rate is judged, and the fewest it takes."""


class State(StrEnum):
    RUNNING = "running"
    RETRYING = "retrying"
    QUEUED = "queued"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    MISSED = "missed"


OPEN = (State.RUNNING, State.RETRYING, State.QUEUED, State.WAITING)


class Overlap(StrEnum):
    SKIP = "skip"
    QUEUE = "queue"
    CANCEL_PREVIOUS = "cancel-previous"


class Kind(StrEnum):
    """Why a firing exists."""

    CRON = "cron"
    CATCH_UP = "catch_up"
    MANUAL = "manual"
    BACKFILL = "backfill"


@dataclass(frozen=True, kw_only=True)
class Definition:
    """What somebody asked for. The first five fields are the schedule's identity."""

    name: str
    cron_expression: str
    timezone: str
    target_tool: str
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    safety_tier: int = 0
    per_day_budget: int = 4
    overlap: str = Overlap.SKIP
    catch_up_seconds: int = 3600
    attempts: int = 1
    backoff_seconds: int = 60
    jitter_seconds: int = 0
    after: tuple[str, ...] = ()
    slow_after: int = 0
    slow_below: int = 0
    """The success rate in per cent below which it slows down; 0: never."""
    slowest: int = 1

    @property
    def calendar(self) -> Calendar:
        return cron.parse(self.cron_expression, self.timezone)

    @functools.cached_property
    def content(self) -> str:
        """Write down what makes this schedule this one; the same content is the same schedule."""
        identity = {
            "name": self.name,
            "cron_expression": self.cron_expression,
            "timezone": self.timezone,
            "target_tool": self.target_tool,
            "payload": dict(self.payload),
        }
        return canonical.encode(identity).decode()

    @functools.cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.content.encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in _FIELDS}
        return {**fields, "payload": dict(self.payload), "after": list(self.after)}

    @staticmethod
    def read(data: Mapping[str, Any]) -> "Definition":
        fields: dict[str, Any] = {name: value for name, value in data.items() if name in _FIELDS}
        fields["after"] = tuple(fields.get("after", ()))
        return Definition(**fields)


_MOMENT = timedelta(microseconds=1)
_FIELDS = tuple(each.name for each in fields(Definition))


@dataclass(frozen=True, kw_only=True)
class Schedule:
    id: str
    definition: Definition
    state: str
    next_run: str | None
    version: int
    created_at: str
    modified: bool = False
    factor: int = 1
    failures: int = 0

    @property
    def paused(self) -> bool:
        return self.state == "paused"

    @property
    def deleted(self) -> bool:
        return self.state == DELETED

    @property
    def etag(self) -> str:
        """A short name for what people decide about it: what runs, when, and whether it is held."""
        content = {**self.definition.as_dict(), "state": self.state}
        return hashlib.sha256(canonical.encode(content)).hexdigest()[:16]

    def next_after(self, moment: datetime, *, factor: int | None = None) -> datetime:
        """Give the next firing; slowed down, only every n-th counts."""
        following = moment
        for _ in range(factor or self.factor):
            following = self.definition.calendar.after(following)
        return following

    def upcoming(self, now: datetime, count: int) -> list[datetime]:
        """Give the next few firings as it stands now, slowed down or not."""
        moment = max(now, parse_time(self.next_run) - _MOMENT) if self.next_run else now
        return self.definition.calendar.upcoming(moment, count * self.factor)[:: self.factor]


@dataclass(frozen=True, kw_only=True)
class Firing:
    id: str
    schedule: str
    fire_time: str
    kind: str
    state: str
    attempt: int
    due: str | None
    reason: str
    correlation: str


@dataclass(frozen=True, kw_only=True)
class Due:
    """What is to happen now: one firing or none, and what was missed before it."""

    fire_time: datetime | None
    kind: Kind
    missed: int
    first_missed: datetime | None
    last_missed: datetime | None
    all_counted: bool


def find_due_firings(schedule: Schedule, now: datetime) -> Due:
    """Look at everything between the next run and now: the last may run, the rest is counted.

    The last runs if it is not older than the catch-up window (and never less than a minute, which
    is lateness and not downtime).
    """
    calendar, definition = schedule.definition.calendar, schedule.definition
    first = parse_time(schedule.next_run or format_time(now))
    if now - first < GRACE and calendar.after(first) > now:
        return Due(
            fire_time=first,
            kind=Kind.CRON,
            missed=0,
            first_missed=None,
            last_missed=None,
            all_counted=True,
        )
    last = max(calendar.at_or_before(now) or first, first)
    window = max(timedelta(seconds=definition.catch_up_seconds), GRACE)
    runs = now - last <= window
    until = last - timedelta(microseconds=1) if runs else last
    before = [first] if first <= until else []
    before += calendar.list_between(first, until, most=MOST_COUNTED)
    late = bool(before) or now - last >= GRACE
    return Due(
        fire_time=last if runs else None,
        kind=Kind.CATCH_UP if late else Kind.CRON,
        missed=len(before),
        first_missed=before[0] if before else None,
        last_missed=before[-1] if before else None,
        all_counted=len(before) <= MOST_COUNTED,
    )


def firing_id(schedule_id: str, fire_time: str, kind: Kind, *, accepted: int = 0) -> str:
    """Name a firing: the same schedule and instant is the same firing, caught up or on time.

    An instant comes twice where time went back; `accepted` is the record that let it.
    """
    family = Kind.CRON if kind is Kind.CATCH_UP else kind
    again = f"\n{accepted}" if accepted else ""
    return ids.id_from_content("fir", f"{schedule_id}\n{family}\n{fire_time}{again}", digits=16)


def retry_at(definition: Definition, firing: Firing, now: datetime) -> datetime | None:
    """Give the time of the next attempt, or nothing when there is none left.

    The pause doubles from attempt to attempt. Jitter comes out of the firing's own name, so that
    many schedules spread out and a test can still tell the time.
    """
    if firing.attempt >= definition.attempts:
        return None
    pause = timedelta(seconds=definition.backoff_seconds) * 2 ** (firing.attempt - 1)
    share = int(ids.id_from_content("fir", firing.id, str(firing.attempt))[4:], 16) / 0xFFFFFFFF
    jitter = timedelta(seconds=round(definition.jitter_seconds * share, 3))
    return now + min(pause, LONGEST_BACKOFF) + jitter


def is_unreliable(definition: Definition, successes: int, runs: int) -> bool:
    """Tell whether too few of the newest firings succeeded.

    >>> hourly = Definition(
    ...     name="a", cron_expression="@hourly", timezone="UTC", target_tool="t", slow_below=50
    ... )
    >>> is_unreliable(hourly, 2, 5), is_unreliable(hourly, 3, 6), is_unreliable(hourly, 0, 4)
    (True, False, False)
    """
    return runs >= FEWEST_RATED and successes * 100 < definition.slow_below * runs


def cadence(schedule: Schedule, *, succeeded: bool, unreliable: bool = False) -> int:
    """Give how many firings apart the next ones are: twice as far after repeated failure.

    One that fails too often does not come back to its pace by one success.
    """
    definition = schedule.definition
    if unreliable:
        slower = min(schedule.factor * 2, max(definition.slowest, 1))
        return schedule.factor if succeeded else slower
    if definition.slow_after < 1 or succeeded:
        return 1
    if schedule.failures and schedule.failures % definition.slow_after == 0:
        return min(schedule.factor * 2, max(definition.slowest, 1))
    return schedule.factor


def reaches(graph: Mapping[str, tuple[str, ...]], start: tuple[str, ...], goal: str) -> bool:
    """Tell whether following dependencies from `start` leads to `goal`."""
    visited: set[str] = set()
    stack = list(start)
    while stack:
        node = stack.pop()
        if node == goal:
            return True
        if node not in visited:
            visited.add(node)
            stack += graph.get(node, ())
    return False
