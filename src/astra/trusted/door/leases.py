"""Answers that stay open end when whoever asked for them is not recognised any more."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED
from astra.trusted.policy import access
from astra.trusted.policy.access import Principal

_ENDINGS = frozenset({access.SESSION_CLOSED, access.TOKEN_REVOKED, CLOCK_ACCEPTED})


class LedgerEvents(Protocol):
    """What leases need of the stream of ledger events."""

    observers: list[Callable[[Sequence[str]], None]]

    def start(self) -> None: ...


class Leases:
    """Looks again at everybody when somebody was turned away, and at every sign of life."""

    def __init__(self, events: LedgerEvents, still: Callable[[Principal], bool]) -> None:
        self._events = events
        self._still = still
        self._held: dict[asyncio.Future[None], Principal] = {}
        self._looking: set[asyncio.Task[None]] = set()
        events.observers.append(self._observe_events)

    async def run(self, who: Principal, work: Coroutine[Any, Any, None]) -> bool:
        """Run something for somebody for as long as they are recognised; tell whether it ended."""
        self._events.start()
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._held[over] = who
        task = asyncio.create_task(work)
        try:
            await asyncio.wait({task, over}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self._held[over]
            ended = task.done()
            if not ended:
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        return ended

    def _observe_events(self, kinds: Sequence[str]) -> None:
        if self._held and (not kinds or not _ENDINGS.isdisjoint(kinds)):
            task = asyncio.create_task(self._end_lost_leases())
            self._looking.add(task)
            task.add_done_callback(self._looking.discard)

    async def _end_lost_leases(self) -> None:
        open_leases = dict(self._held)
        lost_leases = await asyncio.to_thread(
            lambda: [over for over, who in open_leases.items() if not self._still(who)]
        )
        for over in lost_leases:
            if not over.done():
                over.set_result(None)
