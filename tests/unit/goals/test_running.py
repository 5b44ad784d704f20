"""Running a graph: in order, in parallel, retried, held, and never a task twice."""

import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from astra.goals import events
from astra.goals.adoption import fill_plan
from astra.goals.book import TaskRow
from astra.goals.method_files import combine, read_methods
from astra.goals.model import Goal, Usage
from astra.goals.ports import Done, TaskRun, Waiting
from astra.goals.running import GOALS_AT_ONCE, DueTask
from astra.goals.standing import Standings
from astra.trusted.kernel.errors import Conflict, Refused
from astra.trusted.ledger.record import Event
from goals_in_memory import STORY, GoalsInMemory, Scripted

CHAIN = """
[[methods]]
name = "chain"
task = "top"
subtasks = [
  { id = "a", task = "CHECK", arguments = { command = "a" } },
  { id = "b", task = "CHECK", after = ["a"], arguments = { command = "b", notes = "${a.notes}" } },
]
"""


WIDE = """
[[methods]]
name = "wide"
task = "top"
subtasks = [
  { id = "a", task = "CHECK", arguments = { command = "a" } },
  { id = "b", task = "CHECK", arguments = { command = "b" } },
  { id = "c", task = "CHECK", arguments = { command = "c" } },
  { id = "d", task = "CHECK", arguments = { command = "d" } },
]
"""


def diamond(left: str = "abort", attempts: int = 1) -> str:
    return f"""
[[methods]]
name = "diamond"
task = "top"
subtasks = [
  {{ id = "a", task = "CHECK", arguments = {{ command = "a" }} }},
  {{ id = "l", task = "CHECK", after = ["a"], on_failure = "{left}", attempts = {attempts},
     arguments = {{ command = "l" }} }},
  {{ id = "r", task = "CHECK", after = ["a"], arguments = {{ command = "r" }} }},
  {{ id = "z", task = "CHECK", after = ["l", "r"], arguments = {{ command = "z" }} }},
]
""".replace("\n     arguments", " arguments")


BROKEN = Done(succeeded=False, reason="broken", detail="it broke")
WAITS = Waiting(on="chg_00000001", why="for a decision")
UNDER_WAY = ("executing", "blocked")


def test_tasks_run_in_order_and_get_what_others_gave() -> None:
    world = GoalsInMemory(CHAIN)
    goal = world.adopted()
    world.run_all()
    assert world.states(goal) == {"a": "succeeded", "b": "succeeded"}
    assert world.performer.arguments["b"] == {"command": "b", "notes": "from a"}
    story = {record.correlation for record in world.gate.root.ledger.records_of(goal.id)}
    assert len(story) == 1


def test_without_success_criteria_the_operator_closes_it() -> None:
    world = GoalsInMemory(CHAIN)
    goal = world.adopted()
    world.run_all()
    assert (world.state(goal), world.book.get(goal.id).held) == ("blocked", "no_criteria")
    assert world.control.close(goal.id, actor="operator").state == "satisfied"


def test_satisfied_means_that_the_criteria_ran_and_held() -> None:
    world = GoalsInMemory(CHAIN)
    goal = world.adopted(criteria=[{"command": "make test"}])
    world.performer.answers = {"success criteria": [BROKEN]}
    world.run_all()
    assert world.book.get(goal.id).held == "criteria_failed"
    world.control.resume(goal.id, actor="operator")
    world.run_all()
    assert world.state(goal) == "satisfied"
    (record,) = world.gate.root.ledger.records(events.SATISFIED)
    assert record.data["checks"][0]["criterion"] == "command make test"


def test_independent_tasks_are_due_at_the_same_time() -> None:
    world = GoalsInMemory(diamond())
    world.adopted()
    for _ in range(2):
        for item in world.runner.list_due():
            world.runner.run(item)
    assert [item.action for item in world.runner.list_due()] == ["do", "do"]


def test_a_failure_holds_the_goal_until_it_is_retried_from_there() -> None:
    world = GoalsInMemory(diamond())
    goal = world.adopted()
    world.performer.answers = {"l": [BROKEN]}
    world.run_all()
    assert (world.state(goal), world.states(goal)["z"]) == ("blocked", "pending")
    assert "broken: it broke" in world.book.get(goal.id).why
    with pytest.raises(Conflict, match=r"a task of .* failed"):
        world.control.resume(goal.id, actor="operator")
    world.control.retry(goal.id, None, actor="operator")
    world.run_all()
    assert set(world.states(goal).values()) == {"succeeded"}
    assert world.performer.begun == {"a": 1, "l": 2, "r": 1, "z": 1}


