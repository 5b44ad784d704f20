"""Callers in a queue: the first in line commits for all who wait, then wakes them.

One sync so serves everybody who came while the sync before it ran. Where a commit takes long, its
leader may wait a moment for those whom the last one served: they come again at once, and without it
half of them would always stand in the next group.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from astra.trusted.file_ledger.trouble import unavailable_error
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.fencing import Fence
from astra.trusted.ledger.record import Event, Record


@dataclass
class Pending:
    """One caller's append while it waits."""

    events: Sequence[Event]
    expect: Mapping[str, int]
    lazy: bool
    fence: Fence | None = None
    records: list[Record] = field(default_factory=list[Record])
    error: AstraError | None = None
    _leads: bool = False
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._turn.acquire()

    def wait_for_turn(self) -> bool:
        """Block until this append is settled (False) or is to commit for all who wait (True)."""
        self._turn.acquire()
        return self._leads

    def wake(self, *, leads: bool) -> None:
        self._leads = leads
        self._turn.release()

    def result(self) -> list[Record]:
        if self.error:
            raise self.error
        return self.records


class Turns:
    def __init__(
        self, commit: Callable[[list[Pending]], None], *, gathering_share: float = 0.0
    ) -> None:
        """Wait for callers of the last round for at most this share of what its commit took."""
        self._commit, self._gathering_share = commit, gathering_share
        self._queue: list[Pending] = []
        self._lock = threading.Lock()
        self._all_back = threading.Condition(self._lock)
        self._callers, self._commit_seconds = 1, 0.0
        self._committing = False
        self.busy = threading.RLock()
        """Held by whoever commits; also by those who may not be disturbed by a commit."""

    def take(self, pending: Pending) -> list[Record]:
        """Wait for the turn of an append, or for its outcome where somebody else commits it."""
        if self._enqueue_pending(pending) or pending.wait_for_turn():
            self._commit_queue()
        return pending.result()

    def _enqueue_pending(self, pending: Pending) -> bool:
        """Queue up; tell whether nobody is committing, so that this caller does."""
        with self._lock:
            self._queue.append(pending)
            leads, self._committing = not self._committing, True
            if len(self._queue) >= self._callers:
                self._all_back.notify()
        return leads

    def _commit_queue(self) -> None:
        """Commit for all who wait, wake them, and let the next in line commit what came since."""
        with self.busy:
            with self._lock:
                self._wait_for_callers()
                group, self._queue = self._queue, []
            begun_at = time.monotonic()
            try:
                self._commit(group)
            except AstraError as error:
                _fail_group(group, error)
            except BaseException as error:  # whatever it is, nobody may take it for success
                _fail_group(group, unavailable_error(OSError(0, repr(error)), uncertain=True))
                raise
            finally:
                with self._lock:
                    self._commit_seconds = time.monotonic() - begun_at
                    self._callers = len(group) + len(self._queue)
                    self._committing = bool(self._queue)
                    successor = self._queue[0] if self._queue else None
                for pending in group:
                    pending.wake(leads=False)
                if successor:
                    successor.wake(leads=True)

    def _wait_for_callers(self) -> None:
        """Let those come back whom the last commit served; one alone never waits."""
        seconds = self._commit_seconds * self._gathering_share
        if seconds and self._callers > len(self._queue):
            self._all_back.wait_for(lambda: len(self._queue) >= self._callers, seconds)


def _fail_group(group: list[Pending], error: AstraError) -> None:
    for pending in group:
        pending.error = pending.error or error
