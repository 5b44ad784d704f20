"""Where tasks come from, each as rows of the same form.

A task of a change is MANUAL until an operator approves, and named by the purpose of the change. A
task of a goal is a node of its graph, and enabled by the adoption. A firing is what a schedule made
due. Each source keeps its own states; here they are the same three, and how a task ended is its
outcome.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

WAITING, RUNNING, FINISHED = "waiting", "running", "finished"
STATES = (WAITING, RUNNING, FINISHED)
OF_CHANGES, OF_GOALS, OF_SCHEDULES = "change", "goal", "schedule"
COLUMNS = (
    *("sequence", "place", "id", "kind", "title", "tool", "schedule", "enabled", "own_state"),
    *("outcome", "subject_id", "attempt", "waits_on", "reason", "detail", "created_at"),
    *("started_at", "finished_at", "milliseconds", "correlation"),
)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A table of tasks: how a row of it is read, and what its own states mean."""

    name: str
    table: str
    select: str
    own_states: Mapping[str, tuple[str, ...]]
    outcome_column: str
    order: str

    def name_state(self, own_state: str) -> str:
        """Say which of the three states a state of its own is; whatever is not open is over."""
        matches = (state for state, names in self.own_states.items() if own_state in names)
        return next(matches, FINISHED)


def _freeze(states: dict[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType(states)


CHANGES = Source(
    name=OF_CHANGES,
    table="task",
    select="""
        SELECT sequence, 0, id, kind, '', '', schedule, enabled,
            state, outcome, subject_id, 1, '', '', '', created_at, NULL, finished_at, 0,
            correlation
        FROM task
    """,
    own_states=_freeze({WAITING: (WAITING,), RUNNING: (RUNNING,), FINISHED: (FINISHED,)}),
    outcome_column="outcome",
    order="task.sequence",
)
GOALS = Source(
    name=OF_GOALS,
    table="goal_task",
    select="""
        SELECT goal_task.sequence, place, goal_task.id, kind, title, '', 'GRAPH',
            goal.state IN ('adopted', 'executing', 'satisfied'), goal_task.state,
            goal_task.state, goal, begun, waits_on, reason, detail, goal.created_at, started_at,
            finished_at, goal_task.milliseconds, goal_task.correlation
        FROM goal_task JOIN goal ON goal.id = goal_task.goal
    """,
    own_states=_freeze(
        {
            WAITING: ("pending", "waiting"),
            RUNNING: ("running",),
            FINISHED: ("succeeded", "failed", "skipped"),
        }
    ),
    outcome_column="state",
    order="goal_task.sequence",
)
FIRINGS = Source(
    name=OF_SCHEDULES,
    table="firing",
    select="""
        SELECT firing.sequence, 0, firing.id, 'FIRING', schedule.name, firing.tool, schedule.id, 1,
            firing.state, firing.state, schedule.id, attempt, '', reason, detail, fire_time,
            started_at, closed_at, milliseconds, correlation
        FROM firing JOIN schedule ON schedule.id = firing.schedule
    """,
    own_states=_freeze(
        {
            WAITING: ("retrying", "queued", "waiting"),
            RUNNING: ("running",),
            FINISHED: ("succeeded", "failed", "skipped", "interrupted", "missed", "cancelled"),
        }
    ),
    outcome_column="state",
    order="firing.sequence",
)
SOURCES = (CHANGES, GOALS, FIRINGS)
