"""The rules of a rollout, on the fold alone: each test fails without its rule."""

from dataclasses import replace

import pytest

from astra.deployments import events as deployment_events
from astra.deployments.fleet import events
from astra.deployments.fleet.deciding import (
    BeginWave,
    FailAttempt,
    FinishRollback,
    GiveUpRollback,
    OrderInstances,
    PassOver,
    RollBack,
    Settle,
)
from astra.deployments.fleet.rollout import Phase
from fleet_world import NEW, OLD, RULES, FleetWorld

SIX = tuple(f"web-{number}" for number in range(1, 7))


def test_waves_go_one_after_another_and_the_result_names_every_instance() -> None:
    world = FleetWorld(SIX)
    world.run()
    assert [step for step in world.steps if isinstance(step, BeginWave)] == [
        BeginWave(number=number) for number in range(3)
    ]
    assert world.states() == dict.fromkeys(SIX, "released")
    assert world.types()[-1] == deployment_events.SETTLED


def test_no_wave_begins_before_the_one_before_was_watched() -> None:
    world = FleetWorld(SIX)
    while world.rollout.wave < 1:
        world.tick()
    waited = RULES.watch_seconds + RULES.pause_seconds
    assert world.seconds >= waited
    assert world.states()["web-1"] == "released"


def test_the_last_wave_is_watched_but_not_paused_after() -> None:
    world = FleetWorld(("web-1",), rules=replace(RULES, pause_seconds=4_000))
    world.run(seconds=100)
    assert world.types()[-1] == deployment_events.SETTLED


def test_only_a_proof_releases_an_instance() -> None:
    world = FleetWorld(("web-1", "web-2"), behaviours={"web-1": ["silent", "silent"]})
    while world.rollout.phase is not Phase.ROLLING_BACK:
        world.tick()
    fails = [step for step in world.steps if isinstance(step, FailAttempt)]
    assert [step.label for step in fails] == ["web-1", "web-1"]
    assert world.seconds >= 2 * RULES.instance_seconds


@pytest.mark.parametrize(
    "proof",
    [
        {"release": "old", "digest": "d-new"},
        {"release": "new", "digest": "another"},
        {"release": "new", "digest": "d-new", "health": ""},
        {"release": "new", "digest": "d-new", "epoch": 0},
        {"release": "new", "digest": "d-new", "attempt": 2},
        {"release": "new", "digest": "d-new", "instance": "web-9"},
    ],
)
def test_a_proof_with_anything_wrong_counts_for_nothing(proof: dict[str, object]) -> None:
    world = FleetWorld(("web-1",), behaviours={"web-1": ["silent"]})
    while world.states()["web-1"] != "ordered":
        world.tick()
    whole = {"instance": "web-1", "attempt": 1, "epoch": 1, "health": "200"}
    world.append(events.INSTANCE_RELEASED, {**whole, **proof})
    assert world.states() == {"web-1": "ordered"}
    world.append(events.INSTANCE_RELEASED, {**whole, **NEW})
    assert world.states() == {"web-1": "released"}


def test_a_proof_of_an_older_epoch_counts_for_nothing() -> None:
    world = FleetWorld(("web-1",), behaviours={"web-1": ["silent", "silent"]})
    while world.states()["web-1"] != "ordered":
        world.tick()
    world.fail("web-1", reason="it crashed", epoch=5)
    while world.states()["web-1"] != "ordered":
        world.tick()
    world.prove("web-1", attempt=2, epoch=4, target=NEW)
    assert world.states() == {"web-1": "ordered"}


def test_an_instance_that_was_not_ordered_is_not_released_by_its_word() -> None:
    world = FleetWorld(SIX)
    world.prove("web-6", attempt=0, target=NEW)
    world.prove("web-6", attempt=1, target=NEW)
    assert world.states()["web-6"] == "waiting"


def test_one_failure_gets_one_replacement_try() -> None:
    world = FleetWorld(SIX, behaviours={"web-2": ["blame", "ok"]})
    world.run()
    assert world.states() == dict.fromkeys(SIX, "released")
    assert world.rollout.instances["web-2"].attempt == 2


def test_a_second_failure_takes_the_release_back_everywhere() -> None:
    world = FleetWorld(SIX, behaviours={"web-4": ["blame", "blame"]})
    world.run()
    states = world.states()
    assert {states[label] for label in SIX[:4]} == {"back"}
    assert world.types()[-1] == deployment_events.ROLLED_BACK
    rollback = next(step for step in world.steps if isinstance(step, RollBack))
    assert rollback.blamed
    assert rollback.reason == "web-4 failed 2 times: it crashed"


def test_a_failure_while_a_wave_is_watched_counts_too() -> None:
    world = FleetWorld(SIX, behaviours={"web-1": ["ok", "blame"]})
    while world.rollout.phase is not Phase.WATCH:
        world.tick()
    world.fail("web-1", reason="its health failed 3 times in a row", blamed=True)
    world.run()
    assert world.types()[-1] == deployment_events.ROLLED_BACK
    assert world.types().count(events.WAVE_BEGUN) == 1


