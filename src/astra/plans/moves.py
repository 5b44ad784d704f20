"""Moves that only a plan that works makes: steps, and blocks that stop it until somebody acts."""

from collections.abc import Callable, Mapping
from typing import Any

from astra.plans import talk
from astra.plans.model import AgentPlan
from astra.plans.register import Register
from astra.plans.states import WORKING
from astra.trusted.kernel.errors import Conflict
from astra.trusted.ledger.record import Event


class Halted(Conflict):
    """Somebody paused, ended or otherwise moved the plan while a step was under way."""

    code = "halted"


def refuse_unless_working(plan: AgentPlan) -> None:
    if plan.state not in WORKING:
        raise Halted(f"{plan.id} is {plan.state}", next_step=f"astra plans show {plan.id}")


def working(data: Mapping[str, Any]) -> Callable[[AgentPlan], Mapping[str, Any]]:
    """Give data for a move that is made only while the plan works."""

    def decide(plan: AgentPlan) -> Mapping[str, Any]:
        refuse_unless_working(plan)
        return data

    return decide


def block(
    register: Register,
    plan: AgentPlan,
    kind: str,
    what: Mapping[str, Any],
    words: str,
    *more: Event,
) -> None:
    """Stop a plan until somebody acts, and say what it waits for."""
    data = {"reason": words, "block": {**what, "in_words": words}}
    register.move(
        plan.id,
        kind,
        working(data),
        beside=lambda now: (*more, talk.sent(now, talk.BLOCKED, words)),
    )
