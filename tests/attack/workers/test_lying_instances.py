"""A worker of the fleet that lies: about its digest, its term, or whose instance it has."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from astra.adapters.postgres_ledger.ledger import PostgresLedger
from astra.adapters.postgres_ledger.membership import Membership
from astra.deployments.fleet import events
from astra.deployments.fleet.deciding import FailAttempt, choose_step
from astra.trusted.ledger.fencing import Fence, LeaseLost, work_under
from astra.trusted.ledger.record import Event
from astra.trusted.stop.machines import LeaseHolder
from fleet_world import NEW, FleetWorld
from postgres_server import Database, new_database
from worker_process import eventually

OWN, ANOTHERS = "instance:web-1", "instance:web-2"
HOLDERS = {"web-1": LeaseHolder("mch_true", 3)}
Join = Callable[[str, str], Membership]


@pytest.fixture
def database() -> Iterator[Database]:
    with new_database() as database:
        yield database


@pytest.fixture
def join(database: Database, tmp_path: Path) -> Iterator[Join]:
    """Give machines that want one lease each."""
    with ExitStack() as stack:

        def join_chain(name: str, lease: str) -> Membership:
            (tmp_path / name).mkdir()
            member = Membership(database.url, tmp_path / name, {lease: lambda: True})
            member.start()
            return stack.enter_context(closing(member))

        yield join_chain


@pytest.fixture
def ledger(database: Database, tmp_path: Path) -> Iterator[PostgresLedger]:
    (tmp_path / "ledger").mkdir()
    with closing(PostgresLedger(database.url, tmp_path / "ledger")) as ledger:
        yield ledger


def read_fence(member: Membership, lease: str) -> Fence:
    term = eventually(lambda: member.find_term(lease))
    assert term.fence is not None
    return term.fence


def make_proof(fence: Fence) -> Event:
    data = {"instance": fence.name.removeprefix(events.LEASE), "epoch": fence.epoch}
    return Event(type="thing_happened", actor=fence.name, data=data)


def test_a_worker_appends_nothing_under_the_lease_of_another_instance(
    join: Join, ledger: PostgresLedger
) -> None:
    own_fence = read_fence(join("liar", OWN), OWN)
    true_fence = read_fence(join("true", ANOTHERS), ANOTHERS)
    guess = Fence(ANOTHERS, own_fence.holder, true_fence.epoch)
    for fence in (guess, Fence(ANOTHERS, own_fence.holder, true_fence.epoch + 1)):
        with work_under(fence), pytest.raises(LeaseLost):
            ledger.append([make_proof(fence)])
    assert ledger.head().sequence == 0


def test_a_second_worker_of_an_instance_waits_and_a_stale_epoch_is_refused(
    join: Join, ledger: PostgresLedger
) -> None:
    first = join("first", OWN)
    old_fence = read_fence(first, OWN)
    second = join("second", OWN)
    assert second.find_term(OWN) is None
    first.close()
    new_fence = read_fence(second, OWN)
    assert new_fence.epoch > old_fence.epoch
    with work_under(old_fence), pytest.raises(LeaseLost):
        ledger.append([make_proof(old_fence)])
    leases = second.list_leases()
    assert leases[OWN] == LeaseHolder(second.own_id, new_fence.epoch)


@pytest.mark.parametrize(
    ("proof", "is_found_out"),
    [
        ({"epoch": 9, "machine": "mch_true"}, True),
        ({"epoch": 3, "machine": "mch_liar"}, True),
        ({"epoch": 3, "machine": "mch_true"}, False),
        ({"epoch": 2, "machine": "mch_before"}, False),
    ],
)
def test_a_forged_proof_is_held_against_the_lease_and_fails_the_try(
    proof: Mapping[str, object], is_found_out: bool
) -> None:
    world = FleetWorld(("web-1", "web-2"), behaviours={"web-1": ["silent", "silent"]})
    while world.states()["web-1"] != "ordered":
        world.tick()
    whole = {"instance": "web-1", "attempt": 1, "health": "200", **NEW, **proof}
    world.append(events.INSTANCE_RELEASED, whole)
    step = choose_step(world.rollout, world.present, world.stopwatch.elapsed, HOLDERS)
    assert (isinstance(step, FailAttempt) and step.forged) == is_found_out


def test_a_forged_epoch_does_not_keep_the_true_worker_from_proving() -> None:
    world = FleetWorld(("web-1",), behaviours={"web-1": ["silent", "silent"]})
    while world.states()["web-1"] != "ordered":
        world.tick()
    world.prove("web-1", attempt=1, epoch=99, target=NEW)
    failure = {"instance": "web-1", "release": "new", "attempt": 1, "epoch": 0, "forged": True}
    world.append(events.INSTANCE_FAILED, {**failure, "reason": "forged", "blamed": False})
    while world.states()["web-1"] != "ordered":
        world.tick()
    world.prove("web-1", attempt=2, epoch=3, target=NEW)
    assert world.states() == {"web-1": "released"}


def test_a_lie_about_the_digest_counts_for_nothing() -> None:
    world = FleetWorld(("web-1",), behaviours={"web-1": ["silent"]})
    while world.states()["web-1"] != "ordered":
        world.tick()
    world.prove("web-1", attempt=1, target={**NEW, "digest": "of something else"})
    assert world.states() == {"web-1": "ordered"}
