"""How fast one actor may call: a bucket that refills, so that reading cannot flood the record."""

import threading
from collections.abc import Callable

from astra.trusted.policy.caps import CALL_BURST as BURST
from astra.trusted.policy.caps import CALLS_PER_SECOND as PER_SECOND


class RateLimit:
    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, actor: str) -> bool:
        now = self._seconds()
        with self._lock:
            tokens_left, last = self._buckets.get(actor, (float(BURST), now))
            tokens_left = min(BURST, tokens_left + (now - last) * PER_SECOND)
            allowed = tokens_left >= 1
            self._buckets[actor] = (tokens_left - 1 if allowed else tokens_left, now)
        return allowed
