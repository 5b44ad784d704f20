"""`before_start`: once for each release, and undone where the release is."""

from dataclasses import replace

import pytest

from astra.deployments import events, views
from astra.deployments.ports import Checked
from deployment_world import World


@pytest.fixture
def world() -> World:
    world = World()
    world.plan = replace(world.plan, before_start=("migrate",))
    return world


def test_it_runs_once_for_each_release_and_not_when_the_app_is_restarted(world: World) -> None:
    first, second = world.deploy("a"), world.deploy("b")
    world.holder.die()
    assert world.keep_serving() == ""
    assert world.snapshots.state == [first.release, second.release]
    assert world.types().count(events.STATE_SAVED) == 2


def test_a_rollback_puts_the_state_back_and_forward_again_migrates_again(world: World) -> None:
    first, second = world.deploy("a"), world.deploy("b")
    world.finish(world.roll_back().id)
    assert world.snapshots.state == [first.release]
    world.finish(world.roll_back(second.release).id)
    assert world.snapshots.state == [first.release, second.release]


def test_a_rollback_over_two_releases_goes_back_to_before_the_first(world: World) -> None:
    first = world.deploy("a")
    world.deploy("b")
    world.deploy("c")
    world.finish(world.roll_back(first.release).id)
    assert world.snapshots.state == [first.release]


def test_a_rollback_that_keeps_the_state_leaves_it_and_says_so(world: World) -> None:
    first, second = world.deploy("a"), world.deploy("b")
    done = world.finish(world.roll_back(keep_state=True).id)
    assert (done.keep_state, world.holder.serves) == (True, first.release)
    assert world.snapshots.state == [first.release, second.release]
    world.finish(world.roll_back(second.release).id)
    assert world.snapshots.state == [first.release, second.release], "not a second time"


def test_one_that_fails_is_blamed_undone_and_what_served_serves_on(world: World) -> None:
    first = world.deploy("a")
    world.migration.outcome = Checked(ok=False, detail="exit code 1 no such column")
    done = world.deploy("b")
    assert (done.state, "no such column" in done.reason) == ("failed", True)
    assert views.quarantine_reason(world.root.ledger, "b" * 40)
    assert (world.snapshots.state, world.holder.serves) == ([first.release], first.release)


def test_nothing_of_a_holder_that_hangs_runs_while_the_state_changes(world: World) -> None:
    first = world.deploy("a")
    world.holder.mute = True
    second = world.deploy("b")
    assert (second.state, world.holder.serves) == ("settled", second.release)
    assert world.snapshots.state == [first.release, second.release]


def test_one_that_cannot_be_executed_is_not_held_against_the_commit(world: World) -> None:
    world.migration.outcome = Checked(ok=False, detail="cannot be started", foreign=True)
    assert world.deploy("a").state == "failed"
    assert events.QUARANTINED not in world.types()


def test_a_state_too_large_to_save_stops_nothing(world: World) -> None:
    first = world.deploy("a")
    stopped = list(world.holder.stopped)
    world.snapshots.size = world.plan.snapshot_bytes + 1
    done = world.deploy("b")
    assert (done.state, "snapshot_mb" in done.reason) == ("failed", True)
    assert (world.holder.serves, world.holder.stopped) == (first.release, stopped)
    assert events.QUARANTINED not in world.types()


def test_without_its_snapshot_there_is_no_way_back_but_keeping_the_state(world: World) -> None:
    first, second = world.deploy("a"), world.deploy("b")
    world.snapshots.remove(second.release)
    done = world.finish(world.roll_back().id)
    assert (done.state, "snapshot" in done.reason) == ("failed", True)
    assert world.keep_serving() == ""
    assert world.holder.serves == second.release
    world.finish(world.roll_back(keep_state=True).id)
    assert world.holder.serves == first.release
