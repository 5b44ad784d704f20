"""What people and the server do to a goal as a whole: hold, resume, retry, close, abandon, reopen.

Each is one record on the goal, refused when the goal moved since it was read, and only where the
table of `states` lets it happen.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from astra.desires import views as desires
from astra.desires.model import FULFILLED, GIVEN_UP
from astra.goals import events
from astra.goals.book import Goals
from astra.goals.graph import Graph
from astra.goals.model import Goal
from astra.goals.states import TASK_ENDED, State, TaskState, refuse_unless_legal
from astra.operations.signals import Values
from astra.trusted.approvals.desk import Desk
from astra.trusted.kernel.errors import BadInput, Conflict, NotFound, StaleVersion
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.record import Event

PAUSED, BUDGET_SPENT, TASK_FAILED = "paused", "budget_spent", "task_failed"
DEADLINE_PASSED, UNCHECKED, CRITERIA_FAILED = "deadline_passed", "no_criteria", "criteria_failed"
NOT_SIGNED, OVER_CAP = "not_signed", "over_cap"
LONGEST_REASON = 1_000
_TRIES = 20
_ENDS_DESIRE = {events.SATISFIED: FULFILLED, events.ABANDONED: GIVEN_UP, events.REOPENED: ""}
_AT_WORK = (TaskState.RUNNING, TaskState.WAITING)


@dataclass(frozen=True, kw_only=True)
class Control:
    goals: Goals
    desk: Desk

    def start(self, identifier: str, signals: Values | None = None) -> None:
        """Let an adopted goal begin; what its criteria compare with later is in that record."""
        data = {"signals": dict(signals)} if signals else {}
        self._move(identifier, events.STARTED, lambda _goal: data, actor=events.DAEMON)

    def hold(
        self,
        identifier: str,
        reason: str,
        detail: str,
        *,
        actor: str,
        checks: Sequence[Mapping[str, Any]] = (),
    ) -> Goal:
        data: dict[str, Any] = {"reason": reason, "detail": one_line(detail, LONGEST_REASON)}
        if checks:
            data["checks"] = [dict(check) for check in checks]
        return self._move(identifier, events.HELD, lambda _goal: data, actor=actor)

    def pause(self, identifier: str, *, actor: str) -> Goal:
        """Let nothing of a goal begin; what runs comes to its end. What holds it already stays."""

        def decide(goal: Goal) -> dict[str, Any]:
            if goal.held:
                raise Conflict(
                    f"{goal.id} is held already: {goal.why or goal.held}",
                    code="already_held",
                    next_step=f"astra goals show {goal.id}",
                )
            return {"reason": PAUSED, "detail": f"by {actor}"}

        return self._move(identifier, events.HELD, decide, actor=actor)

    def resume(self, identifier: str, *, actor: str) -> Goal:
        """Let a goal go on; one that used its budget up takes a signature (`adoption`)."""

        def decide(goal: Goal) -> dict[str, Any]:
            self._refuse_over_limit(goal)
            if goal.held == TASK_FAILED:
                raise Conflict(
                    f"a task of {goal.id} failed: {goal.why}",
                    code="task_failed",
                    next_step=f"astra goals retry {goal.id}",
                )
            return {"after": goal.held}

        return self._move(identifier, events.RESUMED, decide, actor=actor)

    def retry(self, identifier: str, node: str | None, *, actor: str) -> Goal:
        """Begin a task and all behind it anew; without one, those that failed."""

        def decide(goal: Goal) -> dict[str, Any]:
            self._refuse_over_limit(goal)
            graph = self.goals.graph(goal)
            states = {task.id: task.state for task in self.goals.tasks(goal.id)}
            behind = _find_behind(graph, self._pick(goal, node))
            nodes = [task for task in behind if states[task] not in _AT_WORK]
            if not any(states[task] in TASK_ENDED for task in nodes):
                raise Conflict(
                    f"nothing of {goal.id} has ended that could be tried again",
                    code="nothing_to_retry",
                    next_step=f"astra goals show {goal.id}",
                )
            return {"nodes": nodes}

        return self._move(identifier, events.RETRIED, decide, actor=actor)

    def close(self, identifier: str, *, actor: str) -> Goal:
        """Call a goal satisfied, by a person's own judgement."""

        def decide(goal: Goal) -> dict[str, Any]:
            if open_tasks := [t for t in self.goals.tasks(goal.id) if t.state not in TASK_ENDED]:
                raise Conflict(
                    f"{len(open_tasks)} tasks of {goal.id} are not over",
                    code="tasks_open",
                    next_step=f"wait for them, or: astra goals abandon {goal.id}",
                )
            return {"by": actor, "checks": []}

        return self._move(identifier, events.SATISFIED, decide, actor=actor)

    def satisfy(self, identifier: str, checks: Sequence[Mapping[str, Any]]) -> Goal:
        """Record that the success criteria of a goal ran and held."""
        data = {"by": events.DAEMON, "checks": [dict(check) for check in checks]}
        return self._move(identifier, events.SATISFIED, lambda _goal: data, actor=events.DAEMON)

    def abandon(self, identifier: str, reason: str, *, actor: str) -> Goal:
        """Give a goal up: nothing of it begins any more, and what waits for a yes is withdrawn."""
        clean_reason = reason.strip()
        if not 1 <= len(clean_reason) <= LONGEST_REASON:
            raise BadInput(
                f"say why, in 1 to {LONGEST_REASON} characters", next_step="--reason TEXT"
            )
        data = {"reason": clean_reason}
        goal = self._move(identifier, events.ABANDONED, lambda _goal: data, actor=actor)
        for kind in ("goal", "goal_question"):
            for approval in self.desk.list_for_subject(kind, goal.id, "pending"):
                self.desk.go_stale(approval.id, "the goal was abandoned")
        return goal

    def reopen(self, identifier: str, *, actor: str) -> Goal:
        """Propose a goal that was over once more; it is planned and adopted anew."""
        return self._move(identifier, events.REOPENED, lambda _goal: {}, actor=actor)

    def _refuse_over_limit(self, goal: Goal) -> None:
        """Refuse what would be held again at once, and say what does help."""
        if goal.held == BUDGET_SPENT:
            raise Conflict(
                f"{goal.id} cannot go on: {goal.why}",
                code="budget_spent",
                next_step=f"sign for the same budget once more: astra goals adopt {goal.id}",
            )
        if goal.held == DEADLINE_PASSED and (goal.deadline or "") <= self.desk.now():
            raise Conflict(
                f"{goal.id} cannot go on: {goal.why}",
                code="deadline_passed",
                next_step=f"astra goals abandon {goal.id} --reason TEXT, then propose it anew",
            )

    def _pick(self, goal: Goal, node: str | None) -> list[str]:
        tasks = self.goals.tasks(goal.id)
        if node is None:
            return [task.id for task in tasks if task.state == "failed"]
        if node not in {task.id for task in tasks}:
            raise NotFound(
                f"{goal.id} has no task {one_line(node, 40)}",
                next_step=f"astra goals show {goal.id}",
            )
        return [node]

    def _move(
        self,
        identifier: str,
        type_: str,
        decide: Callable[[Goal], Mapping[str, Any]],
        *,
        actor: str,
    ) -> Goal:
        for _ in range(_TRIES):
            version = self.goals.ledger.version(identifier)
            goal = self.goals.get(identifier)
            refuse_unless_legal(goal.id, State(goal.state), type_)
            fields = events.fill_goal_event(
                goal.id, decide(goal), actor=actor, correlation=goal.correlation
            )
            batch = [Event(type=type_, **fields), *_list_desire_events(goal, type_, actor)]
            try:
                self.goals.ledger.append(batch, expect={goal.id: version})
            except StaleVersion:
                continue
            return self.goals.get(identifier)
        raise Conflict(f"{identifier} moves too fast", code="stale_version", next_step="try again")


def _list_desire_events(goal: Goal, type_: str, actor: str) -> list[Event]:
    """Close the desire that a goal came from with the goal, and reopen it with it."""
    if not goal.desire_id or type_ not in _ENDS_DESIRE:
        return []
    outcome = _ENDS_DESIRE[type_]
    data = {"goal": goal.id, **({"outcome": outcome} if outcome else {})}
    fields = events.fill_goal_event(goal.desire_id, data, actor=actor, correlation=goal.correlation)
    if outcome:
        return [Event(type=desires.CLOSED, **fields)]
    return [Event(type=desires.REOPENED, **fields)]


def _find_behind(graph: Graph, starts: list[str]) -> list[str]:
    """Name some tasks and everything that waits for them, in the order of the graph."""
    reached = set(starts)
    for node in graph.nodes:
        if reached.intersection(node.after):
            reached.add(node.id)
    return [node.id for node in graph.nodes if node.id in reached]
