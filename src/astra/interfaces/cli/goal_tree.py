"""The graph of a goal as a tree for a terminal: state, time, cost, and what each task waits for.

A task stands below the last of those that it waits for; the others are named beside it. A chain of
tasks goes straight down, so that a long one stays readable.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from astra.trusted.kernel.text import one_line, printable

SIGNS = {
    "pending": "○",
    "running": "▶",
    "waiting": "…",
    "succeeded": "✔",
    "failed": "✘",
    "skipped": "-",
}
_OVER = frozenset({"succeeded", "failed", "skipped"})
_MOST_NAMED = 5
_SECOND, _MINUTE = 1_000, 60_000
Task = Mapping[str, Any]


def render_tree(tasks: Sequence[Task], edges: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Draw tasks as a tree, in the order of their graph."""
    by_id = {task["id"]: task for task in tasks}
    earlier: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        earlier[edge["to"]].append(edge["from"])
    below = _place_below(tasks, earlier)
    open_branches = [(task_id, "", "") for task_id in reversed(below[""])]
    while open_branches:
        task_id, lead, indent = open_branches.pop()
        names = _name_others(by_id, earlier[task_id])
        yield f"  {lead}{render_task(by_id[task_id], names)}"
        open_branches += reversed(_branch(below[task_id], indent))


def render_task(task: Task, others: str = "") -> str:
    """Say in a line what a task is, how it stands, what it took, and what it waits for."""
    parts = [
        f"{SIGNS.get(task['state'], '?')} {printable(task['title'])}",
        task["state"],
        describe_cost(task),
        others if task["state"] == "pending" else "",
        _describe_trouble(task),
        task["id"],
    ]
    return "  ".join(part for part in parts if part)


def describe_cost(task: Task) -> str:
    """Say how long a task took and what it used, or nothing where it did not begin."""
    if not task["started_at"]:
        return ""
    runs = task["state"] == "running"
    parts = [
        f"since {task['started_at'][11:19]}Z"
        if runs
        else describe_milliseconds(task["milliseconds"])
    ]
    if task.get("tokens"):
        parts.append(f"{task['tokens']:,} tokens")
    if task["begun"] > 1:
        parts.append(f"begun {task['begun']} times")
    return ", ".join(parts)


def describe_milliseconds(milliseconds: float) -> str:
    """Say how long something took.

    >>> describe_milliseconds(12.4), describe_milliseconds(3200), describe_milliseconds(125_000)
    ('12 ms', '3.2 s', '2 min 5 s')
    """
    if milliseconds < _SECOND:
        return f"{milliseconds:.0f} ms"
    if milliseconds < _MINUTE:
        return f"{milliseconds / _SECOND:.1f} s"
    minutes, seconds = divmod(round(milliseconds / _SECOND), 60)
    return f"{minutes} min {seconds} s"


def _place_below(tasks: Sequence[Task], earlier: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Give, for each task and for the root, the tasks that stand below it."""
    place = {task["id"]: number for number, task in enumerate(tasks)}
    below: dict[str, list[str]] = defaultdict(list)
    for task in tasks:
        above = max(earlier.get(task["id"], ()), key=lambda step: place[step], default="")
        below[above].append(task["id"])
    return below


def _branch(task_ids: Sequence[str], indent: str) -> list[tuple[str, str, str]]:
    """Give each task what leads to it and what stands before those below it."""
    if len(task_ids) == 1:
        return [(task_ids[0], indent, indent)]
    last = len(task_ids) - 1
    return [
        (
            task_id,
            f"{indent}{'└─ ' if number == last else '├─ '}",
            f"{indent}{'   ' if number == last else '│  '}",
        )
        for number, task_id in enumerate(task_ids)
    ]


def _name_others(by_id: Mapping[str, Task], steps: Sequence[str]) -> str:
    """Name the tasks that one still waits for."""
    open_steps = [step for step in steps if by_id[step]["state"] not in _OVER]
    if not open_steps:
        return ""
    names = [by_id[step]["path"].rpartition("/")[2] for step in open_steps[:_MOST_NAMED]]
    more = f" and {len(open_steps) - _MOST_NAMED} more" if len(open_steps) > _MOST_NAMED else ""
    return printable(f"waits for {', '.join(names)}{more}")


def _describe_trouble(task: Task) -> str:
    if task["state"] == "failed":
        return f"{task['reason']}: {one_line(task['detail'], 80)}"
    if task["state"] == "waiting":
        return f"waits for {printable(task['waits_on'])}: {one_line(task['detail'], 80)}"
    if task["state"] == "pending" and task["reason"]:
        return f"tried before: {task['reason']}"
    return ""