def test_skip_leaves_out_what_depends_on_a_failure() -> None:
    world = GoalsInMemory(diamond("skip"))
    goal = world.adopted()
    world.performer.answers = {"l": [BROKEN]}
    world.run_all()
    assert world.states(goal) == {"a": "succeeded", "l": "failed", "r": "succeeded", "z": "skipped"}


def test_continue_if_any_goes_on_with_what_succeeded() -> None:
    world = GoalsInMemory(diamond("continue_if_any"))
    goal = world.adopted()
    world.performer.answers = {"l": [BROKEN]}
    world.run_all()
    assert world.states(goal)["z"] == "succeeded"


def test_a_task_is_retried_by_its_own_policy_after_a_pause() -> None:
    world = GoalsInMemory(diamond(attempts=2))
    goal = world.adopted()
    world.performer.answers = {"l": [Refused("no", next_step="wait")]}
    world.run_all()
    assert world.states(goal)["l"] == "pending"
    world.gate.root.clock.advance(seconds=11)
    world.run_all()
    assert set(world.states(goal).values()) == {"succeeded"}


def test_a_task_that_waits_blocks_its_goal_and_goes_on_when_that_came() -> None:
    world = GoalsInMemory(CHAIN)
    goal = world.adopted()
    world.performer.answers = {"a": [Waiting(on="chg_00000001", why="for a decision")]}
    world.run_all()
    assert (world.state(goal), world.states(goal)["a"]) == ("blocked", "waiting")
    world.performer.decided["chg_00000001"] = Done(outputs={"notes": "merged"})
    world.run_all()
    assert world.performer.arguments["b"] == {"command": "b", "notes": "merged"}


def test_a_paused_goal_begins_nothing_and_an_abandoned_one_never_does() -> None:
    world = GoalsInMemory(CHAIN)
    goal = world.adopted()
    (start,) = world.runner.list_due()
    world.runner.run(start)
    (first,) = world.runner.list_due()
    world.control.pause(goal.id, actor="operator")
    world.runner.run(first)
    assert world.runner.list_due() == []
    world.control.resume(goal.id, actor="operator")
    world.control.abandon(goal.id, "not wanted any more", actor="operator")
    world.runner.run(first)
    assert world.runner.list_due() == []
    assert not world.performer.begun


def test_no_task_of_an_abandoned_goal_stays_open() -> None:
    world = GoalsInMemory(diamond())
    world.performer.answers["l"] = [WAITS]
    goal = world.adopted()
    world.run_all()
    assert world.states(goal) == {
        "a": "succeeded",
        "l": "waiting",
        "r": "succeeded",
        "z": "pending",
    }
    world.control.abandon(goal.id, "not wanted any more", actor="operator")
    after = {"a": "succeeded", "l": "skipped", "r": "succeeded", "z": "skipped"}
    assert world.states(goal) == after
    left_out = [task for task in world.book.tasks(goal.id) if task.state == "skipped"]
    assert {(task.reason, task.waits_on) for task in left_out} == {("abandoned", "")}
    world.performer.decided[WAITS.on] = Done(outputs={"notes": "decided"})
    world.run_all()
    assert world.states(goal) == after


@pytest.mark.parametrize("outcome", [WAITS, BROKEN])
def test_a_task_that_ran_when_its_goal_was_abandoned_is_not_left_open(
    outcome: Done | Waiting,
) -> None:
    world = GoalsInMemory(diamond(attempts=3).replace('id = "a"', 'id = "a", attempts = 3'))
    goal = world.adopted()
    performer = AsTaskBegins()
    performer.act = lambda: world.control.abandon(goal.id, "enough", actor="operator")
    performer.answers["a"] = [outcome]
    world.performer = performer
    world.runner = world.new_runner()
    world.run_all()
    assert set(world.states(goal).values()) == {"skipped"}
    world.control.reopen(goal.id, actor="operator")
    performer.act = lambda: None
    world.adopt(world.book.get(goal.id))
    world.run_all()
    assert set(world.states(goal).values()) == {"succeeded"}


