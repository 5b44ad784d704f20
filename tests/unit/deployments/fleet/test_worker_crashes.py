"""A worker killed before or after whatever it does: the next one finishes what it began, once."""

from collections import Counter

import pytest

from astra.deployments.fleet import events
from fleet_deaths import run_until_death
from fleet_in_memory import LABELS, FleetInMemory
from holding import CRASHES


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
