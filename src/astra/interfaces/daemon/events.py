"""Records as server-sent events: one reader of the ledger, any number of listeners.

A thread waits for the ledger, writes each new record once as an event, and keeps the latest ones. A
listener has a position and nothing else: it sends what lies behind it at its own speed, from the
kept events or, when it has fallen behind them, from the ledger. So a slow listener holds neither
the others nor memory, and one that comes back with `Last-Event-ID` misses nothing.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from astra.trusted.ledger.ports import Ledger

_LONGEST_WAIT = 1.0
_CHUNK = 200
_MOST_KEPT, _MOST_BYTES = 4_096, 8 << 20
_STILL_HERE = b": still here\n\n"
Observer = Callable[[Sequence[str]], None]


class Events:
    """What is new in the ledger, ready to be sent."""

    def __init__(self, ledger: Ledger, *, heartbeat: float = 15.0) -> None:
        self._ledger = ledger
        self._heartbeat = heartbeat
        self._frames: list[bytes] = []
        self._first, self._bytes = 1, 0
        self._waiting: list[asyncio.Future[None]] = []
        self._joined: tuple[int, int, bytes] = (0, 0, b"")
        self._thread: threading.Thread | None = None
        self.observers: list[Observer] = []
        self.stopped = False

    @property
    def last_sequence(self) -> int:
        return self._first + len(self._frames) - 1

    def start(self) -> None:
        """Read from now on; must be called on the event loop. Starting again does nothing."""
        if self._thread is None and not self.stopped:
            self._first = self._read_last_sequence() + 1
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(
                target=self._read_ledger,
                args=(loop, self.last_sequence),
                name="event-reader",
                daemon=True,
            )
            self._thread.start()

    def stop(self) -> None:
        """End every stream; must be called on the event loop."""
        self.stopped = True
        self._wake_waiters()

    async def read_after(self, after: int) -> tuple[bytes, int]:
        """Give what follows `after` and is known, at most a chunk of it, and where that ends."""
        if after + 1 < self._first:
            rows = await asyncio.to_thread(self._query_rows, after)
            return b"".join(map(_encode_event, rows)), rows[-1][0] if rows else after
        return (b"", after) if after >= self.last_sequence else self._join_kept_events(after)

    def waiter(self) -> asyncio.Future[None]:
        """Give a future that is done when there is something new, or a sign of life is due."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        return future

    def _join_kept_events(self, after: int) -> tuple[bytes, int]:
        """Join the kept events behind a position; most listeners ask for the same ones."""
        start, end, joined = self._joined
        last = min(self.last_sequence, after + _CHUNK)
        if (start, end) != (after, last):
            joined = b"".join(self._frames[after + 1 - self._first : last + 1 - self._first])
            self._joined = after, last, joined
        return joined, last

    def _read_ledger(self, loop: asyncio.AbstractEventLoop, position: int) -> None:
        beat = time.monotonic()
        while not self.stopped:
            rows: list[tuple[int, str, str]] = []
            if self._ledger.wait(position, _LONGEST_WAIT):
                rows = self._query_rows(position)
                position = rows[-1][0] if rows else position
            late = time.monotonic() - beat >= self._heartbeat
            if (rows or late) and not self.stopped:
                beat = time.monotonic() if late else beat
                loop.call_soon_threadsafe(self._publish_rows, rows)

    def _publish_rows(self, rows: list[tuple[int, str, str]]) -> None:
        frames = [_encode_event(row) for row in rows]
        self._frames += frames
        self._bytes += sum(map(len, frames))
        self._forget_old()
        for observe in self.observers:
            observe([kind for _, kind, _ in rows])
        self._wake_waiters()

    def _forget_old(self) -> None:
        if len(self._frames) > _MOST_KEPT or self._bytes > _MOST_BYTES:
            dropped = self._frames[: max(len(self._frames) // 2, 1)]
            del self._frames[: len(dropped)]
            self._first += len(dropped)
            self._bytes -= sum(map(len, dropped))

    def _wake_waiters(self) -> None:
        """Wake everybody once; whoever waits again does so anew."""
        waiters, self._waiting = self._waiting, []
        for future in waiters:
            if not future.done():
                future.set_result(None)

    def _read_last_sequence(self) -> int:
        return self._ledger.query("SELECT coalesce(max(sequence), 0) FROM record")[0][0]

    def _query_rows(self, after: int) -> list[Any]:
        return self._ledger.query(
            "SELECT sequence, type, line FROM record WHERE sequence > ? ORDER BY sequence LIMIT ?",
            [after, _CHUNK],
        )


class EventStream(Response):
    """One listener: sends what is behind its position until it or the daemon leaves."""

    media_type = "text/event-stream"

    def __init__(self, events: Events, after: int) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._after = after
        self._gone = False
        self._waiting: asyncio.Future[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        self._events.start()
        await send(
            {"type": "http.response.start", "status": 200, "headers": list(self.raw_headers)}
        )
        await send(_make_body_message(b": following\n\n"))
        leaving = asyncio.create_task(self._await_disconnect(receive))
        try:
            await self._send_events(send)
        finally:
            leaving.cancel()
        if not self._gone:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_events(self, send: Send) -> None:
        events = self._events
        while not (self._gone or events.stopped):
            chunk, self._after = await events.read_after(self._after)
            if chunk:
                await send(_make_body_message(chunk))
            elif await self._await_news() and self._after >= events.last_sequence:
                await send(_make_body_message(_STILL_HERE))

    async def _await_news(self) -> bool:
        """Wait, unless something came or ended since; tells whether the stream goes on."""
        if self._after >= self._events.last_sequence and not (self._gone or self._events.stopped):
            self._waiting = self._events.waiter()
            await self._waiting
        return not (self._gone or self._events.stopped)

    async def _await_disconnect(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(None)


def _encode_event(row: tuple[int, str, str]) -> bytes:
    sequence, kind, line = row
    return f"id: {sequence}\nevent: {kind}\ndata: {line}\n\n".encode()


def _make_body_message(content: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": True}
