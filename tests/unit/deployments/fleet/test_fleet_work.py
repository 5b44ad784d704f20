"""The daemon's orders and the workers' duty together, on one ledger in memory."""

import pytest

from astra.deployments import events as deployment_events
from astra.deployments import views
from astra.deployments.fleet import events
from astra.trusted.kernel.errors import AstraError
from astra.trusted.settings.fleet_settings import Fleet
from fleet_in_memory import LABELS, FleetInMemory
from holding import CRASHES, SILENT


@pytest.fixture
def fleet() -> FleetInMemory:
    return FleetInMemory()


def list_data(fleet: FleetInMemory, type_: str) -> list[dict[str, object]]:
    return [record.data for record in fleet.world.root.ledger.records(type_, limit=500)]


def test_a_release_reaches_every_instance_and_is_the_recorded_one(fleet: FleetInMemory) -> None:
    done = fleet.deploy("a")
    assert done.state == "settled"
    assert fleet.serving() == dict.fromkeys(LABELS, done.release)
    live = views.live_release(fleet.world.root.ledger)
    assert live is not None
    assert (live.id, live.good) == (done.release, True)
    assert fleet.world.holder.serves is None, "the daemon's own machine runs nothing"


def test_a_proof_carries_digest_health_and_epoch(fleet: FleetInMemory) -> None:
    done = fleet.deploy("a")
    live = views.live_release(fleet.world.root.ledger)
    assert live is not None
    for proof in list_data(fleet, events.INSTANCE_RELEASED):
        assert (proof["release"], proof["digest"]) == (done.release, live.digest)
        assert str(proof["health"]).startswith("healthy for 10 s")
        assert (proof["epoch"], proof["attempt"], proof["machine"]) == (1, 1, "mch_1")


def test_a_bad_release_is_taken_back_everywhere_and_quarantined_for_all(
    fleet: FleetInMemory,
) -> None:
    good = fleet.deploy("a")
    bad = fleet.misbehave(CRASHES, "b", "web-3")
    assert bad.state == "rolled_back"
    assert bad.rollback_to == good.release
    assert fleet.serving() == dict.fromkeys(LABELS, good.release)
    assert fleet.states(bad) == dict.fromkeys(LABELS, "back")
    assert views.quarantine_reason(fleet.world.root.ledger, "b" * 40)
    assert bad.output == "what the app said"


def test_a_first_release_that_fails_is_ended_everywhere(fleet: FleetInMemory) -> None:
    bad = fleet.misbehave(CRASHES, "a", "web-2")
    assert bad.state == "rollback_failed"
    fleet.tick()
    assert fleet.serving() == dict.fromkeys(LABELS)


def test_one_that_fails_once_gets_one_more_try(fleet: FleetInMemory) -> None:
    deployment = fleet.world.request("a")
    holder = fleet.machines["web-1"].holder
    holder.behaviours[deployment.release] = SILENT
    while not list_data(fleet, events.INSTANCE_FAILED):
        fleet.tick()
    holder.behaviours.clear()
    assert fleet.finish(deployment).state == "settled"
    assert [data["attempt"] for data in list_data(fleet, events.INSTANCE_ORDERED)][:2] == [1, 2]


def test_a_crash_while_the_wave_is_watched_takes_it_back(fleet: FleetInMemory) -> None:
    good = fleet.deploy("a")
    deployment = fleet.world.request("b")
    while not list_data(fleet, events.WAVE_FINISHED)[2:]:
        fleet.tick()
    for machine in fleet.machines.values():
        machine.holder.behaviours[deployment.release] = CRASHES
    fleet.machines["web-1"].holder.die()
    assert fleet.finish(deployment).state == "rolled_back"
    assert fleet.serving() == dict.fromkeys(LABELS, good.release)


def test_the_replacement_try_begins_with_a_new_process(fleet: FleetInMemory) -> None:
    deployment = fleet.world.request("a")
    while not list_data(fleet, events.WAVE_FINISHED):
        fleet.tick()
    holder = fleet.machines["web-1"].holder
    (first,) = holder.instances
    holder.instances[first].behaviour = SILENT
    assert fleet.finish(deployment).state == "settled"
    assert first not in holder.instances
    (failure,) = list_data(fleet, events.INSTANCE_FAILED)
    assert failure["blamed"]
    assert "failed 3 times in a row" in str(failure["reason"])


def test_a_machine_that_was_restarted_does_not_blame_the_release(fleet: FleetInMemory) -> None:
    deployment = fleet.world.request("a")
    while not list_data(fleet, events.WAVE_FINISHED):
        fleet.tick()
    fleet.machines["web-1"].holder.die()
    assert fleet.finish(deployment).state == "settled"
    (failure,) = list_data(fleet, events.INSTANCE_FAILED)
    assert not failure["blamed"]


def test_an_instance_that_was_away_follows_when_it_returns(fleet: FleetInMemory) -> None:
    fleet.world.present.remove("web-2")
    done = fleet.deploy("a")
    assert fleet.states(done)["web-2"] == "passed_over"
    assert fleet.serving()["web-2"] is None
    fleet.world.present.add("web-2")
    fleet.tick()
    assert fleet.serving() == dict.fromkeys(LABELS, done.release)


