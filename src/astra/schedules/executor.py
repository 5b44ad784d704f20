"""The executor: claims what is due, passes the gate, runs the tool, records what came of it.

- A firing is claimed by an append that only one process can win, before anything happens.
- Whatever the gate says no to is a skip with the gate's reason; what fails is tried again as the
  schedule says; everything that was claimed is closed, if need be as `interrupted` by the next
  daemon.
- A firing that was interrupted is tried again only where doing it twice is the same as once.
"""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from astra.kernel import cancellation
from astra.kernel.clock import Clock, format_time
from astra.kernel.errors import AstraError, BadInput, Conflict, DuplicateKey, StaleVersion
from astra.ledger.ports import Ledger
from astra.policy.call import Tier
from astra.policy.telemetry import TOOL_STARTED
from astra.schedules import events, planning, views
from astra.schedules.admission import Admission
from astra.schedules.endings import INTERRUPTED, Ended, Ending, Endings
from astra.schedules.model import Firing, Kind, Schedule, State
from astra.schedules.planning import Plan
from astra.schedules.ports import Jobs
from astra.schedules.service import Timetable

BATCH, CHUNK = 64, 32
MOST_BACKFILLED = 100
JOB = "firing"
_TRIES = 20
_LONGEST_WAIT = 0.02


def _at_once(work: Callable[[], None], _firings: int) -> None:
    work()


