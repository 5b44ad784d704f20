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
from astra.schedules.endings import (
    INTERRUPTED,
    Ended,
    Ending,
    Endings,
    judge_answer,
    list_ids,
    read_ending,
)
from astra.schedules.model import Firing, Schedule, State
from astra.schedules.planning import Plan
from astra.schedules.ports import Jobs
from astra.schedules.service import Timetable
from astra.trusted.kernel import cancellation
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import AstraError, LedgerError, NeedsApproval
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy.call import Tier
from astra.trusted.policy.telemetry import TOOL_STARTED

BATCH, CHUNK = 64, 32
JOB = "firing"
_LONGEST_WAIT = 0.1
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
        running_firings = views.every_open_firing(self.ledger, State.RUNNING)
        for firing in running_firings:
            self._try_to_settle(firing)
        for state in (State.QUEUED, State.WAITING):
            for firing in views.every_open_firing(self.ledger, state):
                self._try_to_settle(firing)
        return len(running_firings)

    def settle_firing(self, identifier: str) -> None:
        """Settle a firing that a dead daemon left, unless it moved on by itself."""
        firing, state = views.firing(self.ledger, identifier), self.unsettled.get(identifier)
        if firing is not None and firing.state == state:
            self._settle_open_firing(firing)
        self.unsettled.pop(identifier, None)

    def _try_to_settle(self, firing: Firing) -> None:
        try:
            self._settle_open_firing(firing)
        except Exception as error:  # noqa: BLE001 - the others are settled whatever it is
            _log.error("firing %s is not settled yet: %s", firing.id, error)
            self.unsettled[firing.id] = State(firing.state)

    def _settle_open_firing(self, firing: Firing) -> None:
        if firing.state == State.QUEUED:
            self._go_on_behind(firing.schedule)
            return
        if firing.state == State.WAITING:
            self._look_again(firing)
            return
        schedule = self.timetable.get(firing.schedule)
        if self._is_slow(schedule):
            self._hand_runs([(schedule, firing)])
        else:
            self._endings.record_interruption(
                schedule, firing, repeatable=self._is_repeatable(schedule)
            )

    def run_due(self, most: int = BATCH) -> int:
        """Deal with what is due now, at most so many; says how many that were."""
        now = self.clock.now()
        stamp = format_time(now)
        armed = self.timetable.arm_again(most)
        overdue = views.due_firings(self.ledger, stamp, most)
        for firing in overdue:
            self._try_to_wake(firing)
        room = most - len(overdue)
        schedules = views.list_due_schedules(self.ledger, stamp, room) if room > 0 else []
        if schedules:
            self._carry_out(self._claims.claim(self._plan_due(schedules, now)))
        return len(schedules) + len(overdue) + armed

    def _plan_due(self, schedules: Sequence[Schedule], now: datetime) -> list[Plan]:
        """Decide about what is due; a schedule that cannot be planned is paused, not the others."""
        stop_reason = self.closed()
        busy = views.find_busy_schedules(self.ledger, [schedule.id for schedule in schedules])
        plans: list[Plan] = []
        for schedule in schedules:
            is_busy = schedule.id in busy
            try:
                plans.append(
                    planning.plan_due_schedule(
                        self.ledger, schedule, now, stop_reason, busy=is_busy
                    )
                )
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
        for identifier in (firing_id for plan in plans for firing_id in plan.cancel):
            if wish := self._wishes.get(identifier):
                wish.set()
        runs = [(plan.schedule, plan.run) for plan in plans if plan.run]
        quick = [scheduled_run for scheduled_run in runs if self._is_quick(scheduled_run[0])]
        for start in range(0, len(quick), CHUNK):
            self._hand_runs(quick[start : start + CHUNK])
        for scheduled_run in runs:
            if not self._is_quick(scheduled_run[0]):
                self._hand_runs([scheduled_run])

    def _hand_runs(self, runs: Sequence[tuple[Schedule, Firing]]) -> None:
        for _, firing in runs:
            self._wishes[firing.id] = threading.Event()
        first = runs[0][1]
        key = f"{first.id}.{first.attempt}"
        if len(runs) == 1 and self._is_slow(runs[0][0]):
            self.hand_out(
                Handed(key=key, run=lambda: self._submit_job(first), firings=1, slow=True)
            )
        else:
            self.hand_out(Handed(key=key, run=lambda: self.perform(runs), firings=len(runs)))

    def _submit_job(self, firing: Firing) -> None:
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
            ended.append(self._run_firing(schedule, firing))
            if self.seconds() - since > _LONGEST_WAIT:
                self._record_endings(ended)
                ended, since = [], self.seconds()
        self._record_endings(ended)

    def _run_firing(self, schedule: Schedule, firing: Firing) -> Ended:
        began = self.seconds()
        wish = self._wishes.setdefault(firing.id, threading.Event())
        with cancellation.watch_cancellation(wish.is_set):
            ending = self._call_tool(schedule, firing)
        self._wishes.pop(firing.id, None)
        milliseconds = (self.seconds() - began) * 1000
        return Ended(schedule, firing, ending._replace(milliseconds=milliseconds))

    def _record_endings(self, ended: Sequence[Ended]) -> None:
        over = [ended_firing.schedule.id for ended_firing in self._endings.record(ended)]
        for identifier in views.find_busy_schedules(self.ledger, over):
            self._go_on_behind(identifier)
        for identifier in views.find_with_dependents(self.ledger, over):
            self._look_at_dependents(identifier)

    def _call_tool(self, schedule: Schedule, firing: Firing) -> Ending:
        try:
            run_tool = self.admission.begin(schedule, firing)
        except AstraError as error:
            return Ending(State.SKIPPED, error.reason, error.detail)
        try:
            answer = run_tool()
        except NeedsApproval as waits:
            about = list_ids(waits.facts)
            return Ending(State.SKIPPED, waits.reason, waits.detail, about=about)
        except AstraError as error:
            return Ending(State.FAILED, error.reason, error.detail)
        except Exception as error:  # noqa: BLE001 - a tool's own fault must not end the executor
            return Ending(State.FAILED, "failed", f"unexpected: {type(error).__name__}")
        ending = judge_answer(answer)
        is_read = schedule.definition.safety_tier == Tier.READ
        return ending if is_read else ending._replace(about=list_ids(answer))

    # What takes long

    def job_run(self, argument: str) -> str:
        """Run a firing as a job, and give in words how it went.

        After a crash the engine calls this again. What had begun and may not happen twice ends as
        interrupted; anything else is run, or run again.
        """
        job_firing = self._of_job(argument)
        if job_firing is None:
            return ""
        schedule, firing = job_firing
        if self._has_started(firing) and not self._is_repeatable(schedule):
            return json.dumps(INTERRUPTED)
        return json.dumps(self._run_firing(schedule, firing).ending)

    def job_done(self, argument: str, outcome: str) -> None:
        """Record how a job went, once."""
        job_firing = self._of_job(argument)
        if outcome and job_firing is not None:
            self._record_endings([Ended(*job_firing, read_ending(json.loads(outcome)))])

    def _of_job(self, argument: str) -> tuple[Schedule, Firing] | None:
        """Find the attempt a job is for, unless it is over."""
        identifier, _, attempt = argument.partition(".")
        firing = views.firing(self.ledger, identifier)
        if firing is None or firing.state != State.RUNNING or str(firing.attempt) != attempt:
            return None
        return self.timetable.get(firing.schedule), firing

    def _has_started(self, firing: Firing) -> bool:
        """Tell whether the tool was started for this attempt, as the ledger has it."""
        return len(self.ledger.find_mentions(firing.correlation, TOOL_STARTED)) >= firing.attempt

    def _is_repeatable(self, schedule: Schedule) -> bool:
        facts = self.admission.facts(schedule)
        return facts is not None and facts.idempotent

    def _is_slow(self, schedule: Schedule) -> bool:
        facts = self.admission.facts(schedule)
        return self.jobs is not None and facts is not None and facts.slow

    def _is_quick(self, schedule: Schedule) -> bool:
        return schedule.definition.safety_tier == Tier.READ and not self._is_slow(schedule)

    # Waiting

    def _try_to_wake(self, firing: Firing) -> None:
        try:
            self._wake_firing(firing)
        except LedgerError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
            _log.error("firing %s cannot go on: %s", firing.id, error)
            detail = error.detail if isinstance(error, AstraError) else type(error).__name__
            self._endings.drop(firing, Ending(State.FAILED, "cannot_be_planned", detail))

    def _wake_firing(self, firing: Firing) -> None:
        """Deal with a firing whose time has come: another attempt, or the end of its patience."""
        if firing.state == State.WAITING:
            self._drop_firing(firing, "dependency", "what it comes after is late")
        else:
            self._begin_firing(replace(firing, attempt=firing.attempt + 1))

    def _go_on_behind(self, schedule_id: str) -> None:
        """Start the oldest queued firing, once nothing of its schedule runs."""
        firings = views.open_firings(self.ledger, schedule_id)
        queued = [firing for firing in firings if firing.state == State.QUEUED]
        if queued and len(queued) == len(firings):
            self._begin_firing(queued[0])

    def _look_at_dependents(self, schedule_id: str) -> None:
        for identifier in views.dependents(self.ledger, schedule_id):
            for firing in views.open_firings(self.ledger, identifier):
                if firing.state == State.WAITING:
                    self._look_again(firing)

    def _look_again(self, firing: Firing) -> None:
        schedule = self.timetable.get(firing.schedule)
        dependencies_met = planning.dependencies_met(self.ledger, schedule, firing)
        if dependencies_met:
            self._begin_firing(firing)
        elif dependencies_met is False:
            self._drop_firing(firing, "dependency", "what it comes after did not succeed")

    def _begin_firing(self, firing: Firing) -> None:
        """Claim and hand out a firing that waited until now."""
        schedule = self.timetable.get(firing.schedule)
        stands_still = schedule.paused or schedule.deleted
        if stop_reason := schedule.state if stands_still else self.closed():
            self._drop_firing(firing, stop_reason, "nothing of it may run now")
            return
        running = replace(firing, state=State.RUNNING, due=None)
        if claimed := self._claims.claim_again(running):
            self._hand_runs([(claimed, running)])

    def _drop_firing(self, firing: Firing, reason: str, detail: str) -> None:
        self._endings.drop(firing, Ending(State.SKIPPED, reason, detail))
        self._go_on_behind(firing.schedule)
        self._look_at_dependents(firing.schedule)
