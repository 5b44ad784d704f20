"""The timetable: create, modify, pause, resume, delete, list and show schedules.

A schedule is named by its content, so creating it again gives the one that is there. The declared
tier can be higher than the tool's own, never lower; both are checked again when it fires. What was
deleted runs no more and is not listed; its history stays, and the same content may be made anew.
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from astra.operations.caps import ACTIVE_SCHEDULES, SCHEDULE_PAYLOAD_BYTES
from astra.schedules import events, views
from astra.schedules.model import Definition, Overlap, Schedule, reaches
from astra.schedules.ports import Catalogue, ToolFacts
from astra.trusted.approvals.desk import Desk
from astra.trusted.kernel import canonical
from astra.trusted.kernel.clock import Clock, format_time, parse_time
from astra.trusted.kernel.errors import (
    AstraError,
    BadInput,
    Conflict,
    DuplicateKey,
    LedgerError,
    NotFound,
    Refused,
    StaleVersion,
)
from astra.trusted.kernel.ids import id_from_content, random_id
from astra.trusted.ledger import unseen
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.timekeeping import last_acceptance
from astra.trusted.policy import contract, payload
from astra.trusted.policy.call import Tier

_TRIES = 20
_MOST_FIRINGS = 500
"""The most firings a day that a schedule may ask for, signed or not."""
_BOUNDS = {
    "safety_tier": (0, 2),
    "per_day_budget": (1, _MOST_FIRINGS),
    "catch_up_seconds": (0, 31 * 86400),
    "attempts": (1, 20),
    "backoff_seconds": (1, 86400),
    "jitter_seconds": (0, 3600),
    "slow_after": (0, 100),
    "slow_below": (0, 100),
    "slowest": (1, 64),
}
_IDENTITY = frozenset({"target_tool", "payload", "safety_tier"})


@dataclass(frozen=True)
class Timetable:
    ledger: Ledger
    clock: Clock
    catalogue: Catalogue
    approvals: Desk

    def create(self, definition: Definition, *, actor: str) -> tuple[Schedule, bool]:
        """Make a schedule, or give the one with the same content; says whether it is new."""
        definition = self._check_definition(definition, None)
        next_run = format_time(definition.calendar.after(self.clock.now()))
        taken_ids: set[str] = set()
        while True:
            identifier = id_from_content("sch", definition.content, taken=taken_ids.__contains__)
            deleted = views.last_deletion(self.ledger, definition.digest)
            event = events.created(identifier, definition, next_run, actor=actor, deleted=deleted)
            try:
                (record,) = self.ledger.append([event], expect={identifier: 0})
            except (StaleVersion, DuplicateKey):
                if existing := views.find_by_digest(self.ledger, definition.digest):
                    return existing, False
                taken_ids.add(identifier)
            else:
                return _make_schedule(identifier, definition, next_run, record.time), True

    def refuse_flood(self, definition: Definition | None = None) -> None:
        """Keep the timetable small enough to read; a definition that is there already is no more.

        The operator's own are counted too: what is due is due for one machine.
        """
        if definition and views.find_by_digest(self.ledger, definition.digest):
            return
        if views.count_active(self.ledger, most=ACTIVE_SCHEDULES.most) >= ACTIVE_SCHEDULES.most:
            raise ACTIVE_SCHEDULES.build_error()

    def modify(
        self, identifier: str, changes: Mapping[str, Any], *, actor: str, seen: str | None = None
    ) -> Schedule:
        """Change fields of a schedule; its id stays. `seen` is the tag of what was looked at."""
        for _ in range(_TRIES):
            schedule = self.get_kept(identifier)
            self._refuse_if_changed(schedule, seen)
            definition = self._check_definition(
                _merge_changes(schedule.definition, changes), schedule
            )
            if definition == schedule.definition:
                return schedule
            modified = replace(schedule, definition=definition)
            next_run = None if schedule.paused else self.next_run(modified)
            event = events.modified(schedule, definition, next_run, actor=actor)
            if self._append_if_current(schedule, event):
                if _IDENTITY & changes.keys():
                    self._withdraw_approvals(identifier)
                return self.get(identifier)
        raise _make_busy_conflict(identifier)

    def describe_loosening(self, changes: Mapping[str, Any], identifier: str | None = None) -> str:
        """Say how a new or modified schedule would go beyond the signed ceiling, or nothing.

        Reading is free, so a budget counts where the schedule has an effect. What is not raised
        may stay as it is.
        """
        before = self.get(identifier).definition if identifier else None
        definition = _merge_changes(before, changes) if before else Definition.read(changes)
        ceiling = contract.read_configuration(self.ledger).budgets.schedule_per_day
        if definition.safety_tier == Tier.READ or definition.per_day_budget <= ceiling:
            return ""
        if before and before.safety_tier != Tier.READ:
            if definition.per_day_budget <= before.per_day_budget:
                return ""
            budget_change = (
                f"raises the budget from {before.per_day_budget} to {definition.per_day_budget}"
            )
        else:
            budget_change = f"sets a budget of {definition.per_day_budget}"
        return (
            f"{budget_change} firings a day, above the ceiling of {ceiling}"
            " ([budgets] schedule_per_day)"
        )

    def pause(self, identifier: str, *, actor: str) -> Schedule:
        for _ in range(_TRIES):
            schedule = self.get_kept(identifier)
            if schedule.paused or self._append_if_current(
                schedule, events.paused(schedule, actor=actor)
            ):
                return self.get(identifier)
        raise _make_busy_conflict(identifier)

    def resume(self, identifier: str, *, actor: str, seen: str | None = None) -> Schedule:
        """Let it run again from now on; what passed while it was paused is not made up for."""
        for _ in range(_TRIES):
            schedule = self.get_kept(identifier)
            self._refuse_if_changed(schedule, seen)
            if not schedule.paused:
                return schedule
            next_run = self.next_run(schedule)
            if self._append_if_current(schedule, events.resumed(schedule, next_run, actor=actor)):
                return self.get(identifier)
        raise _make_busy_conflict(identifier)

    def delete(self, identifier: str, *, actor: str) -> Schedule:
        """Take a schedule out of service for good; twice is once. The chain keeps all of it."""
        for _ in range(_TRIES):
            schedule = self.get(identifier)
            if schedule.deleted:
                return schedule
            self._refuse_if_needed(schedule)
            if self._append_if_current(schedule, events.deleted(schedule, actor=actor)):
                self._withdraw_approvals(identifier, "the schedule was deleted")
                return self.get(identifier)
        raise _make_busy_conflict(identifier)

    def get_kept(self, identifier: str) -> Schedule:
        """Give a schedule that was not deleted."""
        schedule = self.get(identifier)
        if schedule.deleted:
            raise Conflict(
                f"{identifier} was deleted",
                code="schedule_deleted",
                next_step="create it anew; astra schedules history shows what it did",
            )
        return schedule

    def get(self, identifier: str) -> Schedule:
        schedule = views.schedule(self.ledger, identifier)
        if schedule is None:
            raise NotFound(f"there is no schedule {identifier}", next_step="astra schedules list")
        return schedule

    def next_run(self, schedule: Schedule, *, factor: int | None = None) -> str:
        """Give the next firing behind now, and behind all that were: a clock can be set back."""
        fired = views.last_fired(self.ledger, schedule.id)
        moment = max(self.clock.now(), parse_time(fired)) if fired else self.clock.now()
        return format_time(schedule.next_after(moment, factor=factor))

    def arm_again(self, most: int) -> int:
        """Compute next runs anew that date from before the operator accepted the clock.

        What was due by then is due still. Says how many were looked at.
        """
        accepted = last_acceptance(self.ledger)
        now = format_time(self.clock.now())
        if not accepted:
            return 0
        schedules = views.armed_before(self.ledger, accepted, now=now, limit=most)
        if schedules:
            self._arm_schedules(schedules)
        return len(schedules)

    def _arm_schedules(self, schedules: Sequence[Schedule]) -> None:
        """Set next runs, together if possible; what moved meanwhile is found again."""
        armed = [
            (schedule, event)
            for schedule in schedules
            if (event := self._make_arming_event(schedule))
        ]
        expect = {schedule.id: schedule.version for schedule, _ in armed}
        try:
            self.ledger.append([event for _, event in armed], expect=expect)
        except StaleVersion:
            for schedule, event in armed:
                self._append_if_current(schedule, event)

    def _make_arming_event(self, schedule: Schedule) -> Event | None:
        why = "the clock was accepted"
        try:
            return events.adjusted(schedule, schedule.factor, self.next_run(schedule), why=why)
        except LedgerError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the others are armed
            self.set_aside(schedule, error)
            return None

    def set_aside(self, schedule: Schedule, error: Exception) -> None:
        """Pause a schedule whose next firing cannot be worked out, and tell people why."""
        error_text = error.detail if isinstance(error, AstraError) else type(error).__name__
        notice = events.noticed(
            schedule.id,
            kind="cannot_be_planned",
            text=f"{schedule.definition.name} is paused, its next firing is unknown: {error_text}",
            correlation=random_id("cor"),
            next_step=f"astra schedules modify {schedule.id}, then astra schedules resume",
        )
        batch = [events.paused(schedule, actor=events.DAEMON), notice]
        with contextlib.suppress(StaleVersion):  # it was modified meanwhile, and is looked at again
            self.ledger.append(batch, expect={schedule.id: schedule.version})

    def list_schedules(
        self, *, limit: int = 100, **filters: Any
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Give schedules by id, and the cursor of the next page."""
        schedules = views.schedules(self.ledger, **filters, limit=limit + 1)
        cursor = schedules[limit - 1].id if len(schedules) > limit else None
        return [self.describe_schedule(schedule) for schedule in schedules[:limit]], cursor

    def describe_schedule(
        self, schedule: Schedule, *, start: datetime | None = None
    ) -> dict[str, Any]:
        """Describe a schedule, with its next five firings, or those behind `start`."""
        upcoming = self._list_upcoming(schedule, start)
        return {
            "id": schedule.id,
            **schedule.definition.as_dict(),
            "state": schedule.state,
            "next_run": schedule.next_run,
            "next_runs": [firing.isoformat() for firing in upcoming],
            "created_at": schedule.created_at,
            "modified": schedule.modified,
            "every": schedule.factor,
            "failures": schedule.failures,
            "etag": schedule.etag,
        }

    def _list_upcoming(self, schedule: Schedule, start: datetime | None) -> list[datetime]:
        """Give the next firings; none where they cannot be worked out, so that it can be shown."""
        try:
            if start is None:
                return schedule.upcoming(self.clock.now(), 5)
            return schedule.definition.calendar.upcoming(start, 5)
        except (AstraError, ValueError, OverflowError):
            return []

    def history(self, **asked: Any) -> tuple[list[dict[str, Any]], int | None]:
        """Give firings, newest first: what ran, when, why it did not, how long."""
        if identifier := asked.get("schedule_id"):
            self.get(identifier)
        return views.tasks(self.ledger, **asked)

    def _check_definition(self, definition: Definition, schedule: Schedule | None) -> Definition:
        _check_values(definition)
        definition.calendar.after(self.clock.now())
        facts = self.catalogue.facts(definition.target_tool)
        _check_tool(definition, facts)
        self.catalogue.check(definition.target_tool, definition.payload)
        if len(canonical.encode(definition.payload)) > SCHEDULE_PAYLOAD_BYTES.most:
            raise SCHEDULE_PAYLOAD_BYTES.build_error()
        if definition.safety_tier == Tier.EXTERNAL:
            payload.refuse_unshowable(definition.payload)  # each firing will be signed by somebody
        self._check_dependencies(definition, schedule)
        if definition.target_tool == facts.name:
            return definition
        return replace(definition, target_tool=facts.name)

    def _check_dependencies(self, definition: Definition, schedule: Schedule | None) -> None:
        for after in definition.after:
            self.get_kept(after)
        if not schedule:
            return
        graph = {**views.dependencies(self.ledger), schedule.id: ()}
        if reaches(graph, definition.after, schedule.id):
            raise BadInput(
                f"after: {schedule.id} would wait for itself",
                code="dependency_cycle",
                next_step="leave out one of the dependencies",
                field="after",
            )

    def _refuse_if_changed(self, schedule: Schedule, seen: str | None) -> None:
        """Keep somebody from changing a schedule that is not the one they looked at."""
        if seen in {None, schedule.etag}:
            return
        record = views.last_change(self.ledger, schedule.id)
        raise unseen.unseen_change_error(schedule.id, record, now=self.describe_schedule(schedule))

    def _append_if_current(self, schedule: Schedule, event: Any) -> bool:
        try:
            self.ledger.append([event], expect={schedule.id: schedule.version})
        except StaleVersion:
            return False
        return True

    def _refuse_if_needed(self, schedule: Schedule) -> None:
        """Keep what others come after: they would wait for it for ever."""
        if dependents := views.dependents(self.ledger, schedule.id):
            raise Conflict(
                f"{', '.join(dependents[:5])} comes after {schedule.id}",
                code="schedule_needed",
                next_step=f"astra schedules delete {dependents[0]}, or modify its --after, first",
            )

    def _withdraw_approvals(self, identifier: str, why: str = "the schedule was modified") -> None:
        for state in ("pending", "approved"):
            for approval in self.approvals.list_by_state(state=state):
                if approval.kind == "schedule" and approval.subject_id == identifier:
                    self.approvals.go_stale(approval.id, why)


