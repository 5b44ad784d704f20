"""Running the graph of a goal: a task is claimed by a record, done, and its end recorded, once.

- A task is ready when those before it are over and let it run (`on_failure`). It belongs to who
  appends its claim (`claiming`). Tokens and minutes are known only when an attempt ends.
- What a dead daemon left running is recovered where its effect can be found, begun again where
  doing it twice is the same as once, and otherwise ends as `interrupted`: never twice, never lost.
- A goal is satisfied when its success criteria ran and held, not when its tasks ended.
"""

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from astra.goals import events
from astra.goals.adoption import NOTHING, Adoption
from astra.goals.book import Goals, TaskRow
from astra.goals.claiming import Claim, Claims, EndedTask, may_begin
from astra.goals.control import BUDGET_SPENT, OVER_CAP, Control
from astra.goals.criteria import describe_check, make_check_node
from astra.goals.due_tasks import DueTask, DueTasks
from astra.goals.endings import INTERRUPTED, TaskEndings, identify
from astra.goals.graph import Node, bind_arguments
from astra.goals.kinds import Kind
from astra.goals.limits import Limits
from astra.goals.model import Goal
from astra.goals.outcomes import needs_signals
from astra.goals.ports import Done, Performer, TaskRun
from astra.goals.ready import ReadyTasks
from astra.goals.standing import Standings
from astra.goals.states import State, TaskState
from astra.operations.signals import ReadValues
from astra.spend.book import GOAL_SPENT
from astra.spend.model import SpendRefused, SpendRoom, UnlimitedRoom
from astra.trusted.kernel import cancellation
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import (
    AstraError,
    Conflict,
    LedgerError,
)

GOALS_AT_ONCE, MOST_CRASHES = 16, 3
LONGEST_TURN = 0.5
"""For how many seconds a worker goes on by itself before it asks what is due."""


@dataclass(frozen=True, kw_only=True)
class _OverCap(Done):
    """An attempt that a cap on spending stopped before it asked a model."""


