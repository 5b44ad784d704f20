"""A method that asks for a belief is chosen once outcomes speak for it, and not before."""

import pytest

from astra.bootstrap.goals import read_bounds
from astra.goals.method_files import combine, read_methods
from astra.goals.planner import Situation, plan_goal
from beliefs_in_memory import BeliefWorld

METHODS = combine(
    read_methods(
        """
[[methods]]
name = "proven"
task = "top"
when = ["belief proven works >= 0.5"]
subtasks = [{ id = "ask", task = "ASK_OPERATOR", arguments = { question = "${text}" } }]

[[methods]]
name = "usual"
task = "top"
cost = 10
subtasks = [{ id = "ask", task = "ASK_OPERATOR", arguments = { question = "${text}" } }]
"""
    )
)


@pytest.fixture
def world() -> BeliefWorld:
    return BeliefWorld()


def chosen_method(world: BeliefWorld) -> str:
    situation = Situation(methods=METHODS, facts={}, beliefs=read_bounds(METHODS, world.book))
    return plan_goal("goal_00000001", "top", {"text": "do it"}, situation).method


def satisfy_goals(world: BeliefWorld, count: int) -> None:
    node = {
        "id": "node_00000001",
        "kind": "ASK_OPERATOR",
        "path": "top/ask",
        "method": "proven",
        "tool": "",
        "arguments": {},
        "after": [],
        "on_failure": "abort",
        "attempts": 1,
    }
    graph = {"task": "top", "method": "proven", "methods_digest": "", "nodes": [node]}
    for _ in range(count):
        goal = world.name("goal")
        world.append("goal_planned", goal, graph=graph, manifest={})
        world.append("goal_satisfied", goal, by="daemon", checks=[{"command": "true"}])


def test_only_the_beliefs_that_methods_name_are_read(world: BeliefWorld) -> None:
    assert read_bounds(METHODS, world.book) == {"proven works": 0.0}


def test_a_method_waits_for_the_lower_bound_that_it_asks_for(world: BeliefWorld) -> None:
    assert chosen_method(world) == "usual"
    satisfy_goals(world, 1)
    assert chosen_method(world) == "usual"
    satisfy_goals(world, 2)
    assert chosen_method(world) == "proven"


def test_a_method_is_left_again_when_its_evidence_has_faded(world: BeliefWorld) -> None:
    satisfy_goals(world, 3)
    assert chosen_method(world) == "proven"
    world.clock.advance(days=365)
    assert chosen_method(world) == "usual"


def test_words_never_let_a_method_apply(world: BeliefWorld) -> None:
    for number in range(20):
        world.book.propose(
            f"proven works, I am sure {number}",
            claim="works",
            kind="method",
            scope="proven",
            actor="agent:test",
            correlation="cor_00000000000000aa",
        )
    assert chosen_method(world) == "usual"
