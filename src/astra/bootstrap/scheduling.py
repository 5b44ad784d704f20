"""Putting the executor together: the counter as its door, the registry as its catalogue."""

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from astra.schedules import views
from astra.schedules.executor import BATCH, CHUNK, Executor
from astra.schedules.model import Firing, Schedule
from astra.schedules.ports import ToolFacts
from astra.trusted.calls.counter import Counter, Request
from astra.trusted.calls.registry import Registry
from astra.trusted.kernel.clock import Clock, parse_time
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy.call import Actor, Call, Role, Tier

WORKERS = 8
LONGEST_SLEEP = 30.0
_PAUSE = 1.0
_log = logging.getLogger("astra.scheduler")


class RegistryCatalogue:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def facts(self, name: str) -> ToolFacts:
        tool = self._registry.find(name)
        return ToolFacts(
            name=tool.name,
            tier=int(tool.tier),
            operator_only=tool.operator_only,
            idempotent=tool.tier is Tier.READ or tool.hints.idempotent,
            slow=tool.slow,
        )

    def check(self, name: str, payload: Mapping[str, Any]) -> None:
        self._registry.find(name).parse(payload)


class ScheduleDoor:
    """The door `schedule`: the agent acts, under the schedule's own name and budget."""

    def __init__(self, counter: Callable[[], Counter]) -> None:
        self._counter = counter

    def understand(self, schedule: Schedule, firing: Firing) -> Call:
        return self._counter().understand(_request(schedule, firing))

    def begin(self, schedule: Schedule, firing: Firing) -> Callable[[], Mapping[str, Any]]:
        return self._counter().begin(_request(schedule, firing))


class Scheduler:
    """The thread that wakes exactly when something is due, and the threads that do it.

    It sleeps until the next due time or until the ledger moves. No sleep is longer than half a
    minute, so that a clock that was set, or a machine that slept, is noticed within that time.
    """

    def __init__(self, executor: Executor, ledger: Ledger, clock: Clock) -> None:
        self.executor = executor
        self._ledger = ledger
        self._clock = clock
        self._stopping = threading.Event()
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="firing")
        self._handed = 0
        self._freed = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._loop, name="scheduler", daemon=True)
        self.trouble = ""
        executor.hand_out = self._hand_out

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Claim nothing more, and let what runs come to its end."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._pool.shutdown(wait=True)

    def needed(self) -> bool:
        """Tell whether a schedule will be due one day, or something runs right now."""
        if self._handed or views.counts(self._ledger)["open"]:
            return True
        return not self.executor.closed() and self.executor.next_due() is not None

    def state(self) -> dict[str, Any]:
        return {
            **views.counts(self._ledger),
            "running": self._handed,
            "next_due": self.executor.next_due(),
            "trouble": self.trouble,
        }

    def _loop(self) -> None:
        settled = False
        while not self._stopping.is_set():
            head = self._ledger.head().sequence
            try:
                if not settled:
                    self.executor.settle()
                    settled = True
                self._wait_for_room()
                busy = self.executor.run_due(BATCH - self._handed)
                self.trouble = ""
            except Exception as error:  # noqa: BLE001 - whatever it is, the next firings are due too
                self._tell(error)
                self._stopping.wait(_PAUSE)
                continue
            if not busy:
                self._sleep(head)

    def _wait_for_room(self) -> None:
        while self._handed > BATCH - CHUNK and not self._stopping.is_set():
            self._freed.wait(1.0)
            self._freed.clear()

    def _sleep(self, head: int) -> None:
        due = self.executor.next_due()
        seconds = LONGEST_SLEEP
        if due is not None:
            seconds = (parse_time(due) - self._clock.now()).total_seconds()
        deadline = min(max(seconds, 0.001), LONGEST_SLEEP)
        while deadline > 0 and not self._stopping.is_set():
            if self._ledger.wait(head, min(deadline, 1.0)):
                return
            deadline -= 1.0

    def _hand_out(self, work: Callable[[], None], firings: int) -> None:
        with self._lock:
            self._handed += firings
        self._pool.submit(self._do, work, firings)

    def _do(self, work: Callable[[], None], firings: int) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - it would be lost in the pool
            self._tell(error)
        finally:
            with self._lock:
                self._handed -= firings
            self._freed.set()

    def _tell(self, error: Exception) -> None:
        """Show a failure in the status; one that nobody foresaw goes to the log with its place."""
        if isinstance(error, AstraError):
            self.trouble = error.detail
        else:
            self.trouble = f"unexpected: {type(error).__name__}"
            _log.error("a firing could not be dealt with", exc_info=error)


def _request(schedule: Schedule, firing: Firing) -> Request:
    return Request(
        name=schedule.definition.target_tool,
        arguments=schedule.definition.payload,
        actor=Actor(role=Role.AGENT, name=schedule.id, door="schedule"),
        correlation=firing.correlation,
        schedule_id=schedule.id,
        schedule_budget=schedule.definition.per_day_budget,
        at_least=Tier(schedule.definition.safety_tier),
    )
