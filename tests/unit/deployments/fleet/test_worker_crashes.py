"""A worker killed before or after whatever it does: the next one finishes what it began, once."""

from collections import Counter
from typing import Any

import pytest

from astra.deployments.fleet import events
from astra.trusted.ledger.fencing import Fence, work_under
from fleet_in_memory import LABELS, FleetInMemory
from holding import CRASHES


class Killed(BaseException):
    """What no code catches, like a SIGKILL."""


EFFECTS = frozenset({"append", "build", "remove", "launch", "switch", "retire", "stop", "end"})
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


def count_orders(fleet: FleetInMemory) -> int:
    return len(fleet.world.root.ledger.records(events.INSTANCE_ORDERED, limit=500))


@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
@pytest.mark.parametrize("story", ["good", "bad"])
def test_an_instance_survives_the_death_of_its_worker_at_every_effect(
    story: str, *, after: bool
) -> None:
    calls, has_died = 0, True
    while has_died:
        fleet = FleetInMemory()
        first = fleet.deploy("a")
        deployment = fleet.world.request("b")
        if story == "bad":
            fleet.machines["web-1"].holder.behaviours[deployment.release] = CRASHES
        while count_orders(fleet) == len(LABELS):
            fleet.world.pace.wait(1.0)
            fleet.world.work().advance()
        has_died = run_until_death(fleet, calls, after=after)
        done = fleet.finish(deployment)
        wanted = deployment.release if story == "good" else first.release
        assert done.state == ("settled" if story == "good" else "rolled_back")
        assert fleet.serving() == dict.fromkeys(LABELS, wanted)
        assert len(fleet.machines["web-1"].holder.instances) == 1
        proofs = fleet.world.root.ledger.records(events.INSTANCE_RELEASED, limit=500)
        counts = Counter(
            (r.data["instance"], r.data["deployment"], r.data["attempt"], r.data["epoch"])
            for r in proofs
        )
        assert max(counts.values()) == 1, "nothing is proven twice in one term"
        calls += 1
    assert calls >= (5 if story == "good" else 4)
