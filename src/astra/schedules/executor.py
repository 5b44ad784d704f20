"""The executor: claims what is due, passes the gate, runs the tool, records what came of it.

- A firing is claimed by an append that only one process can win, before anything happens.
- Whatever the gate says no to is a skip with the gate's reason; what fails is tried again as the
  schedule says; everything that was claimed is closed, if need be as `interrupted` by the next
  daemon.
- A firing that was interrupted is tried again only where doing it twice is the same as once.
- Claiming and running are apart: what was claimed is handed out (`Handed`), and a lane of the
  background runs it. What takes long is handed to the engine for jobs and needs nothing else here,
  so that without the engine everything else goes on.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from astra.schedules import planning, views
from astra.schedules.admission import Admission
from astra.schedules.by_hand import ByHand
from astra.schedules.claims import Claims
from astra.schedules.endings import INTERRUPTED, Ended, Ending, Endings
from astra.schedules.model import Firing, Schedule, State
from astra.schedules.planning import Plan
from astra.schedules.ports import Jobs
from astra.schedules.service import Timetable
from astra.trusted.kernel import cancellation
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import AstraError, LedgerError
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy.call import Tier
from astra.trusted.policy.telemetry import TOOL_STARTED

BATCH, CHUNK = 64, 32
JOB = "firing"
_LONGEST_WAIT = 0.02
_log = logging.getLogger("astra.schedules")


@dataclass(frozen=True, kw_only=True)
class Handed:
    """Firings that were claimed together, and what is to be called for them."""

    key: str
    run: Callable[[], None]
    firings: int
    slow: bool = False
    """Whether they go to the engine: handing them over may fail, and may be tried again."""


def _at_once(handed: Handed) -> None:
    handed.run()


@dataclass(kw_only=True)
class Executor:
    ledger: Ledger
    clock: Clock
    timetable: Timetable
    admission: Admission
    closed: Callable[[], str]
    jobs: Jobs | None = None
    hand_out: Callable[[Handed], None] = _at_once
    seconds: Callable[[], float] = time.perf_counter
    unsettled: dict[str, State] = field(default_factory=dict[str, State], init=False)
    """What a dead daemon left and could not be settled yet, with the state it is in."""
    _wishes: dict[str, threading.Event] = field(default_factory=dict[str, threading.Event])

    def __post_init__(self) -> None:
        self._endings = Endings(self.ledger, self.clock, self.timetable)
        self._claims = Claims(self.ledger, self.timetable)
        self.by_hand = ByHand(
            ledger=self.ledger,
            clock=self.clock,
            timetable=self.timetable,
            admission=self.admission,
            closed=self.closed,
            perform=self.perform,
        )

    # What the daemon calls

    def settle(self) -> int:
        """Close what a dead daemon left running, and go on with what waits behind it.

        One that cannot be settled now stays in `unsettled` and does not keep the others waiting.
        """
        left = views.every_open_firing(self.ledger, State.RUNNING)
        for firing in left:
            self._try_to_settle(firing)
        for state in (State.QUEUED, State.WAITING):
            for firing in views.every_open_firing(self.ledger, state):
                self._try_to_settle(firing)
        return len(left)

    def settle_firing(self, identifier: str) -> None:
        """Settle a firing that a dead daemon left, unless it moved on by itself."""
        firing, state = views.firing(self.ledger, identifier), self.unsettled.get(identifier)
        if firing is not None and firing.state == state:
            self._settle(firing)
        self.unsettled.pop(identifier, None)

    def _try_to_settle(self, firing: Firing) -> None:
        try:
            self._settle(firing)
        except Exception as error:  # noqa: BLE001 - the others are settled whatever it is
            _log.error("firing %s is not settled yet: %s", firing.id, error)
            self.unsettled[firing.id] = State(firing.state)

    def _settle(self, firing: Firing) -> None:
        if firing.state == State.QUEUED:
            self._go_on_behind(firing.schedule)
            return
        if firing.state == State.WAITING:
            self._look_again(firing)
            return
        schedule = self.timetable.get(firing.schedule)
        if self._slow(schedule):
            self._hand([(schedule, firing)])
        else:
            self._endings.interrupted(schedule, firing, repeatable=self._repeatable(schedule))

    def run_due(self, most: int = BATCH) -> int:
        """Deal with what is due now, at most so many; says how many that were."""
        now = self.clock.now()
        stamp = format_time(now)
        armed = self.timetable.arm_again(most)
        overdue = views.due_firings(self.ledger, stamp, most)
        for firing in overdue:
            self._try_to_wake(firing)
        room = most - len(overdue)
        schedules = views.due(self.ledger, stamp, room) if room > 0 else []
        if schedules:
            self._carry_out(self._claims.claim(self._plan(schedules, now)))
        return len(schedules) + len(overdue) + armed

    def _plan(self, schedules: Sequence[Schedule], now: datetime) -> list[Plan]:
        """Decide about what is due; a schedule that cannot be planned is paused, not the others."""
        closed = self.closed()
        busy = views.with_open_firings(self.ledger, [schedule.id for schedule in schedules])
        plans: list[Plan] = []
        for schedule in schedules:
            is_busy = schedule.id in busy
            try:
                plans.append(planning.for_due(self.ledger, schedule, now, closed, busy=is_busy))
            except LedgerError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, the others run
                _log.error("schedule %s cannot be planned: %s", schedule.id, error)
                self.timetable.set_aside(schedule, error)
        return plans

    def next_due(self) -> str | None:
        return views.next_due(self.ledger)

    # Handing out

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
        first = runs[0][1]
        key = f"{first.id}.{first.attempt}"
        if len(runs) == 1 and self._slow(runs[0][0]):
            self.hand_out(Handed(key=key, run=lambda: self._submit(first), firings=1, slow=True))
        else:
            self.hand_out(Handed(key=key, run=lambda: self.perform(runs), firings=len(runs)))

    def _submit(self, firing: Firing) -> None:
        """Have the engine run a firing, unless that is over meanwhile."""
        assert self.jobs is not None  # noqa: S101 - nothing is slow without an engine
        key = f"{firing.id}.{firing.attempt}"
        if self._of_job(key) is not None:
            self.jobs.submit(key, JOB, key)

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
        return len(self.ledger.mentioning(firing.correlation, TOOL_STARTED)) >= firing.attempt

    def _repeatable(self, schedule: Schedule) -> bool:
        facts = self.admission.facts(schedule)
        return facts is not None and facts.idempotent

    def _slow(self, schedule: Schedule) -> bool:
        facts = self.admission.facts(schedule)
        return self.jobs is not None and facts is not None and facts.slow

    def _quick(self, schedule: Schedule) -> bool:
        return schedule.definition.safety_tier == Tier.READ and not self._slow(schedule)

    # Waiting

    def _try_to_wake(self, firing: Firing) -> None:
        try:
            self._wake(firing)
        except LedgerError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
            _log.error("firing %s cannot go on: %s", firing.id, error)
            detail = error.detail if isinstance(error, AstraError) else type(error).__name__
            self._endings.drop(firing, Ending(State.FAILED, "cannot_be_planned", detail))

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
        if claimed := self._claims.claim_again(running):
            self._hand([(claimed, running)])

    def _drop(self, firing: Firing, reason: str, detail: str) -> None:
        self._endings.drop(firing, Ending(State.SKIPPED, reason, detail))
        self._go_on_behind(firing.schedule)
        self._look_at_dependents(firing.schedule)
