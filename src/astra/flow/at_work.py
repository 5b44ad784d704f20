"""One lane at work: which of its items run, which rest after a failure, and what fails now.

An item runs in a thread of its own, at most as many as the lane has workers, and only one for each
entity. One that fails rests for a while that grows, and the others go on; its trouble is shown
until it succeeds or is due no more.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from astra.flow.lane import Lane, WorkItem
from astra.flow.pauses import FIRST_PAUSE, MOST_LOST_RACES, FailureLog, Rest
from astra.trusted.kernel.clock import Clock, parse_time
from astra.trusted.kernel.errors import AstraError, DuplicateKey, StaleVersion
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.fencing import LeaseLost, bind_fence, work_under
from astra.trusted.ledger.ports import Ledger
from astra.trusted.stop.machines import Term

_SHORTEST_SLEEP = 0.05
_LOOK_AT_NEEDLESS = 1.0
_LONGEST_LANE_PAUSE = 10.0
_log = logging.getLogger("astra.background")


_LOOK_FOR_LEASE = 0.5


def _stand_alone(_lease: str) -> Term | None:
    return Term()


@dataclass(kw_only=True)
class LaneAtWork:
    lane: Lane
    ledger: Ledger
    clock: Clock
    seconds: Callable[[], float]
    stopping: threading.Event
    woken: threading.Event
    find_term: Callable[[str], Term | None] = _stand_alone
    _term: Term | None = field(default=None, init=False)
    _running: dict[str, WorkItem] = field(default_factory=dict[str, WorkItem], init=False)
    _threads: set[threading.Thread] = field(default_factory=set[threading.Thread], init=False)
    _rests: dict[str, Rest] = field(default_factory=dict[str, Rest], init=False)
    _own_rest: Rest = field(default_factory=Rest, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _looked_at: float = field(default=float("-inf"), init=False)
    _look_at: float = field(default=float("-inf"), init=False)
    _due_count: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._failures = FailureLog(_log)

    # What others ask

    @property
    def running_count(self) -> int:
        return len(self._running)

    @property
    def trouble(self) -> str:
        """Say what fails now: the lane itself, or the item that rests longest."""
        resting = [backoff for backoff in list(self._rests.values()) if backoff.why]
        return self._own_rest.why or max(resting, key=lambda rest: rest.seconds, default=Rest()).why

    def is_needed(self) -> bool:
        return self.running_count > 0 or (self._leads() is not None and self.lane.holds_daemon())

    # What the loop calls

    def look(self, *, woken: bool) -> float:
        """Start what is due, if it is time to look; says in how many seconds to look again."""
        now = self.seconds()
        if woken:
            self._look_at = min(self._look_at, self._looked_at + self.lane.breath)
        if now >= max(self._look_at, self._own_rest.until):
            self._look_at = now + self._hand_out_or_rest(now)
            self._looked_at = now
        return max(self._look_at, self._own_rest.until) - now

    def run_due(self) -> int:
        """Run what is due now, in this thread, until nothing is; says how many items."""
        count = 0
        while not self.stopping.is_set() and self._begin_term() is not None:
            item = next(iter(self._find_startable(self.lane.due(), frozenset())), None)
            if item is None or not self._claim_item(item):
                break
            self._run_in_thread(item)
            count += 1
        return count

    def join(self) -> None:
        """Wait for what runs, as long as the lane grants it; the rest ends with the process."""
        grace = self.lane.grace
        deadline = time.monotonic() + (grace or 0.0)
        for thread in list(self._threads):
            thread.join(None if grace is None else max(0.0, deadline - time.monotonic()))

    def finish_claims(self) -> None:
        """Run what was claimed and not begun, now that nothing is claimed any more."""
        try:
            self.lane.finish_claims()
        except Exception as error:  # noqa: BLE001 - the other lanes still leave in order
            self._log_unforeseen(self.lane.name, error)

    # Looking

    def _hand_out_or_rest(self, now: float) -> float:
        try:
            pause = self._hand_out()
            self._own_rest = Rest()
        except Exception as error:  # noqa: BLE001 - whatever it is, the other lanes go on
            self._own_rest.extend_rest(now, _describe_error(error), _LONGEST_LANE_PAUSE)
            self._log_unforeseen(self.lane.name, error)
            return self._own_rest.seconds
        return pause

    def _hand_out(self) -> float:
        """Start what is ready; gives the seconds after which something may have changed.

        What was in hand before asking is left out, even if it ended meanwhile: the answer may be
        from before that end. Nothing is asked while another machine leads this kind of work.
        """
        term = self._begin_term()
        if term is None:
            return _LOOK_FOR_LEASE
        with work_under(term.fence):
            return self._hand_out_due()

    def _leads(self) -> Term | None:
        return self.find_term(self.lane.lease) if self.lane.lease else Term()

    def _begin_term(self) -> Term | None:
        """Give the term in which this machine leads; a new one begins with what the chain says."""
        term = self._leads()
        if term is not None and term != self._term:
            self.lane.begin_term()
            self._term = term
        return term

    def _hand_out_due(self) -> float:
        with self._lock:
            running = list(self._running.values())
        due = self.lane.due()
        self._due_count = len(due)
        needless = self._end_needless(running, due)
        for item in self._find_startable(due, {item.entity_id for item in running}):
            if self._claim_item(item):
                self._start_thread(item)
        return min(self._until_next(), _LOOK_AT_NEEDLESS if needless else self.lane.look_again)

    def _end_needless(self, running: Sequence[WorkItem], due: Sequence[WorkItem]) -> bool:
        """End what is due no more; looked at again and again, as a box starts late."""
        keys = {item.key for item in due}
        endings = [item.end for item in running if item.end and item.key not in keys]
        for end in endings:
            end()
        return bool(endings)

    def _find_startable(
        self, due: Sequence[WorkItem], busy: AbstractSet[str]
    ) -> Iterator[WorkItem]:
        """Give what may start now. Items that are due no more stop resting."""
        keys, now = {item.key for item in due}, self.seconds()
        for key in [key for key in list(self._rests) if key not in keys]:
            self._rests.pop(key, None)
        ready = [
            item
            for item in due
            if item.entity_id not in busy and self._rests.get(item.key, Rest()).until <= now
        ]
        if ready and self.running_count < self.lane.workers and not self.lane.closed():
            yield from ready

    def _until_next(self) -> float:
        now = self.seconds()
        pauses = [
            backoff.until - now for backoff in list(self._rests.values()) if backoff.until > now
        ]
        with self._lock:
            pauses += [item.every for item in self._running.values() if item.every]
        next_due = self.lane.next_due() if self.running_count < self.lane.workers else None
        if next_due is not None:
            pauses.append((parse_time(next_due) - self.clock.now()).total_seconds())
        soonest = min(pauses, default=self.lane.look_again)
        return min(max(soonest, _SHORTEST_SLEEP), self.lane.look_again)

    # Running

    def _claim_item(self, item: WorkItem) -> bool:
        """Put an item into a free hand, unless it or its entity is in one already."""
        with self._lock:
            entities = {running.entity_id for running in self._running.values()}
            is_taken = item.key in self._running or item.entity_id in entities
            if is_taken or len(self._running) >= self.lane.workers or self.stopping.is_set():
                return False
            self._running[item.key] = item
            return True

    def _start_thread(self, item: WorkItem) -> None:
        name = f"{self.lane.name}-{item.action}"
        fenced_work = bind_fence(lambda: self._run_in_thread(item))
        thread = threading.Thread(target=fenced_work, name=name, daemon=True)
        self._threads.add(thread)
        try:
            thread.start()
        except RuntimeError:  # there is no room for a thread: put it back, and rest
            self._put_back(item, thread)
            raise

    def _run_in_thread(self, item: WorkItem) -> None:
        only_looked = False
        try:
            if not self.stopping.is_set():
                only_looked = self._run_item(item)
        finally:
            self._put_back(item, threading.current_thread())
            if not only_looked or self._due_count > 1:  # nobody waits for what only looked
                self.woken.set()

    def _put_back(self, item: WorkItem, thread: threading.Thread) -> None:
        with self._lock:
            self._running.pop(item.key, None)
            self._threads.discard(thread)

    def _run_item(self, item: WorkItem) -> bool:
        """Run it; tells whether it is one that looks now and then, and changed nothing."""
        head = self.ledger.head().sequence
        try:
            item.run()
        except Exception as error:  # noqa: BLE001 - whatever it was, it is recorded and shown
            self._record_failure(item, error)
            return False
        moved = self.ledger.head().sequence != head
        self._went_well(item, moved=moved)
        return bool(item.every) and not moved

    def _went_well(self, item: WorkItem, *, moved: bool) -> None:
        self._rests.pop(item.key, None)
        pause = item.every or (0.0 if moved else FIRST_PAUSE)  # do not insist on what did nothing
        if pause:
            self._rests[item.key] = Rest(pause, self.seconds() + pause)

    def _record_failure(self, item: WorkItem, error: Exception) -> None:
        """Let an item rest for longer each time; its first failure is recorded.

        That a door or another lane wrote first is no failure: the item looks again, unless it
        never gets to write.
        """
        backoff = self._rests.setdefault(item.key, Rest())
        if isinstance(error, LeaseLost):
            backoff.rest_after_race(self.seconds())
            return
        if isinstance(error, StaleVersion | DuplicateKey) and backoff.lost_races < MOST_LOST_RACES:
            backoff.rest_after_race(self.seconds())
            return
        first, why = not backoff.why, _describe_error(error)
        backoff.seconds = 0.0 if first else backoff.seconds
        text = f"{item.label}: {one_line(why, 300)}"
        backoff.extend_rest(self.seconds(), text, self.lane.longest_pause)
        self._log_unforeseen(f"{self.lane.name}: {item.action}", error)
        if first and self.lane.failure:
            with contextlib.suppress(AstraError):  # the status shows it all the same
                self.ledger.append([self.lane.failure(item, why)], lazy=True)

    def _log_unforeseen(self, what: str, error: Exception) -> None:
        """Log what nobody foresaw, with its place; what was foreseen is in the status."""
        if not isinstance(error, AstraError):
            self._failures.log_failure(what, error, self.seconds())


def _describe_error(error: Exception) -> str:
    return error.detail if isinstance(error, AstraError) else f"{type(error).__name__}: {error}"
