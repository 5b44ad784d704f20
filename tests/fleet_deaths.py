"""A worker that dies: before one of the things it does, or right after it."""

from typing import Any

from astra.trusted.ledger.fencing import Fence, work_under
from fleet_in_memory import FleetInMemory


class Killed(BaseException):
    """What no code catches, like a SIGKILL."""


EFFECTS = frozenset(
    {
        *("append", "build", "remove", "launch", "switch", "retire", "stop", "end"),
        *("take", "restore", "undo_restore", "drop_set_aside", "write_note", "run"),
    }
)
"""What changes something: a death between two looks is a death before the next of these."""


class Mortal:
    """Lets a number of effects through to a port, then dies: before one, or right after it."""

    def __init__(self, port: Any, lives: list[int], *, after: bool) -> None:
        self._port, self._lives, self._after = port, lives, after

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._port, name)
        if name not in EFFECTS:
            return member

        def call(*words: Any, **options: Any) -> Any:
            self._lives[0] -= 1
            if self._lives[0] < 0 and not self._after:
                raise Killed
            answer = member(*words, **options)
            if self._lives[0] < 0:
                raise Killed
            return answer

        return call


def run_until_death(fleet: FleetInMemory, calls: int, *, after: bool) -> bool:
    """Let web-1's worker do so much; tells whether death came before its work ended."""
    lives = [calls]
    duty = fleet.start_worker("web-1", lambda port: Mortal(port, lives, after=after))
    fence = Fence("instance:web-1", "mch_1", 1)
    try:
        with work_under(fence):
            duty.run_once()
    except Killed:
        return True
    finally:
        fleet.duties.pop("web-1")
        fleet.machines["web-1"].epoch += 1
    return False
