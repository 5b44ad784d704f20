"""How long something has been waited for, by a clock that only goes forward.

Time that nobody looked in, because the machine slept or an operator stopped all work, counts for a
few seconds at most: a deadline is over only for what was waited for.
"""

from collections.abc import Callable

_LONGEST_GAP = 10.0


class Stopwatch:
    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._looked_at: float | None = None
        self._seconds: dict[str, float] = {}
        self._subject = ""

    def look(self, subject: str) -> None:
        """Let time go by for everything that is waited for; another subject begins anew."""
        now = self._monotonic()
        if subject != self._subject:
            self._subject, self._seconds, self._looked_at = subject, {}, None
        gap = 0.0 if self._looked_at is None else min(now - self._looked_at, _LONGEST_GAP)
        self._looked_at = now
        self._seconds = {key: seconds + gap for key, seconds in self._seconds.items()}

    def elapsed(self, key: str) -> float:
        return self._seconds.setdefault(key, 0.0)
