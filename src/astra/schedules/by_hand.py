"""Firings that people ask for: now, or once more for a stretch of the past.

They go through the same claim and the same gate as every other; only their time is the asker's.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from astra.schedules import events, planning, views
from astra.schedules.admission import Admission
from astra.schedules.model import Firing, Kind, Schedule, State
from astra.schedules.service import Timetable
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import BadInput, Conflict, DuplicateKey
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.timekeeping import last_acceptance

MOST_BACKFILLED = 100


@dataclass(frozen=True, kw_only=True)
class ByHand:
    ledger: Ledger
    clock: Clock
    timetable: Timetable
    admission: Admission
    closed: Callable[[], str]
    perform: Callable[[Sequence[tuple[Schedule, Firing]]], None]

    def run_now(self, identifier: str, *, actor: str) -> dict[str, Any]:
        """Fire a schedule at once, through the same gate, and say how it went."""
        self._refuse_if_closed()
        schedule = self._get_idle_schedule(identifier)
        firing = self._make_firing(schedule, self.clock.now(), Kind.MANUAL)
        return self._run_by_hand(schedule, firing, actor)

    def backfill(
        self, identifier: str, start: datetime, end: datetime, *, actor: str
    ) -> list[dict[str, Any]]:
        """Run what did not succeed from `start` up to `end`, oldest first, each firing once."""
        self._refuse_if_closed()
        schedule = self.timetable.get_kept(identifier)
        start, end = start - timedelta(microseconds=1), min(end, self.clock.now())
        moments = schedule.definition.calendar.list_between(start, end, most=MOST_BACKFILLED + 1)
        if len(moments) > MOST_BACKFILLED:
            raise BadInput(
                f"more than {MOST_BACKFILLED} firings lie between those times",
                next_step="ask for a shorter stretch",
            )
        past_firings = views.list_firings_between(
            self.ledger, identifier, format_time(start), format_time(end)
        )
        succeeded = {firing.fire_time for firing in past_firings if firing.state == State.SUCCEEDED}
        answers: list[dict[str, Any]] = []
        for moment in moments:
            if format_time(moment) not in succeeded:
                with contextlib.suppress(DuplicateKey):
                    firing = self._make_firing(schedule, moment, Kind.BACKFILL)
                    answers.append(
                        self._run_by_hand(self._get_idle_schedule(identifier), firing, actor)
                    )
        return answers

    def request_approval(self, identifier: str, *, actor: str) -> str:
        """Ask for the approval of a schedule's next firing; gives the approval's id."""
        schedule = self.timetable.get_kept(identifier)
        firing = self._make_firing(schedule, self.clock.now(), Kind.CRON)
        return self.admission.request(schedule, firing, actor=actor)

    def _make_firing(self, schedule: Schedule, moment: datetime, kind: Kind) -> Firing:
        return planning.make_firing(schedule, moment, kind, accepted=last_acceptance(self.ledger))

    def _run_by_hand(self, schedule: Schedule, firing: Firing, actor: str) -> dict[str, Any]:
        event = events.claimed(firing, schedule.definition.target_tool, None, actor=actor)
        self.ledger.append([event], expect={schedule.id: schedule.version})
        self.perform([(schedule, firing)])
        items, _ = views.tasks(self.ledger, trace=firing.correlation)
        return items[0]

    def _get_idle_schedule(self, identifier: str) -> Schedule:
        """Give a schedule of which nothing is open; by hand, nothing overlaps."""
        schedule = self.timetable.get_kept(identifier)
        if earlier := views.open_firings(self.ledger, identifier):
            raise Conflict(
                f"its firing of {earlier[0].fire_time} is still {earlier[0].state}",
                code="overlap",
                next_step=f"astra schedules history {identifier}",
            )
        return schedule

    def _refuse_if_closed(self) -> None:
        if closed_reason := self.closed():
            raise Conflict(
                "schedules do not run now",
                code=closed_reason,
                next_step="astra status says what is off",
            )
