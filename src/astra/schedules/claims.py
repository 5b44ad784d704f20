"""Claiming: a firing belongs to whoever appends its claim first, before anything happens."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from astra.schedules import events
from astra.schedules.model import Firing, Schedule
from astra.schedules.planning import Plan
from astra.schedules.service import Timetable
from astra.trusted.kernel.errors import DuplicateKey, StaleVersion
from astra.trusted.ledger.ports import Ledger

_TRIES = 20


@dataclass(frozen=True)
class Claims:
    ledger: Ledger
    timetable: Timetable

    def claim(self, plans: Sequence[Plan]) -> list[Plan]:
        """Append plans, together if possible; those that lost against somebody are dropped."""
        try:
            self.ledger.append(
                [event for plan in plans for event in plan.events],
                expect={plan.schedule.id: plan.schedule.version for plan in plans},
            )
        except (StaleVersion, DuplicateKey) as lost:
            if len(plans) > 1:
                return [plan for single_plan in plans for plan in self.claim([single_plan])]
            if isinstance(lost, DuplicateKey):
                self._move_on(plans[0].schedule)
            return []
        return list(plans)

    def _move_on(self, schedule: Schedule) -> None:
        """Point a schedule behind a firing that has happened already."""
        next_run = self.timetable.next_run(schedule)
        event = events.adjusted(schedule, schedule.factor, next_run, why="that firing has happened")
        with contextlib.suppress(StaleVersion):
            self.ledger.append([event], expect={schedule.id: schedule.version})

    def claim_again(self, firing: Firing) -> Schedule | None:
        """Claim an attempt at a firing that exists; None: somebody else has it."""
        for _ in range(_TRIES):
            schedule = self.timetable.get(firing.schedule)
            event = events.claimed(firing, schedule.definition.target_tool, None)
            try:
                self.ledger.append([event], expect={schedule.id: schedule.version})
            except StaleVersion:
                continue
            except DuplicateKey:
                return None
            return schedule
        return None
