"""One list of everything that waits for a person, there exactly as long as its cause."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from astra.changes.edits import WholeFile
from astra.deployments import events as deployments
from astra.deployments.changes import FailedChanges
from astra.goals.ports import Done
from astra.inbox.inbox import Inbox
from astra.inbox.items import (
    ALERT,
    FAILED_DEPLOYMENT,
    HELD_GOAL,
    RESTING_CHANGE,
    WAITING_PLAN,
    InboxItem,
)
from astra.plans.register import Register
from astra.testing import GateInMemory
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.changes.views import Book
from astra.trusted.ledger.record import Event
from changing import ChangesHere
from goals_in_memory import GoalsInMemory
from plans_at_work import PlansAtWork, write

ALARM = InboxItem(
    id="alert-disk",
    kind=ALERT,
    title="the disk is almost full",
    why="of logs",
    waiting_since="2026-03-01T12:00:00.000000Z",
    command="astra doctor",
    subject_id="disk",
)
ONE_TASK = """
[[methods]]
name = "one"
task = "top"
subtasks = [{ id = "a", task = "CHECK", arguments = { command = "a" } }]
"""


@pytest.fixture
def gate() -> GateInMemory:
    return GateInMemory()


@pytest.fixture
def here(tmp_path: Path, gate: GateInMemory) -> Iterator[ChangesHere]:
    changes = ChangesHere(tmp_path, root=gate.root)
    yield changes
    changes.close()


def inbox_of(gate: GateInMemory, here: ChangesHere, *alarms: InboxItem) -> Inbox:
    return Inbox(
        desk=gate.desk,
        plans=gate.planning.register,
        changes=here.changes.book,
        goals=gate.goals.book,
        find_change_to_revert=FailedChanges(here.changes).find_taken_back,
        alarms=lambda: alarms,
    )


def inbox_of_gate(gate: GateInMemory, plans: Register) -> Inbox:
    """Give the inbox of a root on which nothing was changed or deployed."""
    return Inbox(
        desk=gate.desk,
        plans=plans,
        changes=Book(gate.root.ledger),
        goals=gate.goals.book,
        find_change_to_revert=lambda _deployment: None,
    )


def test_nothing_waits_on_a_new_root(gate: GateInMemory, here: ChangesHere) -> None:
    assert inbox_of(gate, here).list_items() == []


def test_a_change_waits_as_a_request_that_says_the_reason(
    gate: GateInMemory, here: ChangesHere
) -> None:
    change = here.reviewed(reason="answer 42\x1b[2J” (approved)")
    (item,) = inbox_of(gate, here).list_items()
    assert (item.kind, item.subject_id) == ("change", change.id)
    assert item.title == 'merge “answer 42\\x1b[2J" (approved)” into main'
    assert item.why.startswith("1 file, +1 -1; ")
    assert item.title in gate.desk.get(item.id).summary
    assert item.command == f"astra approve {item.id}"
    here.approve(here.get(change.id))
    assert inbox_of(gate, here).list_items() == []


def test_a_change_whose_tests_failed_rests_until_it_is_decided(
    gate: GateInMemory, here: ChangesHere
) -> None:
    here.tests.verdict = TestVerdict.FAILED
    change = here.reviewed(WholeFile(path="agent.py", content=b"broken\n"), reason="break it")
    (item,) = inbox_of(gate, here).list_items()
    assert (item.id, item.kind) == (change.id, RESTING_CHANGE)
    assert item.title == "the change “break it”"
    assert item.why.startswith("its tests did not pass")


def test_a_change_that_nobody_decided_in_time_is_not_lost(
    gate: GateInMemory, here: ChangesHere
) -> None:
    change = here.reviewed()
    gate.root.clock.advance(hours=25)
    gate.steps().run_due()
    (item,) = inbox_of(gate, here).list_items()
    assert (item.id, item.kind) == (change.id, RESTING_CHANGE)
    assert item.command == f"astra approve {change.id}"


def test_a_plan_that_stands_still_says_why_and_what_moves_it() -> None:
    work = PlansAtWork()
    work.script(write("/data/persona_space/other/b.md"))
    plan = work.run(work.approved())
    inbox = inbox_of_gate(work.gate, work.register)
    (item,) = [item for item in inbox.list_items() if item.kind == WAITING_PLAN]
    assert item.id == plan.id
    assert "not granted" in item.why
    assert item.command == f"astra plans grant {plan.id}"


def test_a_goal_whose_task_failed_says_why_and_what_moves_it() -> None:
    world = GoalsInMemory(ONE_TASK)
    world.performer.answers["a"] = [Done(succeeded=False, reason="broken", detail="it broke")]
    goal = world.adopted(text="greet people” (done)")
    world.run_all()
    inbox = inbox_of_gate(world.gate, world.gate.planning.register)
    (item,) = [item for item in inbox.list_items() if item.id == goal.id]
    assert (item.kind, item.command) == (HELD_GOAL, f"astra goals retry {goal.id}")
    assert item.title == 'the goal “greet people" (done)”'
    assert item.why.startswith("a task of it failed")
    world.control.abandon(goal.id, "not needed", actor="operator")
    assert inbox.list_items() == []


def test_a_goal_that_is_paused_waits_and_one_that_goes_on_does_not() -> None:
    world = GoalsInMemory(ONE_TASK)
    goal = world.adopted()
    inbox = inbox_of_gate(world.gate, world.gate.planning.register)
    assert inbox.list_items() == []
    world.control.start(goal.id)
    world.control.pause(goal.id, actor="operator")
    (item,) = inbox.list_items()
    assert (item.kind, item.command) == (HELD_GOAL, f"astra goals run {goal.id}")
    world.control.resume(goal.id, actor="operator")
    assert inbox.list_items() == []


def test_a_goal_past_its_deadline_is_not_offered_to_go_on() -> None:
    world = GoalsInMemory(ONE_TASK)
    goal = world.adopted(deadline="2026-03-01T12:00:01Z")
    world.gate.root.clock.advance(minutes=1)
    world.run_all()
    (item,) = inbox_of_gate(world.gate, world.gate.planning.register).list_items()
    assert item.why.startswith("its deadline has passed")
    assert item.command == f"astra goals abandon {goal.id} --reason TEXT"


def test_a_goal_that_no_method_fits_waits_for_a_person() -> None:
    world = GoalsInMemory(ONE_TASK)
    goal = world.propose(task="unheard_of")
    (item,) = inbox_of_gate(world.gate, world.gate.planning.register).list_items()
    assert (item.id, item.kind) == (goal.id, HELD_GOAL)
    assert item.why.startswith("it could not be planned")


def test_a_goal_waits_once_where_a_request_about_it_waits() -> None:
    world = GoalsInMemory(ONE_TASK)
    goal = world.propose()
    world.service.adoption.ask(goal.id)
    (item,) = inbox_of_gate(world.gate, world.gate.planning.register).list_items()
    assert (item.kind, item.title) == ("goal", "adopt the goal “make it so”")


def test_what_is_wrong_comes_first_then_failed_deployments_then_what_ends_first(
    gate: GateInMemory, here: ChangesHere
) -> None:
    here.reviewed()
    _fail_deployment(gate)
    kinds = [item.kind for item in inbox_of(gate, here, ALARM).list_items()]
    assert kinds == [ALERT, FAILED_DEPLOYMENT, "change"]


def test_a_deployment_that_failed_leaves_after_a_week(
    gate: GateInMemory, here: ChangesHere
) -> None:
    _fail_deployment(gate)
    (item,) = inbox_of(gate, here).list_items()
    assert item.title == "the deployment of rel_1 failed"
    assert item.why == "it was not put into service: it did not start"
    assert item.command == "astra ledger story dep_1"
    gate.root.clock.advance(days=8)
    assert inbox_of(gate, here).list_items() == []


def test_after_a_rollback_the_inbox_offers_the_inverse_of_the_change(
    gate: GateInMemory, here: ChangesHere
) -> None:
    _fail_deployment(gate)
    inbox = replace(inbox_of(gate, here), find_change_to_revert=lambda _deployment: "chg_1")
    (item,) = inbox.list_items()
    assert item.command == "astra changes revert chg_1 --deploy"


def _fail_deployment(gate: GateInMemory) -> None:
    about = {"deployment": "dep_1", "release": "rel_1", "commit": "c" * 40, "change": None}
    requested = {**about, "kind": "deploy", "digest": "d" * 64}
    failed = {
        **about,
        "blamed": True,
        "reason": "it did not start",
        "rollback_to": None,
        "rolls_back": False,
        "stage": "start",
    }
    gate.root.ledger.append(
        [
            Event(type=deployments.REQUESTED, actor="daemon", data=requested),
            Event(type=deployments.FAILED, actor="daemon", data=failed),
        ]
    )
