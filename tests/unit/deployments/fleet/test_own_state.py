"""`before_start` on a fleet: once on the state of each machine, and undone where the release is."""

from dataclasses import replace

import pytest

from astra.deployments import events as deployment_events
from astra.deployments.fleet import events
from astra.deployments.fleet.own_state import StateNote
from astra.deployments.ports import Checked
from astra.deployments.views import Deployment
from deployment_world import PLAN
from fleet_deaths import run_until_death
from fleet_in_memory import LABELS, FleetInMemory
from holding import CRASHES


@pytest.fixture
def fleet() -> FleetInMemory:
    return make_fleet()


def make_fleet() -> FleetInMemory:
    fleet = FleetInMemory()
    fleet.world.plan = replace(PLAN, before_start=("migrate",))
    return fleet


def everywhere(*releases: str) -> dict[str, list[str]]:
    return {label: list(releases) for label in LABELS}


def list_data(fleet: FleetInMemory, type_: str) -> list[dict[str, object]]:
    return [record.data for record in fleet.world.root.ledger.records(type_, limit=500)]


def roll_back(fleet: FleetInMemory, release: str, *, keep_state: bool = False) -> Deployment:
    return fleet.finish(fleet.world.roll_back(release, keep_state=keep_state))


def test_it_runs_once_on_each_instance_and_not_when_the_app_is_restarted(
    fleet: FleetInMemory,
) -> None:
    first, second = fleet.deploy("a"), fleet.deploy("b")
    fleet.machines["web-1"].holder.die()
    fleet.tick()
    assert fleet.serving() == dict.fromkeys(LABELS, second.release)
    assert fleet.app_states() == everywhere(first.release, second.release)
    begun = list_data(fleet, deployment_events.BEFORE_START_BEGUN)
    assert sorted(str(data["instance"]) for data in begun) == sorted([*LABELS, *LABELS])


def test_a_release_that_goes_back_takes_its_work_with_it_on_every_instance(
    fleet: FleetInMemory,
) -> None:
    first = fleet.deploy("a")
    assert fleet.misbehave(CRASHES, "b", "web-3").state == "rolled_back"
    assert fleet.serving() == dict.fromkeys(LABELS, first.release)
    assert fleet.app_states() == everywhere(first.release)


def test_one_whose_command_fails_twice_is_taken_back_and_blamed(fleet: FleetInMemory) -> None:
    first = fleet.deploy("a")
    fleet.machines["web-2"].migration.outcome = Checked(ok=False, detail="no such column")
    failed = fleet.deploy("b")
    assert failed.state == "rolled_back"
    assert "before_start: no such column" in failed.reason
    assert fleet.serving() == dict.fromkeys(LABELS, first.release)
    assert fleet.app_states() == everywhere(first.release)
    assert list_data(fleet, deployment_events.QUARANTINED)


def test_the_second_try_begins_with_the_state_from_before_the_first(fleet: FleetInMemory) -> None:
    migration = fleet.machines["web-1"].migration
    migration.outcome = Checked(ok=False, detail="half done")
    deployment = fleet.world.request("a")
    while not list_data(fleet, events.INSTANCE_FAILED):
        fleet.tick()
    migration.outcome = Checked(ok=True, detail="exit code 0")
    done = fleet.finish(deployment)
    assert done.state == "settled"
    assert fleet.app_states() == everywhere(done.release)


def test_an_operators_way_back_undoes_it_and_forward_again_does_it_again(
    fleet: FleetInMemory,
) -> None:
    first, second = fleet.deploy("a"), fleet.deploy("b")
    roll_back(fleet, first.release)
    assert fleet.app_states() == everywhere(first.release)
    roll_back(fleet, second.release)
    assert fleet.app_states() == everywhere(first.release, second.release)


def test_a_way_back_over_two_releases_goes_to_before_the_first(fleet: FleetInMemory) -> None:
    first = fleet.deploy("a")
    fleet.deploy("b")
    fleet.deploy("c")
    roll_back(fleet, first.release)
    assert fleet.app_states() == everywhere(first.release)


def test_a_way_back_that_keeps_the_state_leaves_it(fleet: FleetInMemory) -> None:
    first, second = fleet.deploy("a"), fleet.deploy("b")
    roll_back(fleet, first.release, keep_state=True)
    assert fleet.serving() == dict.fromkeys(LABELS, first.release)
    assert fleet.app_states() == everywhere(first.release, second.release)


