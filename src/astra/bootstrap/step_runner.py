"""Runs due steps: wakes when the next one is due or the ledger has moved, never in between.

Steps go through an engine, so that long ones can become durable jobs later. A step that fails is
tried again after a pause that grows; its trouble is shown in the status.
"""

import threading
from collections.abc import Callable
from typing import Protocol

from astra import flow
from astra.flow import Domains, DueStep
from astra.kernel.clock import Clock, parse_time
from astra.kernel.errors import AstraError
from astra.ledger.ports import Ledger

_LONGEST_WAIT = 60.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0


class Engine(Protocol):
    def run(self, key: str, work: Callable[[], None]) -> None:
        """Do the work under this key, at most once at a time."""
        ...


class InlineEngine:
    """Runs work at once, in the thread that brings it. Enough for steps that only append."""

    def run(self, key: str, work: Callable[[], None]) -> None:
        del key
        work()


class StepRunner:
    def __init__(
        self, ledger: Ledger, clock: Clock, domains: Domains, engine: Engine | None = None
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._domains = domains
        self._engine = engine or InlineEngine()
        self._stopping = threading.Event()
        self._pause = 0.0
        self._thread = threading.Thread(target=self._loop, name="step-runner", daemon=True)
        self.trouble = ""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def run_due(self) -> int:
        """Run every step that is due now, in order; says how many."""
        count = 0
        while (step := flow.next_due(self._ledger)) and self._wait_for(step) <= 0:
            if self._stopping.is_set() or not self._run(step):
                break
            count += 1
        return count

    def _loop(self) -> None:
        while not self._stopping.is_set():
            self.run_due()
            step = flow.next_due(self._ledger)
            wait = self._wait_for(step) if step else _LONGEST_WAIT
            seconds = max(self._pause, min(wait, 1.0))
            if self._pause:
                self._stopping.wait(seconds)
            else:
                self._ledger.wait(self._ledger.head().sequence, max(seconds, 0.05))

    def _run(self, step: DueStep) -> bool:
        try:
            self._engine.run(step.key, lambda: flow.run(self._domains, step))
        except AstraError as error:
            self._pause = min(max(self._pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
            self.trouble = f"{step.step} of {step.subject}: {error.detail}"
            return False
        self._pause, self.trouble = 0.0, ""
        return True

    def _wait_for(self, step: DueStep) -> float:
        return (parse_time(step.due) - self._clock.now()).total_seconds()
