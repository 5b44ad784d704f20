"""Runs due steps: wakes when one falls due or the ledger has moved, never in between.

What is due comes from the ledger (`flow`), so there is no queue to lose; a step that runs is
remembered by its key only so that it is not started twice. There is a runner for each lane, and
nothing waits for a step of another lane. Within a lane a step that fails rests for a while that
grows, and the others go on; its trouble is in the status until it succeeds or is not due any more.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from astra import flow
from astra.flow import ChangeWork, Domains, DueStep
from astra.trusted.changes import events as changes
from astra.trusted.kernel.clock import Clock, format_time, parse_time
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

CHANGES_AT_ONCE = 4
_LONGEST_SLEEP, _SHORTEST_SLEEP = 1.0, 0.05
_GRACE = 5.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0
_log = logging.getLogger("astra.steps")


def quick_steps(ledger: Ledger, clock: Clock, domains: Domains) -> "StepRunner":
    """Run what only appends or writes a small file: one at a time, in order."""
    return StepRunner(ledger=ledger, clock=clock, lane=flow.QUICK, do=flow.for_domains(domains))


def change_steps(
    ledger: Ledger, clock: Clock, work: ChangeWork, closed: Callable[[], str]
) -> "StepRunner":
    """Run the steps of changes: several at once, none while code writing is off or all stopped."""
    return StepRunner(
        ledger=ledger,
        clock=clock,
        lane=flow.CHANGES,
        do=flow.for_changes(work),
        closed=closed,
        workers=CHANGES_AT_ONCE,
        failed=change_step_failed,
        end=lambda step: _end_tests(work, step),
    )


def _end_tests(work: ChangeWork, step: DueStep) -> None:
    if step.step == flow.TEST:
        work.gathering.cut_short(step.subject)


def change_step_failed(step: DueStep, why: str) -> Event:
    data = {"step": step.step, "about": step.subject, "why": one_line(why, 1000)}
    return Event(type=changes.STEP_FAILED, actor=changes.DAEMON, data=data)


@dataclass
class _Rest:
    """How long a step rests before it is tried again, and why."""

    seconds: float = 0.0
    until: float = 0.0
    why: str = ""

    def longer(self, now: float, why: str) -> None:
        self.seconds = min(max(self.seconds * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
        self.until, self.why = now + self.seconds, why


@dataclass(kw_only=True)
class StepRunner:
    ledger: Ledger
    clock: Clock
    lane: str
    do: Callable[[DueStep], None]
    closed: Callable[[], str] = str
    workers: int = 1
    failed: Callable[[DueStep, str], Event] | None = None
    """Describes a step's first failure, where that is to be recorded."""
    end: Callable[[DueStep], None] = lambda _step: None
    """Ends a step that runs though it is due no more."""
    seconds: Callable[[], float] = time.monotonic
    _running: dict[str, DueStep] = field(default_factory=dict[str, DueStep], init=False)
    _threads: set[threading.Thread] = field(default_factory=set[threading.Thread], init=False)
    _rests: dict[str, _Rest] = field(default_factory=dict[str, _Rest], init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _stopping: threading.Event = field(default_factory=threading.Event, init=False)
    _lost: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._loop, name=f"{self.lane}-steps", daemon=True)

    @property
    def trouble(self) -> str:
        """Say what fails now: this runner, or the step that rests longest."""
        resting = [rest for rest in list(self._rests.values()) if rest.why]
        return self._lost or max(resting, key=lambda rest: rest.seconds, default=_Rest()).why

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Begin nothing more; what does not end soon ends with the daemon and is run again."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        deadline = time.monotonic() + _GRACE
        for thread in list(self._threads):
            thread.join(max(0.0, deadline - time.monotonic()))

    def busy(self) -> bool:
        """Tell whether something runs, or is due and may run."""
        return bool(self._running) or (not self.closed() and bool(self._due()))

    def run_due(self) -> int:
        """Run what is due now, in this thread, until nothing is; says how many steps."""
        count = 0
        while self._may_run() and (ready := self._ready()):
            self._run(ready[0])
            count += 1
        return count

    def _may_run(self) -> bool:
        return not self._stopping.is_set() and not self.closed()

    def _loop(self) -> None:
        while not self._stopping.is_set():
            head = self.ledger.head().sequence
            try:
                self._end_needless()
                self.run_due() if self.workers == 1 else self._hand_out()
                pause, self._lost = self._until_next(), ""
            except AstraError as error:
                pause, self._lost = _LONGEST_SLEEP, error.detail
            self.ledger.wait(head, pause)

    def _end_needless(self) -> None:
        """End what is due no more; looked at again and again, as a box starts late."""
        with self._lock:
            running = list(self._running.values())
        due = {step.key for step in self._due()} if running else set[str]()
        for step in running:
            if step.key not in due:
                self.end(step)

    def _hand_out(self) -> None:
        if not self._may_run():
            return
        for step in self._ready():
            with self._lock:
                if step.key in self._running or len(self._running) >= self.workers:
                    continue
                self._running[step.key] = step
            thread = threading.Thread(
                target=self._finish, args=[step], name=f"step-{step.step}", daemon=True
            )
            self._threads.add(thread)
            thread.start()

    def _until_next(self) -> float:
        """Say how long to sleep; a ledger that moves ends it early."""
        coming = flow.next_due(self.ledger, self.lane, after=self._now())
        if coming is None:
            return _LONGEST_SLEEP
        wait = (parse_time(coming.due) - self.clock.now()).total_seconds()
        return min(max(wait, _SHORTEST_SLEEP), _LONGEST_SLEEP)

    def _due(self) -> list[DueStep]:
        return flow.due_steps(self.ledger, self.lane, self._now())

    def _now(self) -> str:
        """Give the time as the ledger has it: a clock that was set back makes nothing wait."""
        return max(format_time(self.clock.now()), self.ledger.head().time)

    def _ready(self) -> list[DueStep]:
        due, now = self._due(), self.seconds()
        keys = {step.key for step in due}
        for key in [key for key in list(self._rests) if key not in keys]:
            self._rests.pop(key, None)
        return [
            step
            for step in due
            if step.key not in self._running and self._rests.get(step.key, _Rest()).until <= now
        ]

    def _finish(self, step: DueStep) -> None:
        try:
            if not self._stopping.is_set():
                self._run(step)
        finally:
            with self._lock:
                self._running.pop(step.key, None)
                self._threads.discard(threading.current_thread())

    def _run(self, step: DueStep) -> None:
        """Run a step; one that fails is recorded once, and tried again after a pause."""
        head = self.ledger.head().sequence
        try:
            self.do(step)
        except AstraError as error:
            self._rest(step, error.detail)
        except Exception as error:  # noqa: BLE001 - whatever it was, it is recorded and shown
            _log.exception("%s of %s failed", step.step, step.subject)
            self._rest(step, f"{type(error).__name__}: {error}")
        else:
            self._rests.pop(step.key, None)
            if self.ledger.head().sequence == head:  # there was nothing to do: do not insist
                self._rests.setdefault(step.key, _Rest()).longer(self.seconds(), "")

    def _rest(self, step: DueStep, why: str) -> None:
        first = step.key not in self._rests
        words = f"{step.step} of {step.subject}: {one_line(why, 300)}"
        self._rests.setdefault(step.key, _Rest()).longer(self.seconds(), words)
        if first and self.failed:
            self.ledger.append([self.failed(step, why)], lazy=True)