@dataclass(kw_only=True)
class Executor:
    ledger: Ledger
    clock: Clock
    timetable: Timetable
    admission: Admission
    closed: Callable[[], str]
    jobs: Jobs | None = None
    hand_out: Callable[[Callable[[], None], int], None] = _at_once
    seconds: Callable[[], float] = time.perf_counter
    _wishes: dict[str, threading.Event] = field(default_factory=dict[str, threading.Event])

    def __post_init__(self) -> None:
        self._endings = Endings(self.ledger, self.clock, self.timetable)

    # What the daemon calls

    def settle(self) -> int:
        """Close what a dead daemon left running, and go on with what waits behind it."""
        left = views.every_open_firing(self.ledger, State.RUNNING)
        for firing in left:
            schedule = self.timetable.get(firing.schedule)
            if self._slow(schedule):
                self._submit(firing)
            else:
                self._endings.interrupted(schedule, firing, repeatable=self._repeatable(schedule))
        for firing in views.every_open_firing(self.ledger, State.QUEUED):
            self._go_on_behind(firing.schedule)
        for firing in views.every_open_firing(self.ledger, State.WAITING):
            self._look_again(firing)
        return len(left)

    def run_due(self, most: int = BATCH) -> int:
        """Deal with what is due now, at most so many; says how many that were."""
        now = self.clock.now()
        stamp = format_time(now)
        overdue = views.due_firings(self.ledger, stamp, most)
        for firing in overdue:
            self._wake(firing)
        found = views.due(self.ledger, stamp, most - len(overdue)) if len(overdue) < most else []
        if found:
            closed = self.closed()
            busy = views.with_open_firings(self.ledger, [each.id for each in found])
            plans = [
                planning.for_due(self.ledger, each, now, closed, busy=each.id in busy)
                for each in found
            ]
            self._carry_out(self._claim(plans))
        return len(found) + len(overdue)

    def next_due(self) -> str | None:
        return views.next_due(self.ledger)

    # What people ask for

    def run_now(self, identifier: str, *, actor: str) -> dict[str, Any]:
        """Fire a schedule at once, through the same gate, and say how it went."""
        self._refuse_if_closed()
        schedule = self._alone(identifier)
        firing = planning.make(schedule, self.clock.now(), Kind.MANUAL)
        return self._run_by_hand(schedule, firing, actor)

    def backfill(
        self, identifier: str, start: datetime, end: datetime, *, actor: str
    ) -> list[dict[str, Any]]:
        """Run what did not succeed from `start` up to `end`, oldest first, each firing once."""
        self._refuse_if_closed()
        schedule = self.timetable.get(identifier)
        start, end = start - timedelta(microseconds=1), min(end, self.clock.now())
        wanted = schedule.definition.calendar.between(start, end, most=MOST_BACKFILLED + 1)
        if len(wanted) > MOST_BACKFILLED:
            raise BadInput(
                f"more than {MOST_BACKFILLED} firings lie between those times",
                next_step="ask for a shorter stretch",
            )
        done = views.in_window(self.ledger, identifier, format_time(start), format_time(end))
        succeeded = {firing.fire_time for firing in done if firing.state == State.SUCCEEDED}
        answers: list[dict[str, Any]] = []
        for moment in wanted:
            if format_time(moment) not in succeeded:
                with contextlib.suppress(DuplicateKey):
                    firing = planning.make(schedule, moment, Kind.BACKFILL)
                    answers.append(self._run_by_hand(self._alone(identifier), firing, actor))
        return answers

    def request_approval(self, identifier: str, *, actor: str) -> str:
        """Ask for the approval of a schedule's next firing; gives the approval's id."""
        schedule = self.timetable.get(identifier)
        firing = planning.make(schedule, self.clock.now(), Kind.CRON)
        return self.admission.request(schedule, firing, actor=actor)

    # Claiming

    def _claim(self, plans: Sequence[Plan]) -> list[Plan]:
        """Append plans, together if possible; those that lost against somebody are dropped."""
        try:
            self.ledger.append(
                [event for plan in plans for event in plan.events],
                expect={plan.schedule.id: plan.schedule.version for plan in plans},
            )
        except (StaleVersion, DuplicateKey) as lost:
            if len(plans) > 1:
                return [plan for each in plans for plan in self._claim([each])]
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

    def _claim_one(self, firing: Firing) -> Schedule | None:
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

    def _carry_out(self, plans: Sequence[Plan]) -> None:
        """Hand out what is to run: quick reads several at a time, everything else alone."""
        for identifier in (each for plan in plans for each in plan.cancel):
            if wish := self._wishes.get(identifier):
                wish.set()
        runs = [(plan.schedule, plan.run) for plan in plans if plan.run]
        quick = [run for run in runs if self._quick(run[0])]
        for start in range(0, len(quick), CHUNK):
            self._hand(quick[start : start + CHUNK])
        for run in runs:
            if not self._quick(run[0]):
                self._hand([run])

    def _hand(self, runs: Sequence[tuple[Schedule, Firing]]) -> None:
        for _, firing in runs:
            self._wishes[firing.id] = threading.Event()
        if len(runs) == 1 and self._slow(runs[0][0]):
            self._submit(runs[0][1])
        else:
            self.hand_out(lambda: self.perform(runs), len(runs))

    def _submit(self, firing: Firing) -> None:
        assert self.jobs is not None  # noqa: S101 - nothing is slow without an engine
        self.jobs.submit(f"{firing.id}.{firing.attempt}", JOB, f"{firing.id}.{firing.attempt}")

    # Running

    def perform(self, runs: Sequence[tuple[Schedule, Firing]]) -> None:
        """Run firings that were claimed, record how they went, and see what that lets happen.

        Endings are written together, but none waits for more than a moment of other work.
        """
        ended: list[Ended] = []
        since = self.seconds()
        for schedule, firing in runs:
            ended.append(self._run(schedule, firing))
            if self.seconds() - since > _LONGEST_WAIT:
                self._record(ended)
                ended, since = [], self.seconds()
        self._record(ended)

    def _run(self, schedule: Schedule, firing: Firing) -> Ended:
        began = self.seconds()
        with cancellation.watching(self._wishes.setdefault(firing.id, threading.Event())):
            ending = self._attempt(schedule, firing)
        self._wishes.pop(firing.id, None)
        milliseconds = (self.seconds() - began) * 1000
        return Ended(schedule, firing, ending._replace(milliseconds=milliseconds))

    def _record(self, ended: Sequence[Ended]) -> None:
        over = [each.schedule.id for each in self._endings.record(ended)]
        for identifier in views.with_open_firings(self.ledger, over):
            self._go_on_behind(identifier)
        for identifier in views.with_dependents(self.ledger, over):
            self._look_at_dependents(identifier)

    def _attempt(self, schedule: Schedule, firing: Firing) -> Ending:
        try:
            run = self.admission.begin(schedule, firing)
        except AstraError as error:
            return Ending(State.SKIPPED, error.reason, error.detail)
        try:
            run()
        except AstraError as error:
            return Ending(State.FAILED, error.reason, error.detail)
        except Exception as error:  # noqa: BLE001 - a tool's own fault must not end the executor
            return Ending(State.FAILED, "failed", f"unexpected: {type(error).__name__}")
        return Ending(State.SUCCEEDED, "ok")

    # What takes long

    def job_run(self, argument: str) -> str:
        """Run a firing as a job, and give in words how it went.

        After a crash the engine calls this again. What had begun and may not happen twice ends as
        interrupted; anything else is run, or run again.
        """
        found = self._of_job(argument)
        if found is None:
            return ""
        schedule, firing = found
        if self._begun(firing) and not self._repeatable(schedule):
            return json.dumps(INTERRUPTED)
        return json.dumps(self._run(schedule, firing).ending)

    def job_done(self, argument: str, outcome: str) -> None:
        """Record how a job went, once."""
        found = self._of_job(argument)
        if outcome and found is not None:
            state, reason, detail, milliseconds = json.loads(outcome)
            self._record([Ended(*found, Ending(State(state), reason, detail, milliseconds))])

    def _of_job(self, argument: str) -> tuple[Schedule, Firing] | None:
        """Find the attempt a job is for, unless it is over."""
        identifier, _, attempt = argument.partition(".")
        firing = views.firing(self.ledger, identifier)
        if firing is None or firing.state != State.RUNNING or str(firing.attempt) != attempt:
            return None
        return self.timetable.get(firing.schedule), firing

    def _begun(self, firing: Firing) -> bool:
        """Tell whether the tool was started for this attempt, as the ledger has it."""
        ((starts,),) = self.ledger.query(
            "SELECT count(*) FROM mention JOIN record USING (sequence)"
            " WHERE mention.id = ? AND type = ?",
            [firing.correlation, TOOL_STARTED],
        )
        return starts >= firing.attempt

    def _repeatable(self, schedule: Schedule) -> bool:
        facts = self.admission.facts(schedule)
        return facts is not None and facts.idempotent

    def _slow(self, schedule: Schedule) -> bool:
        facts = self.admission.facts(schedule)
        return self.jobs is not None and facts is not None and facts.slow

    def _quick(self, schedule: Schedule) -> bool:
        return schedule.definition.safety_tier == Tier.READ and not self._slow(schedule)

    # Waiting

    def _wake(self, firing: Firing) -> None:
        """Deal with a firing whose time has come: another attempt, or the end of its patience."""
        if firing.state == State.WAITING:
            self._drop(firing, "dependency", "what it comes after is late")
        else:
            self._begin(replace(firing, attempt=firing.attempt + 1))

    def _go_on_behind(self, schedule_id: str) -> None:
        """Start the oldest queued firing, once nothing of its schedule runs."""
        found = views.open_firings(self.ledger, schedule_id)
        queued = [firing for firing in found if firing.state == State.QUEUED]
        if queued and len(queued) == len(found):
            self._begin(queued[0])

    def _look_at_dependents(self, schedule_id: str) -> None:
        for identifier in views.dependents(self.ledger, schedule_id):
            for firing in views.open_firings(self.ledger, identifier):
                if firing.state == State.WAITING:
                    self._look_again(firing)

    def _look_again(self, firing: Firing) -> None:
        schedule = self.timetable.get(firing.schedule)
        met = planning.dependencies_met(self.ledger, schedule, firing)
        if met:
            self._begin(firing)
        elif met is False:
            self._drop(firing, "dependency", "what it comes after did not succeed")

    def _begin(self, firing: Firing) -> None:
        """Claim and hand out a firing that waited until now."""
        paused = self.timetable.get(firing.schedule).paused
        if closed := "paused" if paused else self.closed():
            self._drop(firing, closed, "nothing of it may run now")
            return
        running = replace(firing, state=State.RUNNING, due=None)
        if claimed := self._claim_one(running):
            self._hand([(claimed, running)])

    def _drop(self, firing: Firing, reason: str, detail: str) -> None:
        self._endings.drop(firing, Ending(State.SKIPPED, reason, detail))
        self._go_on_behind(firing.schedule)
        self._look_at_dependents(firing.schedule)

    # By hand

    def _run_by_hand(self, schedule: Schedule, firing: Firing, actor: str) -> dict[str, Any]:
        event = events.claimed(firing, schedule.definition.target_tool, None, actor=actor)
        self.ledger.append([event], expect={schedule.id: schedule.version})
        self.perform([(schedule, firing)])
        items, _ = views.tasks(self.ledger, trace=firing.correlation)
        return items[0]

    def _alone(self, identifier: str) -> Schedule:
        """Give a schedule of which nothing is open; by hand, nothing overlaps."""
        schedule = self.timetable.get(identifier)
        if earlier := views.open_firings(self.ledger, identifier):
            raise Conflict(
                f"its firing of {earlier[0].fire_time} is still {earlier[0].state}",
                code="overlap",
                next_step=f"astra schedules history {identifier}",
            )
        return schedule

    def _refuse_if_closed(self) -> None:
        if closed := self.closed():
            raise Conflict(
                "schedules do not run now", code=closed, next_step="astra status says what is off"
            )
