"""Pauses that grow, and failures that are logged once with their place and then counted."""

import logging
import traceback
from dataclasses import dataclass, field

FIRST_PAUSE = 1.0
MOST_LOST_RACES = 3
_MOST_KINDS = 200
_TELL_AGAIN = 60.0


@dataclass
class Rest:
    """How long something rests before it is tried again, and why."""

    seconds: float = 0.0
    until: float = 0.0
    why: str = ""
    lost_races: int = 0
    """How often in a row somebody else had written first."""

    def rest_after_race(self, now: float) -> None:
        self.lost_races += 1
        self.until = now + FIRST_PAUSE

    def extend_rest(self, now: float, why: str, longest: float) -> None:
        self.seconds = min(max(self.seconds * 2, FIRST_PAUSE), longest)
        self.until, self.why = now + self.seconds, why


@dataclass
class _Repeats:
    told_at: float
    count: int = 0


@dataclass
class FailureLog:
    """Writes a failure with its traceback once; the same one again is counted, and told rarely.

    Two failures are the same when they came from the same line for the same kind of work.
    """

    log: logging.Logger
    _kinds: dict[str, _Repeats] = field(default_factory=dict[str, _Repeats])

    def log_failure(self, what: str, error: Exception, now: float) -> None:
        kind = f"{what} {type(error).__name__} {_locate_error(error)}"
        repeats = self._kinds.get(kind)
        if repeats is None:
            if len(self._kinds) >= _MOST_KINDS:
                self._kinds.clear()
            self._kinds[kind] = _Repeats(now)
            self.log.error("%s failed", what, exc_info=error)
            return
        repeats.count += 1
        if now - repeats.told_at >= _TELL_AGAIN:
            self.log.error("%s failed %d more times: %s", what, repeats.count, type(error).__name__)
            repeats.told_at, repeats.count = now, 0


def _locate_error(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
