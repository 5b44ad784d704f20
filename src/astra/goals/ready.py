"""Which tasks of a goal are ready and in nobody's hand here, read from the index many at a time.

What was ready at a version of a goal stays so: its tasks leave that state by a claim of this
process or by a record about the goal, which moves its version. Whoever is wrong all the same loses
the race for the claim, whose key is in the ledger once.
"""

import threading
from collections import deque
from dataclasses import dataclass, field

from astra.goals.book import Goals, TaskRow
from astra.trusted.kernel.clock import Clock, format_time

READ_AT_ONCE = 64


@dataclass(frozen=True, kw_only=True)
class ReadyTask:
    row: TaskRow
    after_failure: bool
    """Whether a task before it did not succeed."""


@dataclass(frozen=True)
class _Queue:
    version: int
    tasks: deque[ReadyTask] = field(default_factory=deque[ReadyTask])


@dataclass(kw_only=True)
class ReadyTasks:
    goals: Goals
    clock: Clock
    _queues: dict[str, _Queue] = field(default_factory=dict[str, _Queue])
    _in_hand: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, goal: str, version: int) -> ReadyTask | None:
        """Take a ready task of a goal as it is at a version; it is this caller's until put back."""
        with self._lock:
            queue = self._queues.get(goal)
            if queue is None or queue.version != version or not queue.tasks:
                queue = self._queues[goal] = self._read_queue(goal, version)
            if not queue.tasks:
                del self._queues[goal]
                return None
            ready = queue.tasks.popleft()
            self._in_hand.add((goal, ready.row.id))
        return ready

    def put_back(self, row: TaskRow) -> None:
        """Let go of a task that is over, or could not be claimed."""
        self._in_hand.discard((row.goal, row.id))

    def _read_queue(self, goal: str, version: int) -> _Queue:
        now = format_time(self.clock.now())
        rows = self.goals.ready_tasks(goal, now, limit=READ_AT_ONCE + len(self._in_hand))
        behind_failures = self.goals.list_behind_failures(goal)
        tasks = (
            ReadyTask(row=row, after_failure=row.id in behind_failures)
            for row in rows
            if (goal, row.id) not in self._in_hand
        )
        return _Queue(version, deque(tasks))