def test_one_that_was_away_in_a_bad_rollout_comes_back_to_the_recorded_release(
    fleet: FleetInMemory,
) -> None:
    good = fleet.deploy("a")
    deployment = fleet.world.request("b")
    for label in ("web-2", "web-3"):
        fleet.machines[label].holder.behaviours[deployment.release] = CRASHES
    while len(list_data(fleet, events.WAVE_BEGUN)) < 4:
        fleet.tick()
    fleet.world.present.remove("web-1")
    assert fleet.finish(deployment).state == "rolled_back"
    assert fleet.serving()["web-1"] == deployment.release, "nobody could reach it"
    fleet.world.present.add("web-1")
    fleet.tick()
    assert fleet.serving() == dict.fromkeys(LABELS, good.release)


def test_nothing_begins_where_nobody_could_be_taken_into_change(fleet: FleetInMemory) -> None:
    fleet.world.present -= {"web-2", "web-3"}
    failed = fleet.deploy("a")
    assert failed.state == "failed"
    assert "web-2, web-3 away, and at most 2 may be down" in failed.reason
    assert not list_data(fleet, events.INSTANCE_ORDERED)


def test_nothing_begins_without_any_worker(fleet: FleetInMemory) -> None:
    fleet.world.present.clear()
    failed = fleet.deploy("a")
    assert failed.state == "failed"
    assert failed.reason.startswith("no instance of the fleet has a worker")


def test_an_operators_rollback_goes_everywhere_at_once(fleet: FleetInMemory) -> None:
    first, second = fleet.deploy("a"), fleet.deploy("b")
    assert fleet.serving() == dict.fromkeys(LABELS, second.release)
    back = fleet.finish(fleet.world.roll_back(first.release))
    assert back.state == "settled"
    assert fleet.serving() == dict.fromkeys(LABELS, first.release)
    waves = list_data(fleet, events.ROLLOUT_BEGUN)[-1]["waves"]
    assert waves == [list(LABELS)]


def test_a_folder_that_somebody_wrote_to_is_told_and_built_anew(fleet: FleetInMemory) -> None:
    deployment = fleet.world.request("a")
    fleet.machines["web-1"].releases.folders[deployment.release] = "something else"
    assert fleet.finish(deployment).state == "settled"
    (failure,) = list_data(fleet, events.INSTANCE_FAILED)
    assert "its folder was written to" in str(failure["reason"])
    assert not failure["blamed"]


def test_a_label_that_the_fleet_does_not_name_does_nothing(fleet: FleetInMemory) -> None:
    done = fleet.deploy("a")
    fleet.world.fleet = Fleet(instances=("web-1",))
    fleet.machines["web-2"].holder.die()
    fleet.run_worker("web-2")
    assert fleet.serving()["web-2"] is None
    assert fleet.serving()["web-1"] == done.release


def test_an_app_that_ended_is_started_again_and_proven_anew(fleet: FleetInMemory) -> None:
    done = fleet.deploy("a")
    before = len(list_data(fleet, events.INSTANCE_RELEASED))
    fleet.machines["web-1"].holder.die()
    fleet.tick()
    assert fleet.serving()["web-1"] == done.release
    assert len(list_data(fleet, events.INSTANCE_RELEASED)) == before + 1
    fleet.tick()
    assert len(list_data(fleet, events.INSTANCE_RELEASED)) == before + 1


def test_a_worker_in_a_new_term_proves_what_serves_without_starting_it_again(
    fleet: FleetInMemory,
) -> None:
    fleet.deploy("a")
    running = set(fleet.machines["web-1"].holder.instances)
    fleet.machines["web-1"].epoch = 2
    fleet.start_worker("web-1")
    fleet.tick()
    assert set(fleet.machines["web-1"].holder.instances) == running
    assert list_data(fleet, events.INSTANCE_RELEASED)[-1]["epoch"] == 2


def test_what_an_instance_cannot_do_is_told_once_for_each_reason(fleet: FleetInMemory) -> None:
    fleet.deploy("a")
    machine = fleet.machines["web-1"]
    machine.holder.die()
    machine.releases.folders.clear()
    machine.releases.trouble = AstraError("the disk is full", next_step="free some")
    for _ in range(5):
        fleet.tick()
    (failure,) = list_data(fleet, events.INSTANCE_FAILED)
    assert failure["reason"] == "the disk is full"
    machine.releases.trouble = None
    fleet.tick()
    assert fleet.serving()["web-1"] is not None


def test_a_stopped_fleet_does_nothing_and_no_deadline_runs_out(fleet: FleetInMemory) -> None:
    deployment = fleet.world.request("a")
    while not list_data(fleet, events.INSTANCE_ORDERED):
        fleet.tick()
    fleet.world.stopped = True
    fleet.world.pace.wait(100_000.0)
    fleet.tick()
    fleet.world.stopped = False
    assert fleet.finish(deployment).state == "settled"


def test_the_result_names_every_instance(fleet: FleetInMemory) -> None:
    fleet.world.present.remove("web-2")
    fleet.deploy("a")
    (settled,) = list_data(fleet, deployment_events.SETTLED)
    assert settled["instances"] == {
        "web-1": "released",
        "web-3": "released",
        "web-2": "passed_over",
    }