def test_a_way_back_that_fails_puts_back_what_it_undid_with_every_write_since(
    fleet: FleetInMemory,
) -> None:
    first, second = fleet.deploy("a"), fleet.deploy("b")
    for machine in fleet.machines.values():
        machine.snapshots.state.append("a visitor's order")
        machine.holder.behaviours[first.release] = CRASHES
    assert roll_back(fleet, first.release).state == "rolled_back"
    assert fleet.serving() == dict.fromkeys(LABELS, second.release)
    assert fleet.app_states() == everywhere(first.release, second.release, "a visitor's order")


def test_forward_again_after_a_way_back_keeps_what_was_written_between(
    fleet: FleetInMemory,
) -> None:
    first, second = fleet.deploy("a"), fleet.deploy("b")
    roll_back(fleet, first.release)
    for machine in fleet.machines.values():
        machine.snapshots.state.append("a visitor's order")
    roll_back(fleet, second.release)
    assert fleet.app_states() == everywhere(first.release, "a visitor's order", second.release)


def test_a_state_too_large_to_save_is_not_changed_and_blames_nobody(fleet: FleetInMemory) -> None:
    fleet.machines["web-2"].snapshots.size = PLAN.snapshot_bytes + 1
    failed = fleet.deploy("a")
    assert "snapshot_mb" in failed.reason
    assert fleet.app_states()["web-2"] == []
    assert not list_data(fleet, deployment_events.QUARANTINED)


def test_the_note_forgets_what_has_no_snapshot_any_more(fleet: FleetInMemory) -> None:
    first, snapshots = fleet.deploy("a"), fleet.machines["web-1"].snapshots
    snapshots.remove(first.release)
    second = fleet.deploy("b")
    assert snapshots.note == StateNote(applied=(second.release,))


def test_an_instance_that_missed_a_release_gets_the_work_of_the_recorded_one(
    fleet: FleetInMemory,
) -> None:
    first = fleet.deploy("a")
    fleet.world.present.remove("web-2")
    second = fleet.deploy("b")
    fleet.world.present.add("web-2")
    fleet.tick()
    assert fleet.app_states() == everywhere(first.release, second.release)


def test_one_that_was_away_while_its_release_went_back_follows_with_its_state(
    fleet: FleetInMemory,
) -> None:
    first = fleet.deploy("a")
    bad = fleet.world.request("b")
    for label in ("web-2", "web-3"):
        fleet.machines[label].holder.behaviours[bad.release] = CRASHES
    while len(list_data(fleet, events.WAVE_BEGUN)) < 4:
        fleet.tick()
    fleet.world.present.remove("web-1")
    assert fleet.finish(bad).state == "rolled_back"
    third = fleet.deploy("c")
    fleet.world.present.add("web-1")
    fleet.tick()
    assert fleet.app_states() == everywhere(first.release, third.release)


def test_a_fleet_goes_on_with_the_state_of_the_machine_it_grew_from(fleet: FleetInMemory) -> None:
    """What ran while there was one machine is known by its snapshot, and does not run again."""
    world, only = fleet.world, fleet.machines["web-1"]
    named, world.fleet = world.fleet, replace(world.fleet, instances=())
    first = world.deploy("a")
    world.fleet = named
    only.snapshots.state, only.snapshots.saved = list(world.snapshots.state), world.snapshots.saved
    fleet.tick()
    assert fleet.app_states() == everywhere(first.release)
    assert len(list_data(fleet, deployment_events.BEFORE_START_BEGUN)) == len(LABELS)


def test_a_copy_of_a_data_folder_knows_what_ran_on_its_state(fleet: FleetInMemory) -> None:
    first = fleet.deploy("a")
    original, copy = fleet.machines["web-1"].snapshots, fleet.machines["web-2"].snapshots
    copy.state, copy.note = list(original.state), original.note
    fleet.machines["web-2"].holder.die()
    fleet.tick()
    assert fleet.app_states()["web-2"] == [first.release]
    assert copy.note == StateNote(applied=(first.release,))


@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
@pytest.mark.parametrize("story", ["good", "bad"])
def test_the_state_survives_the_death_of_the_worker_at_every_effect(
    story: str, *, after: bool
) -> None:
    calls, has_died = 0, True
    while has_died:
        fleet = make_fleet()
        first = fleet.deploy("a")
        deployment = fleet.world.request("b")
        if story == "bad":
            fleet.machines["web-1"].holder.behaviours[deployment.release] = CRASHES
        while len(list_data(fleet, events.INSTANCE_ORDERED)) == len(LABELS):
            fleet.world.pace.wait(1.0)
            fleet.world.work().advance()
        has_died = run_until_death(fleet, calls, after=after)
        fleet.finish(deployment)
        wanted = [first.release, deployment.release] if story == "good" else [first.release]
        assert fleet.app_states() == everywhere(*wanted), calls
        calls += 1
    assert calls >= 8
