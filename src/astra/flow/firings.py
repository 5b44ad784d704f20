"""The lanes of schedules: firings that the executor claimed, and those that the engine is to run.

The executor claims by an append, a batch at a time, so what it claimed is held here until a worker
takes it: never twice, because only the process that claimed it knows of it. A daemon that leaves
runs what it claimed; what one that was killed left is settled by the next one. Handing a slow
firing to the engine is a lane of its own: an engine that cannot start holds up nothing else.
"""

import threading
from collections.abc import Callable, Sequence

from astra.flow.lane import Lane, WorkItem
from astra.schedules import views
from astra.schedules.executor import BATCH, CHUNK, Executor, Handed

FIRINGS, JOBS = "firings", "jobs"
WORKERS = 8
_LOOK_AGAIN, _LONGEST_PAUSE = 30.0, 60.0


class ClaimedFirings:
    def __init__(self, executor: Executor, woken: threading.Event) -> None:
        """Take what the executor hands out; `woken` is that of the background."""
        self.executor = executor
        self._woken = woken
        self._settled = False
        self._lock = threading.Lock()
        self._quick: dict[str, Handed] = {}
        self._slow: dict[str, Handed] = {}
        self._claimed = 0
        executor.hand_out = self._enqueue_handed

    @property
    def claimed(self) -> int:
        """Say how many firings run here or are about to."""
        return self._claimed

    def lanes(self) -> tuple[Lane, Lane]:
        return (
            Lane(
                name=FIRINGS,
                due=self._claim_due,
                next_due=self.executor.next_due,
                workers=WORKERS,
                holds_daemon=self._is_needed,
                finish_claims=self._finish_claims,
                breath=0.0,
                look_again=_LOOK_AGAIN,
                begin_term=self._begin_term,
            ),
            Lane(
                name=JOBS,
                due=self._due_jobs,
                holds_daemon=lambda: bool(self._slow),
                longest_pause=_LONGEST_PAUSE,
            ),
        )

    def _claim_due(self) -> Sequence[WorkItem]:
        """Claim what is due while there is room, and give everything that no worker has yet."""
        if not self._settled:
            return [_make_item("settle", "firings", self._settle_all)]
        if (room := BATCH - self._claimed) >= CHUNK:
            self.executor.run_due(room)
        unsettled_items = [
            _make_item("settle", identifier, self._defer_settle(identifier))
            for identifier in list(self.executor.unsettled)
        ]
        with self._lock:
            quick = list(self._quick)
        return [
            *unsettled_items,
            *(_make_item("run", key, self._defer_perform(key)) for key in quick),
        ]

    def _due_jobs(self) -> Sequence[WorkItem]:
        with self._lock:
            slow = list(self._slow)
        return [_make_item("start", key, self._defer_submit(key)) for key in slow]

    def _is_needed(self) -> bool:
        """Tell whether a schedule will be due one day, or something runs right now."""
        if self._claimed or views.counts(self.executor.ledger)["open"]:
            return True
        return not self.executor.closed() and self.executor.next_due() is not None

    def _begin_term(self) -> None:
        """Settle anew: what was claimed in an earlier term is another machine's by now."""
        with self._lock:
            self._claimed -= sum(handed.firings for handed in self._quick.values())
            self._quick.clear()
            self._slow.clear()
            self._settled = False

    def _settle_all(self) -> None:
        self.executor.settle()
        self._settled = True

    def _enqueue_handed(self, handed: Handed) -> None:
        with self._lock:
            if handed.slow:
                self._slow[handed.key] = handed
            else:
                self._quick[handed.key] = handed
                self._claimed += handed.firings
        self._woken.set()

    def _defer_settle(self, identifier: str) -> Callable[[], None]:
        return lambda: self.executor.settle_firing(identifier)

    def _defer_perform(self, key: str) -> Callable[[], None]:
        return lambda: self._perform_claimed(key)

    def _finish_claims(self) -> None:
        with self._lock:
            keys = list(self._quick)
        for key in keys:
            self._perform_claimed(key)

    def _defer_submit(self, key: str) -> Callable[[], None]:
        return lambda: self._submit_claimed(key)

    def _perform_claimed(self, key: str) -> None:
        """Run what was claimed, once: it is taken out before it begins."""
        with self._lock:
            handed = self._quick.pop(key, None)
        if handed is None:
            return
        try:
            handed.run()
        finally:
            with self._lock:
                self._claimed -= handed.firings

    def _submit_claimed(self, key: str) -> None:
        """Hand a firing to the engine; it stays due until the engine has it."""
        if handed := self._slow.get(key):
            handed.run()
        with self._lock:
            self._slow.pop(key, None)


def _make_item(action: str, subject: str, run: Callable[[], None]) -> WorkItem:
    return WorkItem(key=f"{action} {subject}", action=action, subject=subject, run=run)