@dataclass(kw_only=True)
class TaskRunner:
    goals: Goals
    clock: Clock
    adoption: Adoption
    control: Control
    performers: Mapping[Kind, Performer]
    closed: Callable[[], str] = str
    seconds: Callable[[], float] = time.perf_counter
    room: SpendRoom = field(default_factory=UnlimitedRoom)
    read_signals: ReadValues = dict[str, float | None]
    """Read when a goal begins that is to move one of them."""

    def __post_init__(self) -> None:
        self._endings = TaskEndings(self.goals, self.clock)
        self._limits = Limits(adoption=self.adoption, control=self.control, clock=self.clock)
        self._under_way: frozenset[str] = frozenset()
        self._claims = Claims(
            goals=self.goals,
            performers=self.performers,
            endings=self._endings,
            limits=self._limits,
            ready=ReadyTasks(goals=self.goals, clock=self.clock),
            standings=Standings(self.goals.ledger),
        )
        self._due = DueTasks(
            goals=self.goals, clock=self.clock, is_held=self._claims.held.__contains__
        )

    # What is due

    def list_due(self) -> list[DueTask]:
        """Give what there is to do now, for every goal that is under way."""
        if self.closed():
            return []
        room = GOALS_AT_ONCE - self.goals.count_under_way()
        adopted = self.goals.in_state(State.ADOPTED, limit=room) if room > 0 else []
        starts = [DueTask(action="start", goal=goal.id) for goal in adopted]
        under_way = self.goals.in_state(State.EXECUTING, limit=GOALS_AT_ONCE)
        self._under_way = frozenset(goal.id for goal in under_way)
        capped_goals = self.goals.list_over_cap(limit=GOALS_AT_ONCE)
        resumes = [
            DueTask(action="resume", goal=goal.id)
            for goal in capped_goals
            if not self.room.waits(goal.id)
        ]
        spent_goals = [goal for goal in under_way if self._has_spent_money(goal)]
        holds = [DueTask(action="hold", goal=goal.id) for goal in spent_goals]
        going_on = [goal for goal in under_way if goal not in spent_goals]
        return [*starts, *resumes, *holds, *self._due.list_of(going_on), *self._due.list_left()]

    def run(self, item: DueTask) -> None:
        """Do one thing that was due; whoever comes second finds nothing to do."""
        if item.action == "start":
            self._start_goal(self.goals.get(item.goal))
        elif item.action == "resume":
            self._resume_goal(self.goals.get(item.goal))
        elif item.action == "hold":
            self._hold_spent(self.goals.get(item.goal))
        elif item.action == "conclude":
            self._conclude(self.goals.get(item.goal))
        elif task := self.goals.task(item.goal, item.node):
            _ACTIONS[item.action](self, task)

    def run_on(self, item: DueTask) -> None:
        """Do what is ready in the goal of something that is due, for a moment.

        A worker claims each task as it comes to it and no sooner: what a crash leaves claimed was
        begun. Other things that are due are done alone.
        """
        if item.action != "do":
            self.run(item)
        if item.action not in {"do", "start"} or self.closed():
            return
        until = self.seconds() + LONGEST_TURN
        claim = self._claims.claim_ready(item.goal)
        while claim:
            claim = self._do_and_go_on(claim, until)

    def end(self, item: DueTask) -> None:
        """Ask the tasks that run to end, because their goal was given up."""
        is_under_way = item.goal in self._under_way
        if not is_under_way and self.goals.get(item.goal).state == State.ABANDONED:
            self._claims.end_goal(item.goal)

    # Tasks

    def do_task(self, task: TaskRow) -> bool:
        """Claim a task that is ready and do it; tell whether it was this process's to do."""
        claim = self._claims.claim(task)
        if claim is None:
            return False
        try:
            self._record_outcome(claim, *self._perform(claim))
        finally:
            self._claims.release(claim)
        return True

    def _do_and_go_on(self, claim: Claim, until: float) -> Claim | None:
        """Do a task that was claimed; gives the claim of the next one of its goal."""
        next_claim = None
        try:
            outcome, milliseconds = self._perform(claim)
            may_go_on = self.seconds() < until and not self.closed()
            if may_go_on and _is_plain_success(outcome):
                event = self._endings.build_success(
                    claim.goal, claim.node, claim.task, outcome, milliseconds
                )
                ended = EndedTask(event, milliseconds)
                next_claim = self._claims.claim_ready(claim.goal.id, ended)
            if next_claim is None:
                self._record_outcome(claim, outcome, milliseconds)
        finally:
            self._claims.release(claim)
        if next_claim is None and may_go_on:
            return self._claims.claim_ready(claim.goal.id)
        return next_claim

    def _perform(self, claim: Claim) -> tuple[Any, float]:
        """Do a task that was claimed; gives how that went, and its milliseconds."""
        began = self.seconds()
        with cancellation.watch_cancellation(self._claims.held[claim.identity].is_set):
            begin = self.performers[claim.node.kind].begin
            outcome = self._attempt(begin, claim.goal, claim.node)
        return outcome, (self.seconds() - began) * 1000

    def _record_outcome(self, claim: Claim, outcome: Any, milliseconds: float) -> None:
        """Record how an attempt ended; where a cap stopped it, its goal is held meanwhile."""
        goal, node, task = claim.goal, claim.node, claim.task
        if not isinstance(outcome, _OverCap):
            self._endings.record(goal, node, task, outcome, milliseconds)
            return
        self._hold_over_cap(goal, outcome)
        self._endings.record_retry(
            goal, node, task, outcome, pause=timedelta(), milliseconds=milliseconds
        )

    def look_at_task(self, task: TaskRow) -> None:
        """See whether what a task waits for has come."""
        goal = self.goals.get(task.goal)
        node = self.goals.graph(goal).node(task.id)
        if node is None or task.state != TaskState.WAITING:
            return
        performer = self.performers[node.kind]
        outcome = self._attempt(lambda run: performer.look(run, task.waits_on), goal, node)
        if isinstance(outcome, _OverCap):
            self._hold_over_cap(goal, outcome)
        elif outcome is not None:
            self._endings.record(goal, node, task, outcome, 0.0)

    def settle_task(self, task: TaskRow) -> None:
        """Go on with a task that a dead daemon left."""
        goal = self.goals.get(task.goal)
        node = self.goals.graph(goal).node(task.id)
        if (
            node is None
            or task.state != TaskState.RUNNING
            or identify(goal, task) in self._claims.held
        ):
            return
        performer = self.performers[node.kind]
        is_given_up = goal.state == State.ABANDONED
        outcome = None if is_given_up else self._attempt(performer.recover, goal, node)
        if is_given_up:
            outcome = replace(INTERRUPTED, final=True)
        elif outcome is None:
            outcome = INTERRUPTED
            if performer.is_repeatable(node) and task.tries < node.attempts + MOST_CRASHES:
                self._endings.record_retry(goal, node, task, outcome, pause=timedelta())
                return
            outcome = replace(outcome, final=True)
        self._endings.record(goal, node, task, outcome, 0.0)

    def _attempt(self, act: Callable[[TaskRun], Any], goal: Goal, node: Node) -> Any:
        """Do a part of a task; whatever goes wrong is how it ended."""
        try:
            return act(TaskRun(goal=goal, node=node, arguments=self._bind(goal, node)))
        except LedgerError:
            raise
        except SpendRefused as error:
            detail = f"{error.detail}; {error.next_step}"
            return _OverCap(succeeded=False, reason=error.reason, detail=detail)
        except AstraError as error:
            return Done(succeeded=False, reason=error.reason, detail=error.detail)
        except Exception as error:  # noqa: BLE001 - a task's own fault must not end the lane
            return Done(
                succeeded=False, reason="failed", detail=f"unexpected: {type(error).__name__}"
            )

    def _bind(self, goal: Goal, node: Node) -> dict[str, Any]:
        outputs: dict[tuple[str, str], Any] = {}
        for giver in {giver for giver, _ in node.needs()}:
            task = self.goals.task(goal.id, giver)
            task_outputs: dict[str, Any] = json.loads(task.outputs) if task else {}
            outputs |= {(giver, name): value for name, value in task_outputs.items()}
        return bind_arguments(node, outputs)

    # The goal as a whole

    def _start_goal(self, goal: Goal) -> None:
        if goal.state == State.ADOPTED:
            self.adoption.check_signed(goal)
            measures = needs_signals(goal, self.goals.graph(goal))
            self.control.start(goal.id, self.read_signals() if measures else None)

    def _conclude(self, goal: Goal) -> None:
        self._limits.conclude(goal, lambda criterion: self._check_criterion(goal, criterion))

    def _hold_over_cap(self, goal: Goal, outcome: _OverCap) -> None:
        reason = BUDGET_SPENT if outcome.reason == GOAL_SPENT else OVER_CAP
        with contextlib.suppress(Conflict):  # another task held it, or somebody gave it up
            self.control.hold(goal.id, reason, outcome.detail, actor=events.DAEMON)

    def _hold_spent(self, goal: Goal) -> None:
        """Hold a goal that used its money up where its tasks did not: in a plan, in research."""
        if may_begin(goal) and self._has_spent_money(goal):
            detail = f"its budget of {goal.budget.money} has no room for the next call of a model"
            with contextlib.suppress(Conflict):  # as above
                self.control.hold(goal.id, BUDGET_SPENT, detail, actor=events.DAEMON)

    def _has_spent_money(self, goal: Goal) -> bool:
        return bool(goal.budget.money) and self.room.lacks_money(goal.id)

    def _resume_goal(self, goal: Goal) -> None:
        """Let a goal go on that a cap on spending held, now that there is room again."""
        if goal.held == OVER_CAP and not self.room.waits(goal.id):
            self.control.resume(goal.id, actor=events.DAEMON)

    def _check_criterion(self, goal: Goal, criterion: Mapping[str, str]) -> dict[str, Any]:
        node = make_check_node(goal, criterion)
        outcome = self._attempt(self.performers[Kind.CHECK].begin, goal, node)
        return describe_check(criterion, outcome)


def _is_plain_success(outcome: Any) -> bool:
    """Tell whether a task succeeded and used up nothing but time."""
    return isinstance(outcome, Done) and outcome.succeeded and outcome.usage == NOTHING


_ACTIONS: Mapping[str, Callable[[TaskRunner, TaskRow], object]] = {
    "do": TaskRunner.do_task,
    "look": TaskRunner.look_at_task,
    "settle": TaskRunner.settle_task,
}
