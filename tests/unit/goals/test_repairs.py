"""A release that was taken back makes one goal to mend it, whatever is killed when."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from astra.deployments.repairs import Repairs
from astra.goals.book import Goals
from astra.goals.method_files import combine, read_methods
from astra.goals.model import Goal
from astra.testing import GateInMemory, MemoryLedger
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import AstraError
from deployment_world import World

METHODS = """
[[methods]]
name = "repair_after_rollback"
task = "repair_after_rollback"
subtasks = [
  { id = "look", task = "RUN_TOOL", tool = "list_source_files" },
  { id = "mend", task = "CODE_MODIFY", after = ["look"], arguments = { instruction = "${text}" } },
]
"""
DEPLOY = (
    '{ id = "go", task = "DEPLOY", after = ["mend"], arguments = { change = "${mend.change}" } }'
)
DEPLOYING = METHODS.replace(" },\n]", f" }},\n  {DEPLOY},\n]")


class Killed(BaseException):
    """What no code catches, like a SIGKILL."""


def taken_back() -> World:
    world = World()
    world.deploy("a")
    world.finish(world.misbehave(6, "b").id)
    assert "deployment_rolled_back" in world.types()
    return world


def daemon(world: World, methods: str = METHODS, *, policy_days: int = 0) -> GateInMemory:
    """Stand for a daemon that opens the data root."""
    gate = GateInMemory(world.root)
    gate.methods = combine(read_methods(methods))
    if policy_days:
        gate.adopt_repairs_until = format_time(world.root.clock.now() + timedelta(days=policy_days))
    return gate


def repairs(world: World) -> list[Goal]:
    goals, _ = Goals(world.root.ledger).list_goals()
    return [goal for goal in goals if goal.source == "rollback"]


def test_a_release_that_was_taken_back_makes_a_proposed_goal_in_its_story() -> None:
    world = taken_back()
    gate = daemon(world)
    gate.steps().run_due()
    (goal,) = repairs(world)
    deployment = world.root.ledger.records("deployment_rolled_back")[0].data["deployment"]
    assert (goal.state, goal.task) == ("proposed", "repair_after_rollback")
    assert goal.correlation == world.now(deployment).correlation
    assert deployment in goal.text
    assert world.now(deployment).reason[:50] in goal.text
    (approval,) = gate.desk.list_for_subject("goal", goal.id, "pending")
    assert gate.desk.details(approval.id)["details"]["goal"] == goal.id


def test_looking_again_makes_no_second_goal() -> None:
    world = taken_back()
    for _ in range(3):
        gate = daemon(world)
        gate.steps().run_due()
        deployment = world.root.ledger.records("deployment_rolled_back")[0].data["deployment"]
        Repairs(world.root.ledger).propose(deployment)
    assert len(repairs(world)) == 1


def test_each_rollback_makes_a_goal_of_its_own() -> None:
    world = taken_back()
    world.finish(world.misbehave(6, "c").id)
    daemon(world).steps().run_due()
    assert len(repairs(world)) == 2


def test_going_back_by_hand_asks_for_a_repair_and_going_forward_does_not() -> None:
    world = World()
    first, second = world.deploy("a"), world.deploy("b")
    world.finish(world.roll_back(first.release).id)
    daemon(world).steps().run_due()
    (goal,) = repairs(world)
    assert second.release in goal.text
    world.finish(world.roll_back(second.release).id)
    daemon(world).steps().run_due()
    assert len(repairs(world)) == 1


def test_a_deployment_that_failed_before_it_served_makes_no_goal() -> None:
    world = World()
    world.deploy("a")
    world.finish(world.misbehave("dies", "b").id)
    daemon(world).steps().run_due()
    assert "deployment_rolled_back" not in world.types()
    assert repairs(world) == []


def test_a_signed_policy_adopts_a_repair_without_asking() -> None:
    world = taken_back()
    gate = daemon(world, policy_days=1)
    gate.steps().run_due()
    (goal,) = repairs(world)
    assert goal.state == "adopted"
    assert gate.desk.list_for_subject("goal", goal.id, "pending") == []
    gate.goals.adoption.check_signed(goal)


def test_a_policy_that_is_over_adopts_nothing_and_holds_what_it_adopted() -> None:
    world = taken_back()
    gate = daemon(world, policy_days=1)
    gate.steps().run_due()
    (goal,) = repairs(world)
    world.root.clock.advance(days=2)
    with pytest.raises(AstraError) as refusal:
        gate.goals.adoption.check_signed(goal)
    assert refusal.value.reason == "not_signed"
    world.finish(world.misbehave(6, "d").id)
    gate.steps().run_due()
    assert [goal.state for goal in repairs(world)] == ["adopted", "proposed"]


def test_a_policy_does_not_adopt_a_graph_that_deploys() -> None:
    world = taken_back()
    assert "DEPLOY" in DEPLOYING
    daemon(world, DEPLOYING, policy_days=1).steps().run_due()
    assert [goal.state for goal in repairs(world)] == ["proposed"]


def test_a_policy_does_not_adopt_what_an_agent_calls_a_repair() -> None:
    world = taken_back()
    gate = daemon(world, policy_days=1)
    goal = gate.goals.adoption.create(
        {"text": "mend it", "task": "repair_after_rollback"},
        actor="agent:test",
        correlation="cor_00000000000000bb",
    )
    gate.steps().run_due()
    assert gate.goals.book.get(goal.id).state == "proposed"


def dying(ledger: MemoryLedger, lives: int, *, after: bool) -> Callable[..., Any]:
    """Let so many appends through, then die: before the append, or right after it."""
    append, left = ledger.append, [lives]

    def die_in_time(*words: Any, **more: Any) -> Any:
        left[0] -= 1
        if left[0] < 0 and not after:
            raise Killed
        records = append(*words, **more)
        if left[0] < 0:
            raise Killed
        return records

    return die_in_time


@pytest.mark.parametrize("after", [False, True], ids=["before an append", "after an append"])
@pytest.mark.parametrize("policy_days", [0, 1], ids=["asking", "by policy"])
def test_a_death_at_any_append_leaves_one_goal_that_is_settled(
    monkeypatch: pytest.MonkeyPatch, policy_days: int, *, after: bool
) -> None:
    deaths = 0
    for lives in range(10):
        world = taken_back()
        with monkeypatch.context() as patch:
            patch.setattr(world.root.ledger, "append", dying(world.root.ledger, lives, after=after))
            try:
                daemon(world, policy_days=policy_days).steps().run_due()
                died = False
            except Killed:
                died = True
        deaths += died
        gate = daemon(world, policy_days=policy_days)
        gate.steps().run_due()
        (goal,) = repairs(world)
        waiting = gate.desk.list_for_subject("goal", goal.id, "pending")
        assert (goal.state, len(waiting)) == (("adopted", 0) if policy_days else ("proposed", 1))
    assert deaths >= 3
