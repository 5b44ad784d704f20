"""Whether anybody needs the daemon: requests under way, and when the last one ended."""

import time
from collections.abc import Generator
from contextlib import contextmanager


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