def test_going_back_skips_waves_and_rooms() -> None:
    world = FleetWorld(SIX, behaviours={"web-6": ["fail", "fail"]})
    while world.rollout.phase is not Phase.ROLLING_BACK:
        world.tick()
    before = world.seconds
    touched = [p.label for p in world.rollout.instances.values() if p.is_touched]
    assert len(touched) == 6
    world.run()
    assert world.seconds - before <= 2


def test_proofs_of_the_new_release_do_not_count_as_back() -> None:
    world = FleetWorld(SIX, behaviours={"web-1": ["fail", "fail"]}, stays={"web-1"})
    while world.rollout.phase is not Phase.ROLLING_BACK:
        world.tick()
    world.prove("web-1", attempt=2, target=NEW)
    world.prove("web-1", attempt=0, target=NEW)
    assert world.states()["web-1"] == "returning"
    world.prove("web-1", attempt=0, target=OLD)
    assert world.states()["web-1"] == "back"


def test_an_instance_that_does_not_go_back_makes_the_rollback_fail_by_its_deadline() -> None:
    world = FleetWorld(SIX, behaviours={"web-1": ["fail", "fail"]}, stays={"web-1"})
    world.run()
    last = world.steps[-1]
    assert isinstance(last, GiveUpRollback)
    assert last.reason == "not back after 60 s: web-1"


def test_an_instance_that_is_away_does_not_hold_the_way_back() -> None:
    world = FleetWorld(SIX, behaviours={"web-2": ["fail", "fail"]})
    while world.rollout.phase is not Phase.ROLLING_BACK:
        world.tick()
    world.away.add("web-1")
    world.append(events.INSTANCE_FAILED, {"instance": "web-9", "attempt": 1, "epoch": 1})
    world.run()
    assert isinstance(world.steps[-1], FinishRollback)


def test_without_a_recorded_release_there_is_nothing_to_go_back_to() -> None:
    world = FleetWorld(SIX, behaviours={"web-1": ["fail", "fail"]}, has_recorded=False)
    world.run()
    assert world.types()[-1] == deployment_events.ROLLBACK_FAILED


def test_an_instance_that_is_away_is_released_last_and_passed_over() -> None:
    world = FleetWorld(SIX, rules=replace(RULES, max_down=2), away={"web-1"})
    world.run()
    assert world.states() == {**dict.fromkeys(SIX[1:], "released"), "web-1": "passed_over"}
    orders = [step for step in world.steps if isinstance(step, OrderInstances)]
    assert orders[0].labels == ("web-2",)
    assert PassOver(labels=("web-1",)) in world.steps


def test_an_instance_back_in_time_is_released_with_its_wave() -> None:
    world = FleetWorld(SIX, rules=replace(RULES, max_down=2), away={"web-1"})
    while world.rollout.wave < 2:
        world.tick()
    world.away.clear()
    world.run()
    assert world.states() == dict.fromkeys(SIX, "released")


def test_instances_that_are_away_count_as_down() -> None:
    world = FleetWorld(SIX, away={"web-6"})
    for _ in range(30):
        world.tick()
    assert not any(isinstance(step, OrderInstances) for step in world.steps)
    world.run()
    assert world.types()[-1] == deployment_events.FAILED
    assert world.rollout.phase is Phase.OVER


def test_a_wave_that_nobody_was_there_for_proves_nothing() -> None:
    world = FleetWorld(("web-1", "web-2"), rules=replace(RULES, max_down=2))
    world.away |= {"web-1", "web-2"}
    world.run()
    assert world.types()[-1] == deployment_events.FAILED
    assert "had no instance that was there" in world.rollout.reason


def test_a_worker_that_goes_away_while_it_is_asked_fails_its_try() -> None:
    """A release that takes its machine down must not pass as a machine that happens to be away."""
    world = FleetWorld(SIX, behaviours={"web-1": ["silent"]}, rules=replace(RULES, max_down=3))
    while world.states()["web-1"] != "ordered":
        world.tick()
    world.away.add("web-1")
    world.run()
    rollback = next(step for step in world.steps if isinstance(step, RollBack))
    assert rollback.reason.startswith("web-1 failed and was away for")
    assert world.states()["web-1"] == "returning"
    assert world.types()[-1] == deployment_events.ROLLED_BACK


def test_a_wave_has_a_deadline() -> None:
    rules = replace(RULES, instance_seconds=10_000)
    world = FleetWorld(SIX, rules=rules, behaviours={"web-1": ["silent"]})
    world.run()
    rollback = next(step for step in world.steps if isinstance(step, RollBack))
    assert rollback.reason == "wave 1 was not over after 200 s: web-1"
    assert not rollback.blamed


def test_no_more_than_max_down_are_in_change_at_once() -> None:
    world = FleetWorld(SIX, sizes=("rest",), rules=replace(RULES, max_down=2))
    world.run()
    assert world.most_down == 2
    orders = [step.labels for step in world.steps if isinstance(step, OrderInstances)]
    assert [len(labels) for labels in orders] == [2, 2, 2]


def test_nothing_settles_before_the_last_wave() -> None:
    world = FleetWorld(SIX)
    world.run()
    settles = [number for number, step in enumerate(world.steps) if isinstance(step, Settle)]
    assert settles == [len(world.steps) - 1]
