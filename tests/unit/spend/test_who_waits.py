"""What a cap stops waits for room and goes on by itself: drafts, plans, goals."""

from dataclasses import replace
from typing import Any

import pytest

from astra.goals import control
from astra.goals.ports import Waiting
from astra.plans.moves import OVER_CAP, find_way_to_room
from astra.plans.states import State
from astra.spend.model import Account, SpendRefused
from astra.testing import GateInMemory
from goals_in_memory import GoalsInMemory
from plans_at_work import PlansAtWork, ScriptedModel, document, done

ONE_TASK = """
[[methods]]
name = "one"
task = "top"
subtasks = [{ id = "a", task = "CHECK", arguments = { command = "true" } }]
"""


class Room:
    """Room that a test gives and takes."""

    def __init__(self) -> None:
        self.full = True

    def waits(self, waiter: str) -> bool:
        assert waiter
        return self.full

    def lacks_money(self, goal: str) -> bool:
        raise AssertionError(f"{goal} has no budget of money")


def over_cap() -> SpendRefused:
    return SpendRefused(
        "the cap tokens_per_day of 10 tokens is reached",
        next_step="raise it: astra approve apr_00000001",
        approval_id="apr_00000001",
        cap="tokens_per_day",
    )


@pytest.fixture
def room() -> Room:
    return Room()


def test_a_draft_waits_for_room_and_is_not_given_up(room: Room) -> None:
    gate = GateInMemory()
    room.full = False
    gate.models.model = ScriptedModel(*[over_cap()] * 6)
    drafting = replace(gate.planning.drafting, room=room)
    plan = drafting.request("tidy up", actor="agent:a", correlation="cor_00000000000000aa")
    for _ in range(6):
        drafting.advance(plan.id)
    waiting = gate.planning.register.get(plan.id)
    assert waiting.state is State.DRAFT_PENDING
    assert "astra approve apr_00000001" in waiting.reason
    assert gate.models.account == Account(plan=plan.id, correlation=plan.correlation)
    room.full = True
    assert drafting.list_due() == []
    room.full = False
    assert [due.id for due in drafting.list_due()] == [plan.id]


def test_a_goal_is_held_by_a_cap_and_goes_on_when_there_is_room(room: Room) -> None:
    world = GoalsInMemory(ONE_TASK)
    world.runner.room = room
    world.performer.answers["a"] = [over_cap()]
    goal = world.adopted()
    world.run_all()
    held = world.book.get(goal.id)
    assert held.held == control.OVER_CAP
    assert "astra approve apr_00000001" in held.why
    assert world.states(goal) == {"a": "pending"}
    room.full = False
    world.run_all()
    assert world.states(goal) == {"a": "succeeded"}
    assert world.performer.begun["a"] == 2


def test_a_waiting_task_stays_waiting_when_a_cap_stops_its_next_try(room: Room) -> None:
    world = GoalsInMemory(ONE_TASK)
    world.runner.room = room
    world.performer.answers["a"] = [Waiting(on="chg_00000001", why="for a person")]

    def refuse(_run: Any, _on: str) -> None:
        raise over_cap()

    world.performer.look = refuse  # type: ignore[method-assign]
    goal = world.adopted()
    world.run_all()
    assert world.book.get(goal.id).held == control.OVER_CAP
    assert world.states(goal) == {"a": "waiting"}


class CoderOverCap:
    """A coder that a cap stops so often, and that then writes."""

    def __init__(self, times: int) -> None:
        self.times = times

    def write(self, _plan: Any, _instructions: str) -> str:
        self.times -= 1
        if self.times >= 0:
            raise over_cap()
        return "proposed"


def with_room(world: PlansAtWork, room: Room) -> PlansAtWork:
    world.running = replace(world.running, runner=replace(world.running.runner, room=room))
    return world


def test_a_plan_stops_before_the_call_and_goes_on_when_there_is_room(room: Room) -> None:
    world = with_room(PlansAtWork(), room)
    model = world.script(over_cap(), done())
    plan = world.run(world.approved())
    assert plan.state is State.BLOCKED_ON_BUDGET
    assert plan.block is not None
    assert plan.block[OVER_CAP] == "tokens_per_day"
    assert plan.block["approval_id"] == "apr_00000001"
    assert find_way_to_room(plan) == "astra approve apr_00000001"
    assert world.running.runner.list_due() == []
    assert world.run(plan).state is State.BLOCKED_ON_BUDGET
    room.full = False
    assert world.running.runner.list_due() == [plan.id]
    assert world.run(plan).state is State.COMPLETED
    assert len(model.prompts) == 2


def test_a_plan_whose_steps_are_spent_does_not_go_on_by_itself(room: Room) -> None:
    room.full = False
    world = with_room(PlansAtWork(), room)
    message = {"kind": "message", "text": "still here"}
    world.script(*[message] * 3)
    plan = world.approved({**document(budget=2)})
    assert world.run(plan).state is State.BLOCKED_ON_BUDGET
    assert world.running.runner.list_due() == []
    assert world.run(plan).state is State.BLOCKED_ON_BUDGET


def test_a_coder_that_a_cap_stops_loses_no_turn(room: Room) -> None:
    room.full = False
    world = PlansAtWork()
    world.coder = CoderOverCap(5)  # type: ignore[assignment]
    world.running = world.new_running()
    with_room(world, room)
    world.script(*[{"kind": "code", "text": "write it"}] * 6, done())
    plan = world.approved(skills=["coder"], budget=30)
    for _ in range(12):
        plan = world.run(plan)
    assert plan.state is State.COMPLETED
    assert world.outcomes(plan).count(OVER_CAP) == 5
