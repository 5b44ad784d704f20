"""The daemon's log with a cap: the file it writes to is turned over, repetitions are counted.

What others write there (a crash of Python, say) is kept too.
"""

import contextlib
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from astra.adapters.bounded_log import LARGEST, turn_over

REPEAT_SECONDS = 60.0
MOST_DIFFERENT = 5
LONGEST_MESSAGE = 2_000


@dataclass
class _Window:
    """What one line of code has logged in a minute."""

    since: float
    messages: set[str]
    held: int = 0


class Repetitions(logging.Filter):
    """Lets a message through once a minute, and few different ones of one line of code.

    Whoever makes the daemon complain may choose the words too, so what repeats is told by where it
    is logged. What was held back is counted, and the number said with the next one that passes.
    """

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._seconds = seconds
        self._windows: dict[tuple[str, int, str, int], _Window] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        place, now = (record.name, record.levelno, record.pathname, record.lineno), self._seconds()
        window = self._windows.get(place)
        if window is None or now - window.since >= REPEAT_SECONDS:
            self._windows[place] = _Window(since=now, messages={str(record.msg)})
            _shorten(record, held=window.held if window else 0)
            return True
        if str(record.msg) in window.messages or len(window.messages) >= MOST_DIFFERENT:
            window.held += 1
            return False
        window.messages.add(str(record.msg))
        _shorten(record)
        return True


def _shorten(record: logging.LogRecord, *, held: int = 0) -> None:
    """Cut a message that is too long, and say how many like it there were."""
    words = record.getMessage()
    if len(words) > LONGEST_MESSAGE:
        words = f"{words[:LONGEST_MESSAGE]}… ({len(words)} characters)"
    record.msg = f"{words} (and {held} more like it)" if held else words
    record.args = ()


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
