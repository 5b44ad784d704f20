"""The background loop: thinks once a second, in one process at a time.

While a new release starts beside the old one, both run this; the lock lets only one of them think,
and the kernel gives it on when its holder ends.
"""

import asyncio
import fcntl
from pathlib import Path
from typing import Protocol

_PAUSE_SECONDS = 1.0


class Counters(Protocol):
    def count(self, name: str) -> int: ...


class BackgroundLoop:
    def __init__(self, state: Counters, *, lock: Path, pause: float = _PAUSE_SECONDS) -> None:
        self._state = state
        self._lock = lock
        self._pause = pause
        self.thinking = False
        self.trouble = ""

    async def run(self) -> None:
        try:
            with self._lock.open("w") as file:
                while True:
                    self.think(file.fileno())
                    await asyncio.sleep(self._pause)
        except OSError as error:
            self.trouble = str(error)

    def think(self, lock: int) -> None:
        """Do one round, if it is this process's turn."""
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.thinking = False
            return
        self.thinking = True
        self._state.count("thoughts")
