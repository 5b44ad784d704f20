"""The book of goals: which there are, where each came from, and how its tasks stand."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from astra.goals.events import CREATED, TaskIdentity
from astra.goals.graph import Graph, read_graph
from astra.goals.model import Goal, read_row
from astra.goals.projection import GOAL_COLUMNS, PROJECTION
from astra.goals.states import State, TaskState
from astra.trusted.kernel.errors import Conflict, NotFound
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.paging import check_page
from astra.trusted.ledger.ports import Ledger

KEPT_GRAPHS = 64
__all__ = ["CREATED", "PROJECTION", "Goal", "Goals", "TaskName", "TaskRow"]
_TASK_COLUMNS = (
    "goal, id, kind, title, path, state, attempt, first, unmet, due, waits_on, reason, detail,"
    " outputs, started_at, finished_at, milliseconds, model_calls, tokens, begun"
)
_READY = (
    "goal = ? AND state = 'pending' AND unmet = 0 AND coalesce(due, '') <= ? ORDER BY place LIMIT ?"
)
_TASK_NAMES = tuple(_TASK_COLUMNS.split(", "))
_GOAL_NAMES = (*GOAL_COLUMNS.split(", "), "waiting")
IS_WAITING = "EXISTS (SELECT 1 FROM goal_task WHERE goal = goal.id AND goal_task.state = 'waiting')"
GOAL_ROW = f"{', '.join(f'goal.{name}' for name in GOAL_COLUMNS.split(', '))}, {IS_WAITING}"
_NAMES = "SELECT task.goal, task.id, task.attempt, task.state FROM json_each(?1) AS wanted"
_OPEN = (
    f"{_NAMES} CROSS JOIN goal_task AS task INDEXED BY goal_task_state"
    " ON task.goal = wanted.value AND task.state IN ('running', 'waiting')"
    " ORDER BY task.goal, task.place"
)
_LEFT = (
    "SELECT goal.id, coalesce(goal.planned, 0), task.id, task.attempt FROM goal_task AS task"
    " INDEXED BY goal_task_ended CROSS JOIN goal ON goal.id = task.goal"
    " WHERE task.state = 'running' AND (goal.held != '' OR goal.state = 'abandoned') LIMIT ?"
)
_READY_NAMES = (
    f"{_NAMES} CROSS JOIN goal_task AS task ON task.goal = wanted.value AND task.id IN"  # noqa: S608 - fixed texts
    " (SELECT ready.id FROM goal_task AS ready INDEXED BY goal_task_state"
    " WHERE ready.goal = wanted.value AND ready.state = 'pending' AND ready.unmet = 0"
    " AND coalesce(ready.due, '') <= ?2 ORDER BY ready.place LIMIT ?3)"
    " ORDER BY task.goal, task.place"
)


@dataclass(frozen=True, kw_only=True)
class TaskRow:
    goal: str
    id: str
    kind: str
    title: str
    path: str
    state: str
    attempt: int
    first: int
    """The attempt before its first since it was last begun anew."""
    unmet: int
    """How many tasks it waits for."""
    due: str | None
    waits_on: str
    reason: str
    detail: str
    outputs: str
    started_at: str | None
    finished_at: str | None
    milliseconds: float
    model_calls: int
    tokens: int
    begun: int
    """How often it was begun in all."""

    @property
    def tries(self) -> int:
        return self.attempt - self.first

    def as_dict(self) -> dict[str, Any]:
        hidden = {"first", "unmet", "outputs", "due"}
        fields = {name: value for name, value in self.__dict__.items() if name not in hidden}
        return {**fields, "outputs": json.loads(self.outputs)}


class TaskName(NamedTuple):
    """Which task of which goal, and how it stands: enough to say what is due for it."""

    goal: str
    id: str
    attempt: int
    state: str


@dataclass(frozen=True)
class Goals:
    ledger: Ledger
    _read_graph: Callable[[int], Graph | None] = field(init=False, compare=False, repr=False)
    """Reads the graph of a record, which never changes, once."""

    def __post_init__(self) -> None:
        @lru_cache(KEPT_GRAPHS)
        def read(sequence: int) -> Graph | None:
            record = self.ledger.record(sequence)
            return read_graph(record.data["graph"]) if record else None

        object.__setattr__(self, "_read_graph", read)

    def list_goals(self, *, limit: int = 50, after: int = 0) -> tuple[list[Goal], int | None]:
        """Give goals in the order they were created, and where the next page starts."""
        after = check_page(limit, after)
        rows = self._query_goals("sequence > ? ORDER BY sequence LIMIT ?", after, limit + 1)
        more = len(rows) > limit
        return rows[:limit], rows[limit - 1].sequence if more else None

    def in_state(self, state: State, *, limit: int = 50) -> list[Goal]:
        """Give goals of a recorded state that nothing holds, the most urgent first."""
        return self._query_goals(
            "state = ? AND held = '' ORDER BY priority DESC, sequence LIMIT ?", str(state), limit
        )

    def list_over_cap(self, *, limit: int) -> list[Goal]:
        """Give goals that a cap on spending holds."""
        return self._query_goals(
            "state = 'executing' AND held = 'over_cap' ORDER BY priority DESC, sequence LIMIT ?",
            limit,
        )

    def list_standing_still(self, *, limit: int) -> list[Goal]:
        """Give goals that are held for a person: what a cap on spending holds goes on by itself."""
        return self._query_goals(
            "state = 'executing' AND held NOT IN ('', 'over_cap') ORDER BY sequence LIMIT ?", limit
        )

    def list_unplanned(self, *, limit: int) -> list[Goal]:
        """Give proposed goals that could not be planned, and that no model is asked about."""
        return self._query_goals(
            "goal.state = 'proposed' AND planned IS NULL AND why != '' AND asks_model = 0"
            " ORDER BY sequence LIMIT ?",
            limit,
        )

    def list_asking_models(self, *, limit: int) -> list[Goal]:
        """Give proposed goals that no method fits and a model is to decompose."""
        return self._query_goals(
            "asks_model = 1 AND goal.state = 'proposed' ORDER BY sequence LIMIT ?", limit
        )

    def count(self, state: State) -> int:
        rows = self.ledger.query("SELECT count(*) FROM goal WHERE state = ?", [str(state)])
        return int(rows[0][0])

    def count_under_way(self) -> int:
        """Count the goals whose tasks may run: one that is held keeps no other from beginning."""
        sql = "SELECT count(*) FROM goal WHERE state = 'executing' AND held = ''"
        rows = self.ledger.query(sql)
        return int(rows[0][0])

    def exists(self, identifier: str) -> bool:
        return bool(self._query_goals("id = ?", identifier))

    def get(self, identifier: str) -> Goal:
        goals = self._query_goals("id = ?", identifier)
        if not goals:
            label = identifier if is_id(identifier) else "with that id"
            raise NotFound(f"there is no goal {label}", next_step="astra goals list")
        return goals[0]

    def graph(self, goal: Goal) -> Graph:
        """Give the graph that a goal was planned into."""
        graph = self._read_graph(goal.planned) if goal.planned else None
        if graph is None:
            raise Conflict(
                f"{goal.id} has no graph: {goal.why or 'it was not planned yet'}",
                code="not_planned",
                next_step=f"astra goals show {goal.id}",
            )
        return graph

    # Tasks

    def tasks(self, goal: str) -> list[TaskRow]:
        """Give the tasks of a goal in the order of its graph."""
        return self._query_tasks("goal = ? ORDER BY place", goal)

    def task(self, goal: str, node: str) -> TaskRow | None:
        tasks = self._query_tasks("goal = ? AND id = ?", goal, node)
        return tasks[0] if tasks else None

    def tasks_in(self, goal: str, *states: TaskState, limit: int = 1_000) -> list[TaskRow]:
        marks = ", ".join("?" * len(states))
        return self._query_tasks(
            f"goal = ? AND state IN ({marks}) ORDER BY place LIMIT ?", goal, *states, limit
        )

    def ready_tasks(self, goal: str, now: str, *, limit: int) -> list[TaskRow]:
        """Give pending tasks that wait for no other, and whose pause is over."""
        return self._query_tasks(_READY, goal, now, limit)

    def name_ready(self, goals: Sequence[str], now: str, *, limit: int) -> list[TaskName]:
        """Name such tasks of several goals, at most so many of each."""
        rows = self.ledger.query(_READY_NAMES, [json.dumps(goals), now, limit])
        return [TaskName(*row) for row in rows]

    def name_open(self, goals: Sequence[str]) -> list[TaskName]:
        """Name the tasks of several goals that were begun and are not over."""
        return [TaskName(*row) for row in self.ledger.query(_OPEN, [json.dumps(goals)])]

    def name_left_running(self, *, limit: int) -> list[TaskIdentity]:
        """Name the tasks that are recorded as running in goals whose tasks do not go on."""
        rows = self.ledger.query(_LEFT, [limit])
        return [TaskIdentity(*row) for row in rows]

    def list_behind_failures(self, goal: str) -> frozenset[str]:
        """Name the tasks right behind one that did not succeed."""
        rows = self.ledger.query(
            "SELECT later FROM goal_task CROSS JOIN goal_edge"
            " ON goal_edge.goal = goal_task.goal AND earlier = id"
            " WHERE goal_task.goal = ? AND state IN ('failed', 'skipped')",
            [goal],
        )
        return frozenset(name for (name,) in rows)

    def _query_goals(self, condition: str, *parameters: Any) -> list[Goal]:
        rows = self.ledger.query(f"SELECT {GOAL_ROW} FROM goal WHERE {condition}", parameters)  # noqa: S608 - fixed texts
        return [read_goal(row) for row in rows]

    def _query_tasks(self, condition: str, *parameters: Any) -> list[TaskRow]:
        rows = self.ledger.query(
            f"SELECT {_TASK_COLUMNS} FROM goal_task WHERE {condition}",  # noqa: S608 - fixed texts
            parameters,
        )
        return [TaskRow(**dict(zip(_TASK_NAMES, row, strict=True))) for row in rows]


def read_goal(row: Sequence[Any]) -> Goal:
    return read_row(dict(zip(_GOAL_NAMES, row, strict=True)))
