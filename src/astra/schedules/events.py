"""What is recorded about schedules. Events that move `next_run` advance the schedule's version."""

from collections.abc import Sequence
from typing import Any

from astra.schedules.model import Definition, Due, Firing, Schedule
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.record import Event

CREATED, MODIFIED = "schedule_created", "schedule_modified"
PAUSED, RESUMED = "schedule_paused", "schedule_resumed"
DELETED = "schedule_deleted"
CLAIMED, CLOSED = "schedule_firing_claimed", "schedule_firing_closed"
SKIPPED, HELD = "schedule_firing_skipped", "schedule_firing_held"
RETRIED, MISSED = "schedule_firing_retried", "schedule_firings_missed"
GAVE_UP, ADJUSTED = "schedule_gave_up", "schedule_cadence_adjusted"
NOTICED = "schedule_notice_raised"
JOBS_SET_ASIDE = "job_database_set_aside"
DAEMON = "daemon"


def jobs_set_aside(file: str, why: str) -> Event:
    """Say that the engine's database could not be used, and where it is now."""
    return Event(type=JOBS_SET_ASIDE, actor=DAEMON, data={"file": file, "reason": why})


def created(
    identifier: str, definition: Definition, next_run: str, *, actor: str, deleted: int = 0
) -> Event:
    """Make a schedule: each content once, and once more for each time it was deleted."""
    digest = definition.digest
    key = f"schedule:{digest}:{deleted}" if deleted else f"schedule:{digest}"
    data = {**definition.as_dict(), "digest": digest, "next_run": next_run}
    return Event(type=CREATED, actor=actor, data=data, subject=identifier, key=key)


def modified(
    schedule: Schedule, definition: Definition, next_run: str | None, *, actor: str
) -> Event:
    data = {**definition.as_dict(), "next_run": next_run}
    return Event(type=MODIFIED, actor=actor, data=data, subject=schedule.id)


def paused(schedule: Schedule, *, actor: str) -> Event:
    return Event(type=PAUSED, actor=actor, data={"next_run": None}, subject=schedule.id)


def resumed(schedule: Schedule, next_run: str, *, actor: str) -> Event:
    return Event(type=RESUMED, actor=actor, data={"next_run": next_run}, subject=schedule.id)


def deleted(schedule: Schedule, *, actor: str) -> Event:
    data = {"name": schedule.definition.name, "next_run": None}
    return Event(type=DELETED, actor=actor, data=data, subject=schedule.id)


def claimed(firing: Firing, tool: str, next_run: str | None, *, actor: str = DAEMON) -> Event:
    """Claim an attempt at a firing: whoever appends this first, and nobody else, runs it."""
    return Event(
        type=CLAIMED,
        actor=actor,
        data={**_describe_firing(firing), "tool": tool, "next_run": next_run},
        correlation=firing.correlation,
        subject=firing.schedule,
        key=f"firing:{firing.id}:{firing.attempt}",
    )


def held(firing: Firing, tool: str, next_run: str | None) -> Event:
    """Let a firing wait: queued behind the one before, or for what it depends on."""
    data = {**_describe_firing(firing), "tool": tool, "next_run": next_run}
    data |= {"state": firing.state, "due": firing.due, "reason": firing.reason}
    return Event(
        type=HELD,
        actor=DAEMON,
        data=data,
        correlation=firing.correlation,
        subject=firing.schedule,
        key=f"firing:{firing.id}:held",
    )


def skipped(firing: Firing, tool: str, next_run: str | None, *, reason: str, detail: str) -> Event:
    """Say that a firing does not happen, and why; it can never be claimed after that."""
    data = {**_describe_firing(firing), "tool": tool, "next_run": next_run}
    return Event(
        type=SKIPPED,
        actor=DAEMON,
        data={**data, "reason": reason, "detail": detail},
        correlation=firing.correlation,
        subject=firing.schedule,
        key=f"firing:{firing.id}:1",
    )


def missed(schedule: Schedule, due: Due, next_run: str | None) -> Event:
    """Count the firings that passed while nobody was there to run them."""
    assert due.first_missed  # noqa: S101 - only called where some were missed
    assert due.last_missed  # noqa: S101 - as above
    data = {
        "firing": random_id("fir"),
        "schedule": schedule.id,
        "tool": schedule.definition.target_tool,
        "count": due.missed,
        "all_counted": due.all_counted,
        "first": format_time(due.first_missed),
        "last": format_time(due.last_missed),
        "next_run": next_run,
        "reason": "downtime",
    }
    return Event(type=MISSED, actor=DAEMON, data=data, subject=schedule.id)


def closed(
    firing: Firing,
    *,
    outcome: str,
    reason: str,
    detail: str = "",
    milliseconds: float = 0.0,
    about: Sequence[str] = (),
) -> Event:
    """End a firing. It does not touch `next_run`, so it competes with nothing."""
    data = {
        **_describe_firing(firing),
        "outcome": outcome,
        "reason": reason,
        "detail": detail[:500],
        "milliseconds": round(milliseconds, 3),
        **({"about": list(about)} if about else {}),
    }
    return Event(
        type=CLOSED,
        actor=DAEMON,
        data=data,
        correlation=firing.correlation,
        key=f"closed:{firing.id}",
    )


def retried(firing: Firing, *, due: str, reason: str, detail: str, milliseconds: float) -> Event:
    data = {**_describe_firing(firing), "due": due, "reason": reason, "detail": detail[:500]}
    return Event(
        type=RETRIED,
        actor=DAEMON,
        data={**data, "milliseconds": round(milliseconds, 3)},
        correlation=firing.correlation,
        key=f"retried:{firing.id}:{firing.attempt}",
    )


def gave_up(firing: Firing, *, reason: str) -> Event:
    return Event(
        type=GAVE_UP,
        actor=DAEMON,
        data={**_describe_firing(firing), "reason": reason},
        correlation=firing.correlation,
    )


def adjusted(schedule: Schedule, factor: int, next_run: str | None, *, why: str) -> Event:
    data = {"factor": factor, "before": schedule.factor, "next_run": next_run, "reason": why}
    return Event(type=ADJUSTED, actor=DAEMON, data=data, subject=schedule.id)


def noticed(schedule_id: str, *, kind: str, text: str, correlation: str, **facts: Any) -> Event:
    """Tell people: the awareness feed and notifications read these."""
    data = {"schedule": schedule_id, "kind": kind, "text": text, **facts}
    return Event(type=NOTICED, actor=DAEMON, data=data, correlation=correlation)


def _describe_firing(firing: Firing) -> dict[str, Any]:
    return {
        "firing": firing.id,
        "schedule": firing.schedule,
        "fire_time": firing.fire_time,
        "kind": firing.kind,
        "attempt": firing.attempt,
    }
