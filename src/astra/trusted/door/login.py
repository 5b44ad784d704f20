"""One-time links into the dashboard, and how often somebody may try.

A link lives in this process's memory only: as the hash of its code, for a few minutes, for one
exchange. What is presented is tried first, so a good code always works, however many bad ones came
before it. Bad ones are counted by the address at the other end of the connection; behind a proxy
that is the proxy's, since a forwarded address is only a claim.
"""

import threading
from collections import OrderedDict, deque
from datetime import datetime, timedelta

from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy import access

LINK_LIFETIME = timedelta(minutes=10)
_MOST_LINKS = 20
_MOST_FAILURES = 10
_MOST_SOURCES = 1000
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
            self._open[access.hash_secret(code)] = now + LINK_LIFETIME
        return code

    def forget(self) -> None:
        """Let no code be good any more: the clock their time was measured by was wrong."""
        with self._lock:
            self._open.clear()

    def spend(self, code: str, now: datetime) -> bool:
        """Take a code, once; tell whether it was good."""
        with self._lock:
            until = self._open.pop(access.hash_secret(code), None)
        return until is not None and until > now


class Attempts:
    """Failures of the last minute, by source; past a number of them that source waits.

    Only failures are counted, and only after what was presented turned out to be wrong, so that
    nobody keeps others from getting in.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failed: OrderedDict[str, deque[datetime]] = OrderedDict()

    def forget(self) -> None:
        """Begin to count anew."""
        with self._lock:
            self._failed.clear()

    def count_failure(self, source: str, now: datetime) -> None:
        """Count a failure, and refuse to say more to a source that had too many."""
        with self._lock:
            times = self._failed.setdefault(source, deque(maxlen=_MOST_FAILURES))
            self._failed.move_to_end(source)
            while len(self._failed) > _MOST_SOURCES:
                self._failed.popitem(last=False)
            too_many = len(times) == _MOST_FAILURES and times[0] > now - _WINDOW
            times.append(now)
        if too_many:
            raise TooMany(
                "there were too many failed logins from here in the last minute",
                next_step="wait a minute, then use a new link: astra login",
            )
