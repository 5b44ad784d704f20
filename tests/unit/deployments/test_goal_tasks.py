"""A goal's DEPLOY task after a crash: it waits for what was asked for, or asks, and is not lost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import pytest

from astra.deployments.for_goals import DeployTask
from astra.goals.ports import Done, TaskRun, Waiting
from astra.trusted.changes.views import Book
from astra.trusted.kernel.errors import NeedsApproval
from astra.trusted.ledger.record import Event
from deployment_world import World
from goals_in_memory import STORY, GoalsInMemory
from holding import SILENT

CHANGE, APPROVAL = "chg_0000000000000001", "apr_00000001"
METHOD = """
[[methods]]
name = "one"
task = "top"
subtasks = [{ id = "out", task = "DEPLOY", arguments = { change = "${text}" } }]
"""


@dataclass
class CountingDoor:
    """A door at which every deployment waits for an approval."""

    calls: int = 0

    def call(self, _run: TaskRun, _tool: str, _arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        self.calls += 1
        raise NeedsApproval("it waits", next_step="wait", approval_id=APPROVAL)


@pytest.fixture
def world() -> World:
    world = World()
    facts = {
        "base": "b",
        "commit": "a" * 40,
        "branch": "x",
        "target_branch": "trunk",
        "files": [],
        "tests": [],
        "diff": {},
    }
    data = {"facts": facts, "about": {"goal": ""}, "task": "tsk_1"}
    event = Event(
        type="code_modification_scheduled",
        actor="daemon",
        data=data,
        subject=CHANGE,
        correlation=STORY,
    )
    world.root.ledger.append([event])
    return world


def make_task(world: World) -> tuple[DeployTask, CountingDoor, TaskRun]:
    goals, door = GoalsInMemory(METHOD), CountingDoor()
    goal = goals.propose()
    run = TaskRun(goal=goal, node=goals.book.graph(goal).nodes[0], arguments={"change": CHANGE})
    ledger = world.root.ledger
    task = DeployTask(ledger=ledger, book=Book(ledger), desk=cast("Any", None), door=door)
    return task, door, run


def test_a_crash_before_the_deployment_was_asked_for_asks_once_it_is_recovered(
    world: World,
) -> None:
    task, door, run = make_task(world)
    outcome = task.recover(run)
    assert isinstance(outcome, Waiting)
    assert (outcome.on, door.calls) == (APPROVAL, 1)


def test_a_crash_behind_the_request_waits_for_it_and_asks_for_no_second(world: World) -> None:
    deployment = world.request("a")
    task, door, run = make_task(world)
    outcome = task.recover(run)
    assert isinstance(outcome, Waiting)
    assert (outcome.on, door.calls) == (CHANGE, 0)
    assert task.look(run, CHANGE) is None, "it is under way"
    world.holder.behaviours[deployment.release] = SILENT
    assert world.finish(deployment.id).state == "failed"
    ended = task.look(run, CHANGE)
    assert isinstance(ended, Done)
    assert (ended.succeeded, ended.reason) == (False, "not_deployed")
    assert ended.detail.startswith(f"{deployment.id} is failed: "), "and says why"
