"""Claiming a task of a goal for this process: by one record that can be appended once.

The claim expects the goal as it was read, so a pause or an abandonment that came first wins. It
needs the graph to be the one that was signed, and counts the calls of a model that the attempt may
make. Claims that count such calls are made one at a time, so tasks that run in parallel do not
overshoot the budget of calls; the others share the ledger's syncs. A worker that goes on to another
task of the goal records the end of the one before in the same batch.
"""

import contextlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from astra.goals import events
from astra.goals.book import Goals, TaskRow
from astra.goals.endings import TaskEndings, identify
from astra.goals.events import TaskIdentity
from astra.goals.graph import Graph, Node
from astra.goals.kinds import Kind
from astra.goals.limits import Limits
from astra.goals.methods import CONTINUE
from astra.goals.model import Goal
from astra.goals.ports import Performer
from astra.goals.ready import ReadyTask, ReadyTasks
from astra.goals.standing import Standing, Standings
from astra.goals.states import State, TaskState
from astra.trusted.kernel.errors import DuplicateKey, StaleVersion
from astra.trusted.ledger.record import Event


@dataclass(frozen=True)
class Claim:
    goal: Goal
    node: Node
    task: TaskRow

    @cached_property
    def identity(self) -> TaskIdentity:
        return identify(self.goal, self.task)


@dataclass(frozen=True)
class EndedTask:
    """How a task of the same worker ended: its record, still to be appended, and its time."""

    event: Event
    milliseconds: float


@dataclass(kw_only=True)
class Claims:
    goals: Goals
    performers: Mapping[Kind, Performer]
    endings: TaskEndings
    limits: Limits
    ready: ReadyTasks
    standings: Standings
    held: dict[TaskIdentity, threading.Event] = field(
        default_factory=dict[TaskIdentity, threading.Event]
    )
    """What this process runs, with the wish that it end."""
    _counting: threading.Lock = field(default_factory=threading.Lock)
    """Held from reading what a goal has used up until a claim counted on it."""

    def claim(self, task: TaskRow) -> Claim | None:
        """Claim a task for this process; gives nothing where it may not begin."""
        if task.state != TaskState.PENDING or task.unmet:
            return None
        return self._claim_in_turn(ReadyTask(row=task, after_failure=True), None, None)

    def claim_ready(self, goal: str, ended: EndedTask | None = None) -> Claim | None:
        """Claim a task of a goal that is ready and in nobody's hand here.

        With it, in one batch, goes the end of the task that this worker did before; where nothing
        is claimed, that end was not recorded either.
        """
        standing = self.standings.read(goal)
        if standing is None or not may_begin(standing.goal):
            return None
        ready = self.ready.take(goal, standing.version)
        if ready is None:
            return None
        claim = None
        try:
            claim = self._claim_in_turn(ready, standing, ended)
        finally:
            if claim is None:
                self.ready.put_back(ready.row)
        return claim

    def release(self, claim: Claim) -> None:
        self.held.pop(claim.identity, None)
        self.ready.put_back(claim.task)

    def end_goal(self, identifier: str) -> None:
        """Ask every task of a goal that runs here to end."""
        for identity, wish in list(self.held.items()):
            if identity.goal == identifier:
                wish.set()

    def _claim_in_turn(
        self, ready: ReadyTask, standing: Standing | None, ended: EndedTask | None
    ) -> Claim | None:
        """Claim a task; one that counts calls of a model when no other does so, on fresh counts."""
        calls = self.performers[Kind(ready.row.kind)].model_calls
        if not calls and standing:
            return self._claim_task(ready, standing, calls, ended)
        with self._counting if calls else contextlib.nullcontext():
            standing = self.standings.read(ready.row.goal)
            return self._claim_task(ready, standing, calls, ended) if standing else None

    def _claim_task(
        self, ready: ReadyTask, standing: Standing, calls: int, ended: EndedTask | None
    ) -> Claim | None:
        goal, task = standing.goal, ready.row
        if not may_begin(goal):
            return None
        graph = self.goals.graph(goal)
        node = graph.node(task.id)
        if node is None or str(node.kind) != task.kind:
            return None
        if ready.after_failure and self._is_shut_out(goal, graph, node):
            self.endings.record_skip(goal, node, task)
            return None
        if self.limits.hold_unsigned(goal, standing.version):
            return None
        if self.limits.hold_over_limit(goal, uncounted=ended.milliseconds if ended else 0.0):
            return None
        claim = Claim(goal, node, replace(task, attempt=task.attempt + 1))
        return claim if self._append_claim(claim, standing.version, calls, ended) else None

    def _append_claim(
        self, claim: Claim, version: int, calls: int, ended: EndedTask | None
    ) -> bool:
        """Record a claim, with the calls of a model that it counts; tell whether it was first."""
        identity, wish = claim.identity, threading.Event()
        if self.held.setdefault(identity, wish) is not wish:
            return False
        kind, story = str(claim.node.kind), claim.goal.correlation
        fields = events.fill_task_event(
            identity, story, events.CLAIMED, kind=kind, model_calls=calls
        )
        event = Event(type=events.TASK_CLAIMED, **fields)
        batch = [ended.event, event] if ended else [event]
        try:
            self.goals.ledger.append(batch, expect={claim.goal.id: version})
        except BaseException as error:
            self.held.pop(identity, None)
            if isinstance(error, StaleVersion | DuplicateKey):
                return False
            raise
        return True

    def _is_shut_out(self, goal: Goal, graph: Graph, node: Node) -> bool:
        """Tell whether those before a task ended so that it does not run."""
        earlier = [(graph.node(step), self.goals.task(goal.id, step)) for step in node.after]
        succeeded = [task is not None and task.state == TaskState.SUCCEEDED for _, task in earlier]
        if not earlier or all(succeeded):
            return False
        tolerated = all(
            well or (before is not None and before.on_failure == CONTINUE)
            for (before, _), well in zip(earlier, succeeded, strict=True)
        )
        return not (tolerated and any(succeeded))


def may_begin(goal: Goal) -> bool:
    """Tell whether tasks of a goal may begin; that another task waits keeps none from it."""
    return goal.state in {State.EXECUTING, State.BLOCKED} and not goal.held
