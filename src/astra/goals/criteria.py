"""The success criteria of a goal: each is a check that is run at the end, and what came of it."""

from collections.abc import Mapping
from typing import Any

from astra.goals.graph import Node
from astra.goals.kinds import Kind
from astra.goals.methods import ABORT
from astra.goals.model import Goal
from astra.goals.ports import Done, Waiting
from astra.trusted.kernel.text import one_line


def make_check_node(goal: Goal, criterion: Mapping[str, str]) -> Node:
    """Make a task of a success criterion, which the adoption signed with the goal."""
    return Node(
        id=goal.id.replace("goal_", "node_"),
        kind=Kind.CHECK,
        path="success criteria",
        method="",
        tool="",
        arguments={name: [value] for name, value in criterion.items()},
        after=(),
        on_failure=ABORT,
        attempts=1,
    )


def describe_check(criterion: Mapping[str, str], outcome: Done | Waiting) -> dict[str, Any]:
    """Say what came of a criterion; one that has to wait for somebody does not hold."""
    (text,) = (f"{name} {value}" for name, value in criterion.items())
    holds = isinstance(outcome, Done) and outcome.succeeded
    detail = outcome.detail if isinstance(outcome, Done) else outcome.why
    return {"criterion": text, "holds": holds, "detail": one_line(detail, 300)}
