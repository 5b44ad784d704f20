"""Whether anybody needs the daemon: requests under way, and when the last one ended."""

import time
from collections.abc import Generator
from contextlib import contextmanager

from starlette.types import ASGIApp, Receive, Scope, Send


class Activity:
    def __init__(self) -> None:
        self._under_way = 0
        self._last = time.monotonic()
        self.leaving = False

    @contextmanager
    def one_request(self) -> Generator[None, None, None]:
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._last = time.monotonic()

    def idle_seconds(self) -> float:
        return 0.0 if self._under_way else time.monotonic() - self._last


class CountRequests:
    """ASGI middleware: a request is under way until its last byte, also when it streams."""

    def __init__(self, app: ASGIApp, *, activity: Activity) -> None:
        self._app = app
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._activity.one_request():
            await self._app(scope, receive, send)