def test_a_goal_that_is_held_is_not_paused_over_the_reason() -> None:
    world = GoalsInMemory(diamond())
    goal = world.adopted()
    world.performer.answers = {"l": [BROKEN]}
    world.run_all()
    with pytest.raises(Conflict, match="is held already"):
        world.control.pause(goal.id, actor="operator")
    assert world.book.get(goal.id).held == "task_failed"


def test_a_budget_that_is_used_up_holds_the_goal() -> None:
    world = GoalsInMemory(CHAIN)
    goal = world.adopted(budget={"model_calls": 1})
    world.performer.answers = {"a": [Done(usage=Usage(model_calls=1, tokens=5))]}
    world.run_all()
    assert world.book.get(goal.id).held == "budget_spent"
    assert world.performer.begun == {"a": 1}
    for go_on in (world.control.resume, lambda *a, **k: world.control.retry(*a, None, **k)):
        with pytest.raises(Conflict, match="is used up") as refusal:
            go_on(goal.id, actor="operator")
        assert f"astra goals adopt {goal.id}" in refusal.value.next_step
    world.run_all()
    assert world.performer.begun == {"a": 1}


def test_a_signature_renews_a_budget_and_the_tasks_go_on_where_they_were() -> None:
    world = GoalsInMemory(CHAIN)
    goal = world.adopted(budget={"model_calls": 1})
    world.performer.answers = {"a": [Done(usage=Usage(model_calls=1))]}
    world.run_all()
    world.adopt(goal)
    assert world.book.get(goal.id).usage == Usage()
    world.run_all()
    assert world.performer.begun == {"a": 1, "b": 1}


def test_a_deadline_that_passed_holds_the_goal() -> None:
    world = GoalsInMemory(CHAIN)
    goal = world.adopted(deadline="2026-03-01T12:00:01Z")
    world.gate.root.clock.advance(minutes=1)
    world.run_all()
    assert world.book.get(goal.id).held == "deadline_passed"


def test_a_goal_past_its_deadline_does_not_go_on_and_says_what_to_do_instead() -> None:
    world = GoalsInMemory(CHAIN)
    goal = world.adopted(deadline="2026-03-01T12:00:01Z")
    world.gate.root.clock.advance(minutes=1)
    world.run_all()
    held = len(world.gate.root.ledger.records_of(goal.id, events.HELD))
    for go_on in (
        lambda: world.control.resume(goal.id, actor="operator"),
        lambda: world.control.retry(goal.id, None, actor="operator"),
    ):
        with pytest.raises(Conflict, match=r"its deadline was 2026-03-01 12:00:01Z$") as refused:
            go_on()
        assert refused.value.reason == "deadline_passed"
        assert refused.value.next_step.startswith(f"astra goals abandon {goal.id} ")
    world.run_all()
    assert len(world.gate.root.ledger.records_of(goal.id, events.HELD)) == held


def test_a_goal_that_is_reopened_and_fits_no_method_any_more_shows_no_tasks_of_before() -> None:
    world = GoalsInMemory(CHAIN)
    goal = world.adopted()
    world.control.abandon(goal.id, "later", actor="operator")
    world.gate.methods = combine(read_methods(CHAIN.replace('"top"', '"other"')))
    world.control.reopen(goal.id, actor="operator")
    world.service.adoption.plan(goal.id)
    shown = world.service.describe_goal(goal.id)
    assert (shown["state"], shown["tasks"]) == ("proposed", [])
    assert shown["why"] == "no method decomposes 'top'"


def test_a_goal_that_was_closed_says_nothing_more_of_what_held_it() -> None:
    world = GoalsInMemory(CHAIN)
    goal = world.adopted()
    world.run_all()
    assert world.book.get(goal.id).held == "no_criteria"
    world.control.close(goal.id, actor="operator")
    closed = world.book.get(goal.id)
    assert (closed.state, closed.held, closed.why) == ("satisfied", "", "")


def test_a_reopened_goal_is_planned_adopted_and_run_anew() -> None:
    world = GoalsInMemory(CHAIN)
    goal = world.adopted()
    world.run_all()
    world.control.close(goal.id, actor="operator")
    assert world.control.reopen(goal.id, actor="operator").state == "proposed"
    world.run_all()
    assert world.performer.begun == {"a": 1, "b": 1}
    world.adopt(goal)
    world.run_all()
    assert world.performer.begun == {"a": 2, "b": 2}


# Workers that go on by themselves