def _make_schedule(identifier: str, definition: Definition, next_run: str, time: str) -> Schedule:
    return Schedule(
        id=identifier,
        definition=definition,
        state="active",
        next_run=next_run,
        version=1,
        created_at=time,
    )


def _merge_changes(definition: Definition, changes: Mapping[str, Any]) -> Definition:
    new_fields = {name: value for name, value in changes.items() if value is not None}
    return Definition.read({**definition.as_dict(), **new_fields})


def _check_values(definition: Definition) -> None:
    for name, (low, high) in _BOUNDS.items():
        if not low <= getattr(definition, name) <= high:
            raise BadInput(
                f"{name}: {getattr(definition, name)} is not between {low} and {high}",
                next_step=f"give {name} such a value",
                field=name,
            )
    if definition.overlap not in set(Overlap):
        raise BadInput(
            f"overlap: {definition.overlap!r} is not understood",
            next_step=f"one of {', '.join(Overlap)}",
            field="overlap",
        )
    if not definition.name.strip():
        raise BadInput("name: it is empty", next_step="give it a name", field="name")


def _check_tool(definition: Definition, facts: ToolFacts) -> None:
    if facts.operator_only:
        raise Refused(
            f"{facts.name} is for operators; a schedule acts as the agent",
            code="operator_only",
            next_step="choose another tool",
        )
    if definition.safety_tier < facts.tier:
        raise Refused(
            f"safety_tier: {facts.name} is tier {facts.tier}, not {definition.safety_tier}",
            code="tier_too_low",
            next_step=f"declare tier {facts.tier}",
            field="safety_tier",
        )


def _make_busy_conflict(identifier: str) -> Conflict:
    return Conflict(f"{identifier} changes too often right now", next_step="try again")
