"""Where calls of MCP sessions work: short ones, long ones and an operator's each in a lane.

Every lane has threads of its own, so a short call never waits for a long one, and nobody's health
check for somebody's tests. Within a lane one session works at so many calls at once and its others
wait; of all sessions together so many wait, and the next is refused (`busy`).
"""

import asyncio
import functools
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum

from astra.interfaces.daemon.capacity import Busy


class LaneName(StrEnum):
    SHORT = "short"
    LONG = "long"
    OPERATOR = "operator"


@dataclass(frozen=True, kw_only=True)
class LaneSize:
    working: int
    of_session: int
    present: int = 96
    """How many work or wait, of all sessions."""
    present_of_session: int = 40


SIZES: Mapping[LaneName, LaneSize] = {
    LaneName.SHORT: LaneSize(working=16, of_session=8),
    LaneName.LONG: LaneSize(working=12, of_session=4),
    LaneName.OPERATOR: LaneSize(working=4, of_session=4),
}


@dataclass
class _Queue:
    turn: asyncio.Semaphore
    present: int = 0


@dataclass
class Lane:
    name: LaneName
    size: LaneSize
    _present: int = 0
    _queues: dict[str, _Queue] = field(default_factory=dict[str, _Queue])

    def __post_init__(self) -> None:
        self._turn = asyncio.Semaphore(self.size.working)
        self.threads = ThreadPoolExecutor(self.size.working, thread_name_prefix=f"mcp-{self.name}")

    async def enter(self, session: str) -> Callable[[], None]:
        """Wait for a thread, and give what is to be called when it is free again.

        A session's own turn comes first: while it waits for that, it keeps no thread from others.
        """
        queue = self._find_queue(session)
        queue.present += 1
        self._present += 1
        try:
            await queue.turn.acquire()
            try:
                await self._turn.acquire()
            except BaseException:  # cancelled while it waited: raised again, the turn goes on
                queue.turn.release()
                raise
        except BaseException:  # as above
            self._leave(session, queue)
            raise
        return functools.partial(self._finish, session, queue)

    def _find_queue(self, session: str) -> _Queue:
        queue = self._queues.get(session)
        if queue is not None and queue.present >= self.size.present_of_session:
            raise _build_busy_error(f"{queue.present} calls of this session run or wait")
        if self._present >= self.size.present:
            raise _build_busy_error(f"too many {self.name} calls wait already")
        if queue is None:
            queue = self._queues[session] = _Queue(asyncio.Semaphore(self.size.of_session))
        return queue

    def _finish(self, session: str, queue: _Queue) -> None:
        self._turn.release()
        queue.turn.release()
        self._leave(session, queue)

    def _leave(self, session: str, queue: _Queue) -> None:
        self._present -= 1
        queue.present -= 1
        if not queue.present:
            self._queues.pop(session, None)  # sessions come and go


def _build_busy_error(why: str) -> Busy:
    return Busy(f"the daemon is busy: {why}", next_step="try again in a few seconds")
