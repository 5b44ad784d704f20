"""How a desire fades, in a form that never has to be written again.

Let `halvings(t)` be how many half-lives have passed by the moment `t`. A desire that had a strength
at t0 has at any later t

    strength(t) = 2 ** (key - halvings(t))        where key = log2(strength(t0)) + halvings(t0)

The key does not change while time passes, and whoever has the larger key is the stronger one at
every moment. So an index over keys is the order by strength, for ever.

Halvings are counted, not computed from a rate: when the half-life changes, the count goes on from
where it was, only faster or slower. Keys that were written before stay right, nothing jumps.

>>> two_weeks = Fading(since=0.0, halvings=0.0, half_life=half_life_seconds(14))
>>> key = two_weeks.key(0.8, 0.0)
>>> round(two_weeks.strength(key, 14 * DAY), 12)
0.4
"""

import math
from dataclasses import dataclass

from astra.trusted.kernel.errors import BadSetting

DAY = 86_400.0
_SHORTEST, _LONGEST = 60.0, 36_500 * DAY


@dataclass(frozen=True)
class Fading:
    """How far everything has faded: the halvings counted up to `since`, and the pace from there."""

    since: float
    halvings: float
    half_life: float

    def halvings_at(self, moment: float) -> float:
        return self.halvings + (moment - self.since) / self.half_life

    def key(self, strength: float, moment: float) -> float:
        return depth(strength) + self.halvings_at(moment)

    def strength(self, key: float, moment: float) -> float:
        return 2.0 ** min(key - self.halvings_at(moment), 0.0)


def depth(strength: float) -> float:
    """Say how many doublings lie between 1 and a strength: 0 for 1, -1 for a half."""
    return math.log2(strength) if strength > 0 else -math.inf


def half_life_seconds(days: float) -> float:
    """Read the setting; what would make every desire eternal or dead at once is refused."""
    seconds = days * DAY
    if not _SHORTEST <= seconds <= _LONGEST:
        raise BadSetting(
            f"DESIRE_HALF_LIFE_DAYS is {days}; accepted: a minute (0.0007) to 36500 days",
            next_step="set DESIRE_HALF_LIFE_DAYS to such a value, or unset it for 14",
            key="DESIRE_HALF_LIFE_DAYS",
        )
    return seconds
