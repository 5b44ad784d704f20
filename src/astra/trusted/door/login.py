"""One-time links into the dashboard, and how often somebody may try.

A link lives in this process's memory only: as the hash of its code, for a few minutes, for one
exchange. Guesses are counted for the whole process, because behind a proxy nobody's address is
known for certain.
"""

import threading
from collections import deque
from datetime import datetime, timedelta

from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy import access

LINK_LIFETIME = timedelta(minutes=10)
_MOST_LINKS = 20
_MOST_FAILURES = 10
_WINDOW = timedelta(minutes=1)


class TooMany(AstraError):
    code = "too_many_attempts"
    http_status = 429


class NotRecognised(AstraError):
    code = "not_recognised"
    http_status = 401


class LoginLinks:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, datetime] = {}

    def create(self, now: datetime) -> str:
        """Make a code; the oldest open one is forgotten when there are many."""
        code = access.new_secret()
        with self._lock:
            while len(self._open) >= _MOST_LINKS:
                del self._open[next(iter(self._open))]
            self._open[access.hashed(code)] = now + LINK_LIFETIME
        return code

    def spend(self, code: str, now: datetime) -> bool:
        """Take a code, once; tell whether it was good."""
        with self._lock:
            until = self._open.pop(access.hashed(code), None)
        return until is not None and until > now


class Attempts:
    """Failures of the last minute; past a number of them, everybody waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failed: deque[datetime] = deque()

    def check(self, now: datetime) -> None:
        with self._lock:
            while self._failed and self._failed[0] <= now - _WINDOW:
                self._failed.popleft()
            if len(self._failed) >= _MOST_FAILURES:
                raise TooMany(
                    "there were too many failed logins in the last minute",
                    next_step="wait a minute, then use a new link: astra login",
                )

    def failed(self, now: datetime) -> None:
        with self._lock:
            self._failed.append(now)
