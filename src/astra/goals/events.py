"""The records of goals and of their tasks. A task's records are keyed: each happens once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CREATED, PLANNED, PLANNING_FAILED = "goal_created", "goal_planned", "goal_planning_failed"
ADOPTED, STARTED, HELD, RESUMED = "goal_adopted", "goal_started", "goal_held", "goal_resumed"
RETRIED, SATISFIED = "goal_retried", "goal_satisfied"
DECOMPOSITION_ASKED = "goal_decomposition_asked"
ABANDONED, REOPENED = "goal_abandoned", "goal_reopened"
TASK_CLAIMED, TASK_WAITED = "goal_task_claimed", "goal_task_waited"
TASK_RETRIED, TASK_FINISHED = "goal_task_retried", "goal_task_finished"
DAEMON = "daemon"
CLAIMED, WAITED, ENDED = "claimed", "waited", "ended"
"""The steps of an attempt: each is recorded once. One that is tried again has ended."""


@dataclass(frozen=True)
class TaskIdentity:
    """One attempt at a task of one graph of a goal."""

    goal: str
    planned: int
    node: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.goal}:{self.planned}:{self.node}:{self.attempt}"


def fill_goal_event(
    goal: str, data: Mapping[str, Any], *, actor: str, correlation: str
) -> dict[str, Any]:
    """Give everything of a goal's record but its type."""
    return {"actor": actor, "data": dict(data), "correlation": correlation, "subject": goal}


def fill_task_event(task: TaskIdentity, correlation: str, step: str, **data: Any) -> dict[str, Any]:
    """Give a task's record but its type; its key lets each step of an attempt happen once."""
    more = f":{data['on']}" if step == WAITED else ""
    return {
        "actor": DAEMON,
        "data": {"goal": task.goal, "node": task.node, "attempt": task.attempt, **data},
        "correlation": correlation,
        "subject": task.node,
        "key": f"goal_task_{step}:{task}{more}",
    }
