"""The states of a goal and of its tasks, and how each comes about, in one table each.

`blocked` is not recorded: a goal that executes is blocked while it is held (paused, failed, over
its budget) or while a task of it waits for somebody.
"""

from enum import StrEnum

from astra.goals import events
from astra.trusted.kernel.errors import Conflict


class State(StrEnum):
    PROPOSED = "proposed"
    ADOPTED = "adopted"
    EXECUTING = "executing"
    BLOCKED = "blocked"
    SATISFIED = "satisfied"
    ABANDONED = "abandoned"


class TaskState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"


TASK_ENDED = (TaskState.SUCCEEDED, TaskState.FAILED, TaskState.SKIPPED)
_UNDER_WAY = frozenset({State.EXECUTING, State.BLOCKED})
_OVER = frozenset({State.SATISFIED, State.ABANDONED})

TRANSITIONS: dict[str, tuple[frozenset[State], State]] = {
    events.PLANNED: (frozenset({State.PROPOSED}), State.PROPOSED),
    events.PLANNING_FAILED: (frozenset({State.PROPOSED}), State.PROPOSED),
    events.ADOPTED: (frozenset({State.PROPOSED}), State.ADOPTED),
    events.STARTED: (frozenset({State.ADOPTED}), State.EXECUTING),
    events.HELD: (_UNDER_WAY, State.EXECUTING),
    events.RESUMED: (_UNDER_WAY, State.EXECUTING),
    events.RETRIED: (_UNDER_WAY, State.EXECUTING),
    events.SATISFIED: (_UNDER_WAY, State.SATISFIED),
    events.ABANDONED: (frozenset(State) - _OVER, State.ABANDONED),
    events.REOPENED: (_OVER, State.PROPOSED),
}


def refuse_unless_legal(identifier: str, state: State, event: str) -> None:
    if state not in TRANSITIONS[event][0]:
        raise Conflict(
            f"{identifier} is {state}, so it cannot be {_VERBS[event]}",
            code="wrong_state",
            next_step=f"astra goals show {identifier}",
            state=str(state),
        )


_VERBS = {name: name.removeprefix("goal_").replace("_", " ") for name in TRANSITIONS}
