"""The daemon's logs with a cap: files are turned over, repetitions counted, secrets masked.

`logs/daemon.ndjson` has an object a line (`time`, `level`, `logger`, `message`, `pid`, and where
something was raised `traceback`), for `astra logs` and other programs. `logs/daemon.log` is what
goes to standard error: what others write there (a crash of Python, say) is kept too.
"""

import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from astra.adapters.bounded_log import LARGEST, turn_over
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.masking import mask

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
            _shorten_message(record, held=window.held if window else 0)
            return True
        if str(record.msg) in window.messages or len(window.messages) >= MOST_DIFFERENT:
            window.held += 1
            return False
        window.messages.add(str(record.msg))
        _shorten_message(record)
        return True


def _shorten_message(record: logging.LogRecord, *, held: int = 0) -> None:
    """Cut a message that is too long, and say how many like it there were."""
    message = record.getMessage()
    if len(message) > LONGEST_MESSAGE:
        message = f"{message[:LONGEST_MESSAGE]}… ({len(message)} characters)"
    record.msg = f"{message} (and {held} more like it)" if held else message
    record.args = ()


class MaskedFormatter(logging.Formatter):
    """A line for people, without the secrets in it."""

    def format(self, record: logging.LogRecord) -> str:
        return mask(super().format(record))


class StructuredLog:
    """An object a line, in a file of its own that is turned over when it is large."""

    def __init__(self, path: Path, *, largest: int = LARGEST) -> None:
        self._path, self._largest = path, largest
        self._descriptor: int | None = None

    def write(self, record: logging.LogRecord) -> None:
        """Write a line; on a full disk the line is given up, never the daemon."""
        line = json.dumps(describe_record(record), ensure_ascii=False).encode() + b"\n"
        with contextlib.suppress(OSError):
            if self._descriptor is None:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
                self._descriptor = os.open(self._path, flags, 0o600)
            turn_over(self._path, self._descriptor, largest=self._largest)
            os.write(self._descriptor, line)


def describe_record(record: logging.LogRecord) -> dict[str, object]:
    """Say everything about a record that helps whoever reads it later, without secrets."""
    moment = datetime.fromtimestamp(record.created, UTC)
    document: dict[str, object] = {
        "time": format_time(moment),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": mask(record.getMessage()),
        "pid": record.process,
    }
    if record.exc_info:
        document["traceback"] = mask(logging.Formatter().formatException(record.exc_info))
    return document


class BoundedHandler(logging.StreamHandler[TextIO]):
    """Writes to standard error, turned over where that is a file, and the same as objects."""

    def __init__(
        self, path: Path, *, largest: int = LARGEST, structured: StructuredLog | None = None
    ) -> None:
        super().__init__(sys.stderr)
        self._path, self._largest, self._structured = path, largest, structured

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(OSError, ValueError):
            turn_over(self._path, self.stream.fileno(), largest=self._largest)
        super().emit(record)
        if self._structured:
            self._structured.write(record)


def set_up(log: Path) -> None:
    log_writer = BoundedHandler(log, structured=StructuredLog(log.with_suffix(".ndjson")))
    log_writer.addFilter(Repetitions())
    log_writer.setFormatter(MaskedFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[log_writer])
