"""Running the steps of changes: each in a thread of its own, none of them in anybody's way.

A test run may take minutes. What is due comes from the ledger (`flow`), so there is no queue to
lose; a step that runs here is remembered by its key only so that it is not started twice. While
code writing is off, or work is stopped, nothing starts. Tests whose change was rejected, replaced
or withdrawn meanwhile are ended.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from astra import flow
from astra.changes import events
from astra.flow import ChangeWork, DueStep
from astra.kernel.errors import AstraError
from astra.kernel.text import one_line
from astra.ledger.ports import Ledger
from astra.ledger.record import Event

WORKERS = 4
_LONGEST_SLEEP = 1.0
_GRACE = 5.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0
_log = logging.getLogger("astra.changes")


@dataclass
class _Pause:
    """How long a step that failed rests before it is tried again."""

    seconds: float = 0.0
    until: float = 0.0

    def longer(self, now: float) -> None:
        self.seconds = min(max(self.seconds * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
        self.until = now + self.seconds


@dataclass
class ChangeSteps:
    ledger: Ledger
    work: ChangeWork
    closed: Callable[[], str]
    seconds: Callable[[], float] = time.monotonic
    trouble: str = ""
    _running: dict[str, DueStep] = field(default_factory=dict[str, DueStep], init=False)
    _threads: set[threading.Thread] = field(default_factory=set[threading.Thread], init=False)
    _pauses: dict[str, _Pause] = field(default_factory=dict[str, _Pause], init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _stopping: threading.Event = field(default_factory=threading.Event, init=False)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._loop, name="changes", daemon=True)

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
        if self._running:
            return True
        return not self.closed() and bool(flow.due_for_changes(self.ledger))

    def run_due(self) -> int:
        """Run what is due now, in this thread, until nothing is; says how many steps."""
        count = 0
        while not self.closed() and (ready := self._ready()):
            self._do(ready[0])
            count += 1
        return count

    def _loop(self) -> None:
        while not self._stopping.is_set():
            head = self.ledger.head().sequence
            try:
                self._cut_short()
                self._hand_out()
            except AstraError as error:
                self.trouble = error.detail
            self.ledger.wait(head, _LONGEST_SLEEP)

    def _cut_short(self) -> None:
        """End test runs that are due no more; looked at again and again, as a box starts late."""
        with self._lock:
            tests = [step for step in self._running.values() if step.step == flow.TEST]
        due = {step.key for step in flow.due_for_changes(self.ledger)} if tests else set[str]()
        for step in tests:
            if step.key not in due:
                self.work.gathering.cut_short(step.subject)

    def _hand_out(self) -> None:
        if self.closed():
            return
        for step in self._ready():
            with self._lock:
                if step.key in self._running or len(self._running) >= WORKERS:
                    continue
                self._running[step.key] = step
            thread = threading.Thread(
                target=self._finish, args=[step], name=f"change-{step.step}", daemon=True
            )
            self._threads.add(thread)
            thread.start()

    def _ready(self) -> list[DueStep]:
        now = self.seconds()
        return [
            step
            for step in flow.due_for_changes(self.ledger)
            if step.key not in self._running and self._pauses.get(step.key, _Pause()).until <= now
        ]

    def _finish(self, step: DueStep) -> None:
        try:
            if not self._stopping.is_set():
                self._do(step)
        finally:
            with self._lock:
                self._running.pop(step.key, None)
                self._threads.discard(threading.current_thread())

    def _do(self, step: DueStep) -> None:
        """Run a step; one that fails is recorded once, and tried again after a pause."""
        head = self.ledger.head().sequence
        try:
            flow.run_for_change(self.work, step)
        except AstraError as error:
            self._failed(step, error.detail)
        except Exception as error:  # noqa: BLE001 - whatever it was, it is recorded and shown
            _log.exception("%s of %s failed", step.step, step.subject)
            self._failed(step, f"{type(error).__name__}: {error}")
        else:
            self.trouble = ""
            self._pauses.pop(step.key, None)
            if self.ledger.head().sequence == head:  # there was nothing to do: do not insist
                self._pauses.setdefault(step.key, _Pause()).longer(self.seconds())

    def _failed(self, step: DueStep, why: str) -> None:
        first = step.key not in self._pauses
        self._pauses.setdefault(step.key, _Pause()).longer(self.seconds())
        self.trouble = f"{step.step} of {step.subject}: {one_line(why, 300)}"
        if first:
            data = {"step": step.step, "about": step.subject, "why": one_line(why, 1000)}
            event = Event(type=events.STEP_FAILED, actor=events.DAEMON, data=data)
            self.ledger.append([event], lazy=True)