class AsTaskBegins(Scripted):
    """Lets a test act while a task is being done."""

    act: Callable[[], object] = bool

    def begin(self, run: TaskRun) -> Done | Waiting:
        outcome = super().begin(run)
        self.act()
        return outcome


def start_wide(performer: Scripted, **fields: object) -> tuple[GoalsInMemory, Goal]:
    world = GoalsInMemory(WIDE)
    world.performer = performer
    world.runner = world.new_runner()
    goal = world.adopted(**fields)
    world.runner.run(*world.runner.list_due())
    return world, goal


def test_a_worker_records_an_end_and_the_next_claim_in_one_batch() -> None:
    world, goal = start_wide(Scripted())
    world.runner.run_on(world.runner.list_due()[0])
    assert set(world.states(goal).values()) == {"succeeded"}
    ends = world.gate.root.ledger.records(events.TASK_FINISHED, limit=100)
    claims = world.gate.root.ledger.records(events.TASK_CLAIMED, limit=100)
    assert len(ends) == len(claims) == 4
    assert [end.batch for end in ends[:-1]] == [claim.batch for claim in claims[1:]]


def test_a_worker_begins_nothing_more_once_its_goal_is_paused() -> None:
    performer = AsTaskBegins()
    world, goal = start_wide(performer)
    performer.act = lambda: world.control.pause(goal.id, actor="operator")
    world.runner.run_on(world.runner.list_due()[0])
    assert sorted(world.states(goal).values()) == ["pending", "pending", "pending", "succeeded"]
    assert sum(performer.begun.values()) == 1


def test_a_worker_begins_nothing_more_once_work_is_stopped() -> None:
    performer = AsTaskBegins()
    world, goal = start_wide(performer)
    reasons = [""]
    world.runner.closed = lambda: reasons[-1]
    performer.act = lambda: reasons.append("stopped")
    item, *_ = world.runner.list_due()
    world.runner.run_on(item)
    assert sorted(world.states(goal).values()) == ["pending", "pending", "pending", "succeeded"]
    assert world.runner.list_due() == []


def test_the_time_of_a_task_counts_before_the_next_is_claimed() -> None:
    performer = Scripted()
    world, goal = start_wide(performer, budget={"minutes": 1})
    readings = iter([0.0, 0.0, 61.0])
    world.runner.seconds = lambda: next(readings, 0.1)
    world.runner.run_on(world.runner.list_due()[0])
    assert sum(performer.begun.values()) == 1
    assert world.book.get(goal.id).held == "budget_spent"


def test_workers_that_go_on_together_do_each_task_once() -> None:
    world, goal = start_wide(Scripted())
    items = world.runner.list_due()
    together = threading.Barrier(len(items))

    def run_item(item: DueTask) -> None:
        together.wait(60)
        world.runner.run_on(item)

    with ThreadPoolExecutor(len(items)) as pool:
        list(pool.map(run_item, items))
    world.run_all(go_on=True)
    assert set(world.states(goal).values()) == {"succeeded"}
    assert set(world.performer.begun.values()) == {1}


def test_goals_that_are_held_keep_no_other_from_beginning() -> None:
    world = GoalsInMemory(CHAIN)
    for number in range(GOALS_AT_ONCE):
        goal = world.adopted(text=f"goal {number}")
        world.run_all()
        assert world.book.get(goal.id).held == "no_criteria"
    late = world.adopted(text="one more")
    world.run_all()
    assert world.states(late) == {"a": "succeeded", "b": "succeeded"}


def test_a_graph_that_changed_after_its_signature_was_found_good_is_not_run() -> None:
    world, goal = start_wide(performer := AsTaskBegins())
    graph = world.book.graph(world.book.get(goal.id))
    forged = Event(
        type=events.PLANNED,
        **events.fill_goal_event(
            goal.id, fill_plan(replace(graph, task="other")), actor="agent", correlation=STORY
        ),
    )
    performer.act = lambda: world.gate.root.ledger.append([forged])
    world.runner.run_on(world.runner.list_due()[0])
    assert sum(performer.begun.values()) == 1
    world.run_all(go_on=True)
    assert sum(performer.begun.values()) == 1
    assert world.book.get(goal.id).held == "not_signed"


# Crashes


class Killed(BaseException):
    """Stands for kill -9: nothing catches it."""


