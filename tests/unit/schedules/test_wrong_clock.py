"""Schedules under a clock that was ahead: they stand still, and are armed again by acceptance."""

from datetime import timedelta
from typing import Any

import pytest

from astra.testing import RootInMemory
from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED
from astra.trusted.policy import clock_acceptance

PERIODS = {
    "* * * * *": timedelta(minutes=1),
    "@hourly": timedelta(hours=1),
    "@daily": timedelta(days=1),
    "@weekly": timedelta(weeks=1),
}


def accept(root: RootInMemory) -> None:
    state = clock_acceptance.read_state(root.ledger, machine=root.clock.now())
    signed = root.sign(CLOCK_ACCEPTED, clock_acceptance.content(state))
    clock_acceptance.accept(root.ledger, signed, machine=root.clock.now())


def be_wrong(world: Any, by: timedelta) -> None:
    """Set the clock ahead while the executor runs, and set it right again 40 seconds later."""
    world.advance(seconds=by.total_seconds())
    world.ledger.append([Event(type="thing_happened", actor="daemon")])
    world.advance(seconds=40)
    world.advance(seconds=-by.total_seconds())


@pytest.mark.parametrize("by", [timedelta(hours=2), timedelta(days=1), timedelta(days=365)])
@pytest.mark.parametrize("cron", PERIODS)
def test_the_next_firing_comes_within_its_period_after_the_acceptance(
    world: Any, cron: str, by: timedelta
) -> None:
    schedule = world.create("look", cron)
    be_wrong(world, by)
    accept(world.gate.root)
    accepted = world.clock.now()
    world.advance(seconds=0)
    next_run = parse_time(world.timetable.get(schedule.id).next_run)
    assert accepted < next_run <= accepted + PERIODS[cron]
    before = len(world.ran)
    world.advance(seconds=(next_run - accepted).total_seconds())
    assert len(world.ran) == before + 1


def test_until_the_acceptance_nothing_fires(world: Any) -> None:
    world.create("look")
    be_wrong(world, timedelta(days=365))
    before = len(world.ran)
    for _ in range(5):
        world.advance(minutes=1)
    assert len(world.ran) == before


def test_a_schedule_made_before_the_acceptance_is_armed_too(world: Any) -> None:
    be_wrong(world, timedelta(days=365))
    schedule = world.create("look", "@hourly")
    assert schedule.next_run > format_time(world.clock.now() + timedelta(days=300))
    accept(world.gate.root)
    world.advance(seconds=0)
    world.advance(hours=1)
    assert [item["outcome"] for item in world.history(schedule)] == ["succeeded"]


def test_a_paused_one_is_armed_from_the_right_time_when_it_is_resumed(world: Any) -> None:
    schedule = world.create("look", "@hourly")
    be_wrong(world, timedelta(days=365))
    world.timetable.pause(schedule.id, actor="operator")
    accept(world.gate.root)
    resumed = world.timetable.resume(schedule.id, actor="operator")
    assert parse_time(resumed.next_run) - world.clock.now() <= timedelta(hours=1)


def test_many_are_armed_together_and_each_once(world: Any) -> None:
    for number in range(150):
        world.create("look", "@monthly", name=f"number {number}")
    be_wrong(world, timedelta(days=365))
    accept(world.gate.root)
    world.advance(seconds=0)
    armed = [
        record
        for record in world.ledger.records("schedule_cadence_adjusted", limit=1000)
        if record.data["reason"] == "the clock was accepted"
    ]
    assert len(armed) == len({record.subject for record in armed}) == 150
    assert world.executor.run_due() == 0


def test_a_retry_that_waits_for_a_time_ahead_gets_its_attempt(world: Any) -> None:
    schedule = world.create("write", "0 12 * * *", attempts=2, backoff_seconds=3600)
    world.failing = True
    be_wrong(world, timedelta(days=365))
    assert world.history(schedule)[-1]["outcome"] == "retrying"
    world.failing = False
    accept(world.gate.root)
    world.advance(seconds=0)
    assert world.history(schedule)[-1]["outcome"] == "succeeded"
