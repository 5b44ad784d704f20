"""A goal is closed by what came of it, and the desire behind it with it."""

import pytest

from astra.goals.model import read_request
from astra.goals.outcomes import Outcomes
from astra.goals.ports import Done
from astra.trusted.kernel.errors import BadInput, Conflict
from goals_in_memory import STORY, GoalsInMemory

METHODS = """
[[methods]]
name = "top"
task = "achieve"
subtasks = [{ id = "one", task = "RUN_TOOL", tool = "astra.health" }]
"""
CHANGE, SESSION = "chg_0123456789abcdef", "res_01234567"


class World(GoalsInMemory):
    def __init__(self) -> None:
        super().__init__(METHODS)
        self.objections: dict[str, str] = {}
        self.signals: dict[str, float | None] = {}
        self.outcomes = Outcomes(
            goals=self.book,
            find_change_objection=lambda change: self.objections.get(change, ""),
            find_research_objection=lambda session: self.objections.get(session, ""),
            read_signals=lambda: self.signals,
        )

    def finish_tasks(self, **outputs: str) -> str:
        """Take a desire to a goal whose tasks are over, and give the goal's id."""
        desire = self.gate.desires.record("sail", actor="agent:test", correlation=STORY)
        self.gate.approve(self.gate.promotions.request(desire.id, actor="agent:test"))
        self.gate.steps().run_due()
        goal = self.gate.desires.get(desire.id).goal_id
        assert goal
        self.adopt(self.book.get(goal))
        self.performer.answers["one"] = [Done(outputs=outputs)]
        return goal


@pytest.fixture
def world() -> World:
    return World()


def check(world: World, goal: str) -> Done:
    return world.outcomes.check_outcome(world.book.get(goal), "kept")


def test_a_goal_of_a_desire_is_held_to_what_came_of_it(world: World) -> None:
    goal = world.finish_tasks(change=CHANGE)
    assert world.book.get(goal).criteria == ({"outcome": "kept"},)
    world.run_all()
    assert check(world, goal).succeeded
    world.objections[CHANGE] = f"{CHANGE} is rolled_back"
    outcome = check(world, goal)
    assert (outcome.succeeded, outcome.detail) == (False, f"{CHANGE} is rolled_back")


def test_a_change_counts_before_the_research_behind_it(world: World) -> None:
    goal = world.finish_tasks(change=CHANGE, session=SESSION)
    world.run_all()
    world.objections[SESSION] = "nothing was found"
    assert check(world, goal).succeeded


def test_a_goal_that_only_looked_is_held_to_its_findings(world: World) -> None:
    goal = world.finish_tasks(session=SESSION)
    world.run_all()
    assert check(world, goal).succeeded
    world.objections[SESSION] = "nothing was found"
    assert not check(world, goal).succeeded


def test_a_goal_that_brought_nothing_about_is_not_reached(world: World) -> None:
    goal = world.finish_tasks()
    world.run_all()
    assert "changed nothing" in check(world, goal).detail


@pytest.mark.parametrize(
    ("value", "holds"), [(0.0, True), (1.0, False), (None, False)], ids=["beyond", "at", "unknown"]
)
def test_a_metric_is_compared_with_a_number(
    world: World, value: float | None, *, holds: bool
) -> None:
    world.signals["tests_failed"] = value
    assert (
        world.outcomes.check_metric(world.propose(task="achieve"), "tests_failed below 1").succeeded
        is holds
    )


@pytest.mark.parametrize(
    ("metric", "before", "value", "holds"),
    [
        ("tests_failed falls by 2", 5.0, 3.0, True),
        ("tests_failed falls by 2", 5.0, 4.0, False),
        ("tests_failed falls by 2", None, 0.0, False),
        ("disk_free_share rises by 0.1", 0.2, 0.5, True),
        ("disk_free_share rises by 0.1", 0.5, 0.2, False),
    ],
    ids=["fell", "fell too little", "not known before", "rose", "fell instead"],
)
def test_a_metric_is_compared_with_what_it_was_when_the_goal_began(
    world: World, metric: str, before: float | None, value: float, *, holds: bool
) -> None:
    name = metric.split(maxsplit=1)[0]
    world.runner.read_signals = lambda: world.signals
    world.signals[name] = 99.0
    goal = world.adopted(task="achieve", criteria=[{"metric": metric}])
    world.signals[name] = before
    world.run_all()
    world.signals[name] = value
    outcome = world.outcomes.check_metric(world.book.get(goal.id), metric)
    assert outcome.succeeded is holds
    if before is None:
        assert outcome.detail == f"{name} was not known when the goal began"
    elif not holds:
        assert outcome.detail == f"{name} is {value:g}, and was {before:g} when the goal began"


def test_what_a_number_was_before_is_recorded_only_where_a_criterion_asks(world: World) -> None:
    world.runner.read_signals = lambda: {"tests_failed": 3.0}
    world.adopted(task="achieve", criteria=[{"metric": "tests_failed below 1"}])
    world.adopted(task="achieve", text="b", criteria=[{"metric": "tests_failed falls by 1"}])
    world.run_all()
    records = world.gate.root.ledger.records("goal_started", limit=10)
    assert [dict(record.data) for record in records] == [{}, {"signals": {"tests_failed": 3.0}}]


@pytest.mark.parametrize(
    "criterion",
    [
        {"outcome": "good"},
        {"file": "../../etc/passwd"},
        {"file": "/etc/passwd"},
        {"metric": "tests_failed falls by 0"},
        {"metric": "tests_failed rises by -1"},
        {"metric": "tests_failed falls"},
        {"metric": "tests_failed"},
        {"metric": "nothing below 1"},
        {"metric": "tests_failed below many"},
        {"metric": "tests_failed below 1; rm"},
    ],
    ids=str,
)
def test_a_criterion_that_says_nothing_checkable_is_refused(criterion: dict[str, str]) -> None:
    with pytest.raises(BadInput) as refusal:
        read_request({"text": "x", "criteria": [criterion]})
    assert refusal.value.facts["field"] == "criteria"


def test_the_desire_is_closed_and_reopened_with_its_goal(world: World) -> None:
    goal = world.finish_tasks(change=CHANGE)
    desires = world.gate.desires
    desire = str(world.book.get(goal).desire_id)
    world.run_all()
    assert world.book.get(goal).state == "satisfied"
    assert desires.get(desire).state == "fulfilled"
    assert desires.list_desires().items == ()
    with pytest.raises(Conflict, match="is fulfilled"):
        desires.reinforce(desire, actor="agent:test")
    world.control.reopen(goal, actor="operator")
    assert desires.get(desire).state == "active"
    assert [item.id for item in desires.list_desires().items] == [desire]
    world.control.abandon(goal, "not any more", actor="operator")
    assert desires.get(desire).state == "given_up"
    events = world.gate.root.ledger.records("desire_closed", "desire_reopened")
    assert [record.correlation for record in events] == [STORY] * 3


def test_closing_keeps_the_words_and_a_new_desire_counts_them(world: World) -> None:
    goal = world.finish_tasks(change=CHANGE)
    world.run_all()
    again = world.gate.desires.record("sail", actor="agent:test", correlation=STORY)
    assert world.gate.promotions.evidence(again).recurrence == 2
    assert again.goal_id is None
    assert world.book.get(goal).state == "satisfied"
