"""Moves that only a plan that works makes: steps, and blocks that stop it until somebody acts.

A block with `over_cap` is one by a cap on spending: it ends by itself when there is room again.
"""

from collections.abc import Callable, Mapping
from typing import Any

from astra.plans import events, talk
from astra.plans.model import AgentPlan
from astra.plans.register import Register
from astra.plans.states import WORKING, State
from astra.spend.model import SpendRefused
from astra.trusted.kernel.errors import Conflict
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.record import Event

OVER_CAP = "over_cap"


class Halted(Conflict):
    """Somebody paused, ended or otherwise moved the plan while a step was under way."""

    code = "halted"


def refuse_unless_working(plan: AgentPlan) -> None:
    if plan.state not in WORKING:
        raise Halted(f"{plan.id} is {plan.state}", next_step=f"astra plans show {plan.id}")


def decide_while_working(data: Mapping[str, Any]) -> Callable[[AgentPlan], Mapping[str, Any]]:
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
        decide_while_working(data),
        beside=lambda now: (*more, talk.make_message_event(now, talk.BLOCKED, words)),
    )


def block_on_cap(
    register: Register, plan: AgentPlan, step: int, error: SpendRefused, *more: Event
) -> None:
    """Stop a plan whose next model call would pass a cap; it says how to get room."""
    block_data = {
        "step": step,
        "budget": plan.budget,
        OVER_CAP: error.facts.get("cap", error.reason),
        "approval_id": error.facts.get("approval_id") or None,
    }
    summary = one_line(f"{error.detail}; {error.next_step}", 500)
    block(register, plan, events.BLOCKED_ON_BUDGET, block_data, summary, *more)


def find_way_to_room(plan: AgentPlan) -> str:
    """Say how a plan that a cap on spending stopped gets room; nothing for every other plan."""
    block_data = plan.block or {}
    if plan.state is not State.BLOCKED_ON_BUDGET or OVER_CAP not in block_data:
        return ""
    approval = block_data.get("approval_id")
    return f"astra approve {approval}" if approval else "astra config sign"
