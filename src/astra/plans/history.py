"""What a model is told in the middle of a checkpoint, rebuilt from the ledger before every step.

Nothing is kept in memory between two steps: after a crash the next prompt is the one that would
have come anyway. Whatever a tool or a person wrote is delimited; only the rules are ours. What
stays the same comes first and the budget last, so that a server's prompt cache holds.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from astra.plans import prompts
from astra.plans.answers import shorten_middle
from astra.plans.compaction import Entry, compact
from astra.plans.loops import find_loop
from astra.plans.model import AgentPlan, Message, Step
from astra.plans.moves import OVER_CAP
from astra.plans.ports import ChangeOutcome, Prompt
from astra.plans.register import Register
from astra.plans.schema import Permissions

LONGEST_RESULT = 6_000


def prompt_for(
    register: Register,
    plan: AgentPlan,
    granted: Permissions,
    tools: str,
    *,
    digest: str = "",
    proposal: tuple[str, ChangeOutcome] | None = None,
) -> Prompt:
    steps = register.steps(plan.id)
    return Prompt(
        rules=prompts.rules(prompts.WORKING),
        data=(
            *_build_parts(register, plan, granted, tools, steps),
            *prompts.list_optional(prompts.DIGEST, digest),
            *_describe_proposal(proposal),
            *_describe_loop(plan, steps),
            f"budget: step {plan.spent} of {plan.budget} in this checkpoint",
        ),
        version=prompts.WORKING,
    )


def _build_parts(
    register: Register, plan: AgentPlan, granted: Permissions, tools: str, steps: list[Step]
) -> Iterator[str]:
    assert plan.plan is not None  # noqa: S101 - it runs, so it was drafted
    checkpoint = plan.current
    yield prompts.untrusted("goals of the plan", "\n".join(plan.plan.goals))
    yield prompts.untrusted(
        f"checkpoint {plan.checkpoint + 1} of {len(plan.plan.checkpoints)}",
        f"{checkpoint.title}\n{checkpoint.description}\nexpected: {checkpoint.expected_output}",
    )
    yield prompts.untrusted("what the plan grants", json.dumps(granted.as_dict(), indent=1))
    yield prompts.untrusted("tools", tools)
    for step in steps:
        if step.checkpoint < plan.checkpoint and _read_action_kind(step) == "done":
            name = f"outcome of checkpoint {step.checkpoint + 1}"
            yield prompts.untrusted(name, str((step.action or {}).get("output", "")))
    yield from compact(list(_list_entries(register, plan, steps)))


def _describe_proposal(proposal: tuple[str, ChangeOutcome] | None) -> Iterator[str]:
    """Tell the worker what came of the change that it had written."""
    if proposal is None or proposal[1].state == ChangeOutcome.PENDING:
        return
    change, outcome = proposal
    yield prompts.untrusted(
        f"what came of {change}", f"{outcome.state}: {outcome.reason}"[:LONGEST_RESULT]
    )


def _list_entries(register: Register, plan: AgentPlan, steps: list[Step]) -> Iterator[Entry]:
    """Tell the steps of this checkpoint and the operator's words, each where it was heard."""
    messages = [message for message in register.messages(plan.id) if message.step is not None]
    for step in steps:
        if step.checkpoint == plan.checkpoint:
            yield from (
                Entry(text=_render_message(message))
                for message in messages
                if message.step == step.step
            )
            if step.state != "asked":
                yield Entry(text=_render_step(step), step=step)


def _render_step(step: Step) -> str:
    action_text = json.dumps(step.action, ensure_ascii=False) if step.action else ""
    action_text = shorten_middle(action_text, LONGEST_RESULT)
    result = shorten_middle(step.result or "", LONGEST_RESULT)
    return (
        f"step {step.step}: {step.outcome or step.state}\n"
        f"{prompts.untrusted('your action', action_text)}\n{prompts.untrusted('result', result)}"
    )


def _describe_loop(plan: AgentPlan, steps: list[Step]) -> Iterator[str]:
    """Tell the worker that it goes round in circles, before the server stops it."""
    marks = list_marks(step for step in steps if step.checkpoint == plan.checkpoint)
    if loop := find_loop(marks):
        yield (
            f"note: your last {loop.period * loop.rounds} steps are {loop.rounds} rounds of the"
            " same, with the same results. Do something else, ask the person, or say what came"
            " of it."
        )


def list_marks(steps: Iterable[Step]) -> list[tuple[str | None, str | None, str | None]]:
    """Give what was done and what came of it, for steps that are over.

    One that a cap on spending ended is left out: that is for the worker to do again.
    """
    return [
        (step.digest, step.outcome, step.result)
        for step in steps
        if step.state == "finished" and step.outcome != OVER_CAP
    ]


def _render_message(message: Message) -> str:
    return prompts.untrusted("message from the operator", message.text)


def _read_action_kind(step: Step) -> str:
    action: dict[str, Any] = step.action or {}
    return str(action.get("kind", ""))
