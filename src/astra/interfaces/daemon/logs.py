"""The daemon's log with a cap: the file it writes to is turned over, repetitions are counted.

The daemon is started with its log as standard error, so the file cannot simply be renamed: it is
copied to `daemon.log.1` and emptied. What others write there (a crash of Python, say) is kept too.
"""

import contextlib
import logging
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

LARGEST, KEPT = 8 << 20, 3
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


def turn_over(path: Path, descriptor: int, *, largest: int = LARGEST) -> None:
    """Copy a log that is too large to `NAME.1`, what was there to `NAME.2`, and empty it."""
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode) or facts.st_size <= largest:
        return
    for number in range(KEPT - 1, 0, -1):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(f"{path.name}.{number}").replace(
                path.with_name(f"{path.name}.{number + 1}")
            )
    with contextlib.suppress(OSError):  # on a full disk the old lines are given up
        shutil.copyfile(path, path.with_name(f"{path.name}.1"))
    os.ftruncate(descriptor, 0)


def set_up(log: Path) -> None:
    log_writer = BoundedHandler(log)
    log_writer.addFilter(Repetitions())
    logging.basicConfig(
        format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO, handlers=[log_writer]
    )
