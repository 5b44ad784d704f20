"""What is due for the goals that are under way: read for all of them at once, however many.

A worker that was given one ready task goes on with the others of its goal by itself. So as many are
offered as there may be workers, twice; of each goal one at least, so that none waits behind another
whose tasks rest.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from astra.goals.book import Goals, TaskName
from astra.goals.events import TaskIdentity
from astra.goals.model import Goal
from astra.goals.states import TaskState
from astra.trusted.kernel.clock import Clock, format_time

MOST_LEFT = 100
MOST_OF_A_GOAL, MOST_OFFERED = 10, 20
"""How many ready tasks are offered to workers at once, of one goal and of all goals together."""


@dataclass(frozen=True, kw_only=True)
class DueTask:
    """Something to do for a goal: `node` empty where it is about the goal as a whole."""

    action: str
    goal: str
    node: str = ""
    attempt: int = 0
    every: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.action} {self.goal} {self.node} {self.attempt}"


@dataclass(frozen=True, kw_only=True)
class DueTasks:
    goals: Goals
    clock: Clock
    is_held: Callable[[TaskIdentity], bool]
    """Tells whether this process does an attempt."""

    def list_of(self, goals: Sequence[Goal]) -> list[DueTask]:
        """Give what is due for goals that nothing holds, in their order."""
        names = [goal.id for goal in goals]
        open_tasks = _group_by_goal(self.goals.name_open(names))
        now = format_time(self.clock.now())
        ready_tasks = _group_by_goal(self.goals.name_ready(names, now, limit=MOST_OF_A_GOAL))
        items: list[DueTask] = []
        room = MOST_OFFERED
        for goal in goals:
            offered = ready_tasks[goal.id][: max(1, room)]
            room -= len(offered)
            open_items = [self._describe_open(goal, task) for task in open_tasks[goal.id]]
            items += [*open_items, *map(_describe_ready, offered)] or self._conclude_if_over(goal)
        return items

    def list_left(self) -> list[DueTask]:
        """Give the tasks that a dead daemon left running in goals that stand still or are over."""
        return [
            DueTask(action="settle", goal=task.goal, node=task.node, attempt=task.attempt)
            for task in self.goals.name_left_running(limit=MOST_LEFT)
            if not self.is_held(task)
        ]

    def _conclude_if_over(self, goal: Goal) -> list[DueTask]:
        if self.goals.tasks_in(goal.id, TaskState.PENDING, limit=1):
            return []
        return [DueTask(action="conclude", goal=goal.id)]

    def _describe_open(self, goal: Goal, task: TaskName) -> DueTask:
        """Say what is due for a task that was claimed: nothing new while this process has it."""
        action, pause = "look", 1.0
        if task.state != TaskState.WAITING:
            identity = TaskIdentity(goal.id, goal.planned or 0, task.id, task.attempt)
            action, pause = "do" if self.is_held(identity) else "settle", 0.0
        return DueTask(action=action, goal=goal.id, node=task.id, attempt=task.attempt, every=pause)


def _describe_ready(task: TaskName) -> DueTask:
    return DueTask(action="do", goal=task.goal, node=task.id, attempt=task.attempt + 1)


def _group_by_goal(tasks: Iterable[TaskName]) -> dict[str, list[TaskName]]:
    groups: dict[str, list[TaskName]] = defaultdict(list)
    for task in tasks:
        groups[task.goal].append(task)
    return groups
