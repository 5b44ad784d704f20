"""What to do with a schedule that is due: run it, let it wait, or say why not. Nothing is run here.

A plan is the events that say so, with the version of the schedule they were decided on. Appending
them claims the firing; whoever comes second is told so by the ledger and forgets its plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from astra.schedules import events, model, views
from astra.schedules.model import MOST_QUEUED, Due, Firing, Kind, Overlap, Schedule, State
from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.timekeeping import last_acceptance


@dataclass(frozen=True, kw_only=True)
class Plan:
    schedule: Schedule
    events: Sequence[Event]
    run: Firing | None = None
    cancel: tuple[str, ...] = ()


def plan_due_schedule(
    ledger: Ledger, schedule: Schedule, now: datetime, closed: str, *, busy: bool
) -> Plan:
    """Decide about a schedule whose next run has come.

    `closed` says why nothing may run, `busy` whether an earlier firing is open. Opening one moves
    the schedule's version, so a plan made on an old answer cannot be claimed.
    """
    due_firings = model.find_due_firings(schedule, now)
    next_run = format_time(schedule.next_after(now))
    before = _make_missed_events(schedule, due_firings, next_run)
    if due_firings.fire_time is None:
        return Plan(schedule=schedule, events=before)
    accepted = last_acceptance(ledger)
    firing = make_firing(schedule, due_firings.fire_time, due_firings.kind, accepted=accepted)
    if busy and not closed and (earlier := views.open_firings(ledger, schedule.id)):
        plan = _plan_overlap(schedule, firing, next_run, earlier)
    else:
        plan = _for_firing(ledger, schedule, firing, next_run, closed)
    return replace(plan, events=[*before, *plan.events])


def make_firing(schedule: Schedule, fire_time: datetime, kind: Kind, *, accepted: int) -> Firing:
    """Make a firing; `accepted` is where the operator last accepted the clock."""
    moment = format_time(fire_time)
    name = model.firing_id(schedule.id, moment, kind, accepted=accepted)
    return Firing(
        id=random_id("fir") if kind is Kind.MANUAL else name,
        schedule=schedule.id,
        fire_time=moment,
        kind=kind,
        state=State.RUNNING,
        attempt=1,
        due=None,
        reason="",
        correlation=random_id("cor"),
    )


def dependencies_met(ledger: Ledger, schedule: Schedule, firing: Firing) -> bool | None:
    """Tell whether everything this firing comes after has succeeded; None: it may still.

    The window of a firing reaches from the schedule's firing before it up to the firing itself.
    """
    fire_time = parse_time(firing.fire_time)
    before = schedule.definition.calendar.at_or_before(fire_time - timedelta(microseconds=1))
    start = format_time(before) if before else ""
    answers = [
        _has_succeeded(ledger, after, start, firing.fire_time)
        for after in schedule.definition.after
    ]
    if False in answers:
        return False
    return None if None in answers else True


def _make_missed_events(schedule: Schedule, found: Due, next_run: str) -> list[Event]:
    if not found.missed:
        return []
    missed_event = events.missed(schedule, found, next_run)
    text = f"{found.missed} firings of {schedule.definition.name} were missed"
    notice = events.noticed(
        schedule.id,
        kind="missed",
        text=text,
        correlation=missed_event.correlation,
        count=found.missed,
    )
    return [missed_event, notice]


def _for_firing(
    ledger: Ledger, schedule: Schedule, firing: Firing, next_run: str, closed: str
) -> Plan:
    tool = schedule.definition.target_tool
    if closed:
        skip = events.skipped(firing, tool, next_run, reason=closed, detail="nothing may run now")
        return Plan(schedule=schedule, events=[skip])
    if schedule.definition.after:
        return _plan_dependent(ledger, schedule, firing, next_run)
    return Plan(schedule=schedule, events=[events.claimed(firing, tool, next_run)], run=firing)


def _plan_overlap(
    schedule: Schedule, firing: Firing, next_run: str, earlier: Sequence[Firing]
) -> Plan:
    tool, overlap = schedule.definition.target_tool, schedule.definition.overlap
    if overlap == Overlap.SKIP or (overlap == Overlap.QUEUE and len(earlier) > MOST_QUEUED):
        detail = f"the firing of {earlier[0].fire_time} is still {earlier[0].state}"
        skip = events.skipped(firing, tool, next_run, reason="overlap", detail=detail)
        return Plan(schedule=schedule, events=[skip])
    queued = replace(firing, state=State.QUEUED, reason="overlap")
    if overlap == Overlap.QUEUE:
        return Plan(schedule=schedule, events=[events.held(queued, tool, next_run)])
    cancelled = [
        events.closed(
            earlier_firing, outcome=State.CANCELLED, reason="overlap", detail="the next one came"
        )
        for earlier_firing in earlier
    ]
    running = tuple(
        earlier_firing.id for earlier_firing in earlier if earlier_firing.state == State.RUNNING
    )
    if running:
        held_event = events.held(queued, tool, next_run)
        return Plan(schedule=schedule, events=[*cancelled, held_event], cancel=running)
    claim = events.claimed(firing, tool, next_run)
    return Plan(schedule=schedule, events=[*cancelled, claim], run=firing)


def _plan_dependent(ledger: Ledger, schedule: Schedule, firing: Firing, next_run: str) -> Plan:
    tool = schedule.definition.target_tool
    dependencies = dependencies_met(ledger, schedule, firing)
    if dependencies:
        return Plan(schedule=schedule, events=[events.claimed(firing, tool, next_run)], run=firing)
    if dependencies is None:
        waiting_firing = replace(firing, state=State.WAITING, due=next_run, reason="dependency")
        return Plan(schedule=schedule, events=[events.held(waiting_firing, tool, next_run)])
    detail = f"{' or '.join(schedule.definition.after)} did not succeed in its window"
    skip = events.skipped(firing, tool, next_run, reason="dependency", detail=detail)
    return Plan(schedule=schedule, events=[skip])


def _has_succeeded(ledger: Ledger, schedule_id: str, start: str, end: str) -> bool | None:
    firings = views.list_firings_between(ledger, schedule_id, start, end)
    states = {firing.state for firing in firings}
    if State.SUCCEEDED in states:
        return True
    if states & set(model.OPEN):
        return None
    schedule = views.schedule(ledger, schedule_id)
    is_coming = schedule is not None and schedule.next_run is not None and schedule.next_run <= end
    return None if is_coming else False
