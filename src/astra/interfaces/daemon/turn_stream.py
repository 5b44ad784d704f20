"""An answer of the persona as it comes: a thread talks, the response passes on what it hears.

Whoever leaves, or is not recognised any more, cuts the answer off; what came of it is kept.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Iterable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from astra.persona.turn import Heard, Turn
from astra.trusted.kernel.errors import AstraError

PROBLEM = "problem"
_HEARTBEAT = 15.0
_STILL_HERE = b": still here\n\n"
Frames = Callable[[Heard], Iterable[bytes]]
_log = logging.getLogger("astra.chat")


class TurnStream(Response):
    media_type = "text/event-stream"

    def __init__(self, turn: Turn, frames: Frames, *, first: Iterable[bytes] = ()) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._turn = turn
        self._frames = frames
        self._first = first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        heard_queue: asyncio.Queue[Heard | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def hear(each: Heard | None) -> None:
            with contextlib.suppress(RuntimeError):  # the daemon left; the answer is kept anyway
                loop.call_soon_threadsafe(heard_queue.put_nowait, each)

        threading.Thread(target=_run_turn, args=(self._turn, hear), name="chat").start()
        leaving = asyncio.create_task(self._await_disconnect(receive))
        try:
            await send(
                {"type": "http.response.start", "status": 200, "headers": list(self.raw_headers)}
            )
            await _send_body(send, b"".join(self._first))
            while (item := await _await_heard(heard_queue)) is not None:
                frame = b"".join(self._frames(item)) if isinstance(item, Heard) else item
                await _send_body(send, frame)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._turn.cut.set()
            leaving.cancel()

    async def _await_disconnect(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._turn.cut.set()


def _run_turn(turn: Turn, hear: Callable[[Heard | None], None]) -> None:
    """Run a turn to its end and tell of it; nothing is what comes last."""
    try:
        turn.run(hear)
    except AstraError as error:
        hear(Heard(kind=PROBLEM, data=error.as_dict()))
    except Exception:  # noqa: BLE001 - whoever listens hears no stack trace
        _log.exception("a turn of %s failed", turn.conversation)
        hear(Heard(kind=PROBLEM, data=_FAILED))
    finally:
        hear(None)


_FAILED = {
    "code": "failed",
    "detail": "the daemon failed at this answer",
    "next_step": "look at logs/daemon.log in the data root",
}


async def _await_heard(heard: "asyncio.Queue[Heard | None]") -> Heard | bytes | None:
    try:
        async with asyncio.timeout(_HEARTBEAT):
            return await heard.get()
    except TimeoutError:
        return _STILL_HERE


async def _send_body(send: Send, content: bytes) -> None:
    if content:
        await send({"type": "http.response.body", "body": content, "more_body": True})
