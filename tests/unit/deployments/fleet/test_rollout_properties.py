"""What holds for every fleet, whatever its workers do."""

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from astra.deployments import events as deployment_events
from astra.deployments.fleet.deciding import OrderInstances, list_down
from astra.deployments.fleet.rollout import Phase, fold_rollout
from astra.deployments.fleet.waves import plan_waves
from fleet_world import RULES, FleetWorld

labels = st.integers(1, 12).map(lambda count: tuple(f"web-{n}" for n in range(count)))
sizes = st.lists(
    st.one_of(st.integers(1, 9).map(str), st.integers(1, 100).map(lambda n: f"{n}%")), max_size=4
)
behaviours = st.sampled_from(["ok", "ok", "ok", "fail", "blame", "silent", "wrong digest"])
ENDINGS = {
    deployment_events.SETTLED,
    deployment_events.ROLLED_BACK,
    deployment_events.ROLLBACK_FAILED,
    deployment_events.FAILED,
}


@given(labels, sizes, st.data())
def test_each_instance_is_in_exactly_one_wave(
    instances: tuple[str, ...], wave_sizes: list[str], data: st.DataObject
) -> None:
    away = data.draw(st.sets(st.sampled_from(instances)))
    waves = plan_waves(instances, wave_sizes, away=away)
    counts = Counter(label for wave in waves for label in wave)
    assert counts == dict.fromkeys(instances, 1)
    assert all(waves)


def draw_world(data: st.DataObject) -> FleetWorld:
    instances = data.draw(labels)
    tries = st.lists(behaviours, max_size=2)
    return FleetWorld(
        instances,
        sizes=data.draw(sizes),
        rules=replace(RULES, max_down=data.draw(st.integers(1, 4))),
        behaviours={label: data.draw(tries) for label in instances},
        stays=data.draw(st.sets(st.sampled_from(instances), max_size=1)),
        has_recorded=data.draw(st.booleans()),
    )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_rollout_ends_and_keeps_its_rules(data: st.DataObject) -> None:
    world = draw_world(data)
    comings = data.draw(
        st.lists(st.tuples(st.integers(1, 300), st.sampled_from(list(world.instances))), max_size=6)
    )
    for _ in range(6_000):
        for moment, label in comings:
            if moment == int(world.seconds):
                world.away ^= {label}
        down = list_down(world.rollout, world.present)
        step = world.tick()
        if isinstance(step, OrderInstances):
            assert len(down | set(step.labels)) <= world.rules.max_down
            assert set(step.labels) <= world.present
        if world.rollout.phase is Phase.OVER:
            break
    assert world.types()[-1] in ENDINGS
    assert set(world.states()) == set(world.instances)
    check_ending(world)


def check_ending(world: FleetWorld) -> None:
    ending, states = world.types()[-1], world.states()
    if ending == deployment_events.SETTLED:
        assert set(states.values()) <= {"released", "passed_over"}
        assert "released" in states.values()
    elif ending == deployment_events.ROLLED_BACK:
        still_there = {label for label in world.present if states[label] == "returning"}
        assert still_there == set()
        assert "released" not in states.values()


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_the_state_is_the_same_whenever_and_wherever_it_is_folded(data: st.DataObject) -> None:
    world = draw_world(data)
    world.run()
    length = data.draw(st.integers(1, len(world.records)))
    part, again = fold_rollout(world.records[:length]), fold_rollout(list(world.records[:length]))
    assert part == again
    assert fold_rollout(world.records) == world.rollout
