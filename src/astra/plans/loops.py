"""Notices a model that goes round in circles: the same actions with the same results, again.

>>> find_loop("xabab")
Loop(period=2, rounds=2)
>>> find_loop("abc") is None
True
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

NOTICED_ROUNDS, MOST_ROUNDS, LONGEST_PERIOD = 2, 4, 3


@dataclass(frozen=True)
class Loop:
    period: int
    """How many actions it takes until they begin anew."""
    rounds: int
    """How often they were done, one round after the other."""


def find_loop(marks: Sequence[Hashable]) -> Loop | None:
    """Find the shortest loop at the end of what was done; None where the last two rounds differ."""
    for period in range(1, min(LONGEST_PERIOD, len(marks) // NOTICED_ROUNDS) + 1):
        rounds = 1
        last_round = list(marks[-period:])
        while list(marks[-period * (rounds + 1) : -period * rounds]) == last_round:
            rounds += 1
        if rounds >= NOTICED_ROUNDS:
            return Loop(period, rounds)
    return None