class CrashingGraph(RuleBasedStateMachine):
    """A graph run by daemons that are killed before or after any record."""

    def __init__(self) -> None:
        super().__init__()
        self.world = GoalsInMemory(diamond("skip"))
        self.goal = self.world.adopted()
        self.ledger: Any = self.world.gate.root.ledger
        self.standings = Standings(self.ledger)
        self.appends_left = -1
        self.append = self.ledger.append
        self.ledger.append = self.append_or_die

    def append_or_die(self, batch: Any, **options: Any) -> Any:
        if self.appends_left == 0:
            raise Killed
        self.refuse_second_run(batch)
        records = self.append(batch, **options)
        self.appends_left -= 1
        if self.appends_left == 0 and self.after:
            raise Killed
        return records

    def refuse_second_run(self, batch: Any) -> None:
        """Whoever was cut off is begun again only where twice is the same as once."""
        for event in batch:
            if event.type == events.TASK_RETRIED and event.data["reason"] == "interrupted":
                assert self.world.performer.repeatable, "a task that may happen once runs twice"

    @rule(appends=st.integers(1, 6), after=st.booleans(), go_on=st.booleans())
    def run_and_be_killed(self, appends: int, after: bool, go_on: bool) -> None:
        self.after = after
        self.appends_left = appends
        try:
            self.world.run_all(go_on=go_on)
        except Killed:
            self.world.runner = self.world.new_runner()
        finally:
            self.appends_left = -1

    @rule(repeatable=st.booleans())
    def change_kind(self, repeatable: bool) -> None:
        self.world.performer.repeatable = repeatable

    @precondition(lambda self: self.world.book.get(self.goal.id).held == "task_failed")
    @rule()
    def retry(self) -> None:
        self.world.control.retry(self.goal.id, None, actor="operator")

    @rule(node=st.sampled_from("alrz"))
    def retry_from_a_task(self, node: str) -> None:
        tasks = {task.path.rpartition("/")[2]: task for task in self.tasks()}
        before = tasks[node].attempt
        with contextlib.suppress(Conflict):
            self.world.control.retry(self.goal.id, tasks[node].id, actor="operator")
            task = self.world.book.task(self.goal.id, tasks[node].id)
            assert task is not None
            assert task.attempt > before or tasks[node].state in {"running", "waiting"}

    @rule(node=st.sampled_from("alr"), how=st.sampled_from([BROKEN, WAITS]))
    def let_a_task_fail_or_wait(self, node: str, how: Done | Waiting) -> None:
        self.world.performer.answers.setdefault(node, []).append(how)

    @rule()
    def let_what_is_waited_for_come(self) -> None:
        self.world.performer.decided[WAITS.on] = Done(outputs={"notes": "decided"})

    @precondition(lambda self: self.is_going())
    @rule()
    def pause_and_run_nothing(self) -> None:
        self.world.control.pause(self.goal.id, actor="operator")
        begun = Counter(self.world.performer.begun)
        self.world.run_all(go_on=True)
        assert self.world.performer.begun == begun
        if self.world.book.get(self.goal.id).held == "paused":  # no task was found cut off
            self.world.control.resume(self.goal.id, actor="operator")

    @precondition(lambda self: self.world.book.get(self.goal.id).state in UNDER_WAY)
    @rule()
    def cancel_and_begin_anew(self) -> None:
        """An abandoned goal runs nothing; reopened, it takes a new signature and a new graph."""
        self.world.control.abandon(self.goal.id, "not now", actor="operator")
        begun = Counter(self.world.performer.begun)
        self.world.run_all()
        assert self.world.performer.begun == begun
        self.world.control.reopen(self.goal.id, actor="operator")
        self.world.run_all()
        assert self.world.performer.begun == begun
        self.world.adopt(self.goal)

    def is_going(self) -> bool:
        goal = self.world.book.get(self.goal.id)
        return goal.state in UNDER_WAY and not goal.held

    def tasks(self) -> list[TaskRow]:
        return self.world.book.tasks(self.goal.id)

    @invariant()
    def no_attempt_ran_twice(self) -> None:
        claims = self.ledger.records(events.TASK_CLAIMED, limit=10_000)
        attempts = [r.key for r in claims]
        assert len(attempts) == len(set(attempts))
        assert sum(self.world.performer.begun.values()) <= len(attempts)

    @invariant()
    def a_claim_reads_the_goal_as_the_book_has_it(self) -> None:
        standing = self.standings.read(self.goal.id)
        assert standing is not None
        assert standing.goal == self.world.book.get(self.goal.id)
        assert standing.version == self.ledger.version(self.goal.id)

    def teardown(self) -> None:
        """Whatever happened, a daemon that is left alone brings every task to an end."""
        self.world.runner = self.world.new_runner()
        self.world.performer.decided[WAITS.on] = Done(outputs={"notes": "decided"})
        self.world.performer.answers.clear()
        self.world.run_all()
        while self.world.book.get(self.goal.id).held == "task_failed":
            self.world.control.retry(self.goal.id, None, actor="operator")
            self.world.run_all()
        open_tasks = {"pending", "running", "waiting"}
        assert not open_tasks & set(self.world.states(self.goal).values())
        for task in self.world.book.tasks(self.goal.id):
            assert json.loads(task.outputs) or task.state != "succeeded"


