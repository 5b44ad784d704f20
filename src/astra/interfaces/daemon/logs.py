"""The daemon's log with a cap: the file it writes to is turned over, repetitions are counted.

What others write there (a crash of Python, say) is kept too.
"""

import contextlib
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from astra.adapters.bounded_log import LARGEST, turn_over

REPEAT_SECONDS = 60.0
_MOST_KNOWN = 200


class Repetitions(logging.Filter):
    """Lets a message through once a minute, with the number of those that were held back."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._seconds = seconds
        self._last: dict[tuple[str, int, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        key, now = (record.name, record.levelno, str(record.msg)), self._seconds()
        since, held = self._last.get(key, (now - REPEAT_SECONDS, 0))
        if now - since < REPEAT_SECONDS:
            self._last[key] = (since, held + 1)
            return False
        if len(self._last) >= _MOST_KNOWN:
            self._last.clear()
        self._last[key] = (now, 0)
        if held:
            record.msg = f"{record.msg} (and {held} more like it)"
        return True


class BoundedHandler(logging.StreamHandler[TextIO]):
    """Writes to standard error; where that is a file, turns it over when it is large."""

    def __init__(self, path: Path, *, largest: int = LARGEST) -> None:
        super().__init__(sys.stderr)
        self._path, self._largest = path, largest

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(OSError, ValueError):
            turn_over(self._path, self.stream.fileno(), largest=self._largest)
        super().emit(record)


def set_up(log: Path) -> None:
    log_writer = BoundedHandler(log)
    log_writer.addFilter(Repetitions())
    logging.basicConfig(
        format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO, handlers=[log_writer]
    )