TestCrashingGraph = CrashingGraph.TestCase
TestCrashingGraph.settings = settings(max_examples=25, stateful_step_count=8)


def test_what_a_dead_daemon_left_is_found_again_where_it_can_be() -> None:
    world = GoalsInMemory(CHAIN)
    goal = world.adopted()
    world.performer.answers = {"a": [Waiting(on="chg_00000001", why="x")]}
    ledger: Any = world.gate.root.ledger
    append = ledger.append

    def die_at_the_wait(batch: Any, **options: Any) -> Any:
        if batch[0].type == events.TASK_WAITED:
            raise Killed
        return append(batch, **options)

    ledger.append = die_at_the_wait
    with pytest.raises(Killed):
        world.run_all()
    ledger.append = append
    world.runner = world.new_runner()
    world.performer.found = {"a": Waiting(on="chg_00000001", why="x")}
    world.run_all()
    assert world.states(goal)["a"] == "waiting"
    assert world.performer.begun == {"a": 1}


@pytest.mark.parametrize(
    ("stop", "repeatable", "state", "held"),
    [
        ("pause", True, "pending", "paused"),
        ("pause", False, "failed", "task_failed"),
        ("abandon", True, "failed", ""),
    ],
)
def test_what_a_dead_daemon_left_running_in_a_goal_that_stands_still_is_not_shown_as_running(
    stop: str, repeatable: bool, state: str, held: str
) -> None:
    world = GoalsInMemory(CHAIN)
    world.performer.repeatable = repeatable
    goal = world.adopted()
    ledger: Any = world.gate.root.ledger
    append = ledger.append

    def die_at_the_end(batch: Any, **options: Any) -> Any:
        if batch[0].type == events.TASK_FINISHED:
            raise Killed
        return append(batch, **options)

    ledger.append = die_at_the_end
    with pytest.raises(Killed):
        world.run_all()
    ledger.append = append
    if stop == "pause":
        world.control.pause(goal.id, actor="operator")
    else:
        world.control.abandon(goal.id, "enough", actor="operator")
    world.runner = world.new_runner()
    world.run_all()
    assert world.states(goal)["a"] == state
    assert world.book.get(goal.id).held == held
    assert world.performer.begun == {"a": 1}


# Budgets of model calls


def test_calls_of_a_model_count_when_a_task_begins_also_where_it_fails() -> None:
    world = GoalsInMemory(diamond(attempts=3))
    world.performer.model_calls = 1
    world.performer.answers = {"l": [BROKEN, BROKEN, BROKEN]}
    goal = world.adopted(budget={"model_calls": 3})
    world.run_all()
    world.gate.root.clock.advance(minutes=5)
    world.run_all()
    assert world.performer.begun == {"a": 1, "l": 1, "r": 1}
    assert world.book.get(goal.id).usage.model_calls == 3
    assert world.book.get(goal.id).held == "budget_spent"


def test_tasks_that_begin_at_the_same_time_do_not_overshoot_the_budget_of_calls() -> None:
    world = GoalsInMemory(WIDE)
    goal = world.adopted(budget={"model_calls": 2})
    world.performer.model_calls = 1
    (start,) = world.runner.list_due()
    world.runner.run(start)
    items = world.runner.list_due()
    assert len(items) == 4
    together = threading.Barrier(len(items))

    def run_item(item: DueTask) -> None:
        together.wait(60)
        world.runner.run(item)

    with ThreadPoolExecutor(len(items)) as pool:
        list(pool.map(run_item, items))
    assert sum(world.performer.begun.values()) == 2
    assert world.book.get(goal.id).usage.model_calls == 2
    assert world.book.get(goal.id).held == "budget_spent"
