"""What a model is told in the middle of a checkpoint, rebuilt from the ledger before every step.

Nothing is kept in memory between two steps: after a crash the next prompt is the one that would
have come anyway. Whatever a tool or a person wrote is delimited; only the rules are ours.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from astra.plans import prompts
from astra.plans.answers import shorten_middle
from astra.plans.model import AgentPlan, Message, Step
from astra.plans.ports import ChangeOutcome, Prompt
from astra.plans.register import Register
from astra.plans.schema import Permissions

LONGEST_RESULT = 6_000
_MOST_STEPS = 40
_LONGEST_HISTORY = 60_000


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
    yield from _keep_newest(_render_history(register, plan, steps))


def _describe_proposal(proposal: tuple[str, ChangeOutcome] | None) -> Iterator[str]:
    """Tell the worker what came of the change that it had written."""
    if proposal is None or proposal[1].state == ChangeOutcome.PENDING:
        return
    change, outcome = proposal
    yield prompts.untrusted(
        f"what came of {change}", f"{outcome.state}: {outcome.reason}"[:LONGEST_RESULT]
    )


def _render_history(register: Register, plan: AgentPlan, steps: list[Step]) -> Iterator[str]:
    """Tell the steps of this checkpoint and the operator's words, each where it was heard."""
    messages = [message for message in register.messages(plan.id) if message.step is not None]
    for step in steps:
        if step.checkpoint == plan.checkpoint:
            yield from (
                _render_message(message) for message in messages if message.step == step.step
            )
            if step.state != "asked":
                yield _render_step(step)


def _render_step(step: Step) -> str:
    action_text = (
        json.dumps(step.action, ensure_ascii=False)[:LONGEST_RESULT] if step.action else ""
    )
    result = shorten_middle(step.result or "", LONGEST_RESULT)
    return (
        f"step {step.step}: {step.outcome or step.state}\n"
        f"{prompts.untrusted('your action', action_text)}\n{prompts.untrusted('result', result)}"
    )


def _render_message(message: Message) -> str:
    return prompts.untrusted("message from the operator", message.text)


def _keep_newest(parts: Iterable[str]) -> list[str]:
    """Keep the newest that fit; say how many were left out."""
    entries = list(parts)
    recent: list[str] = []
    for part in reversed(entries[-_MOST_STEPS:]):
        if sum(map(len, recent)) + len(part) > _LONGEST_HISTORY:
            break
        recent.insert(0, part)
    left_out = len(entries) - len(recent)
    return [*([f"({left_out} earlier entries left out)"] if left_out else []), *recent]


def _read_action_kind(step: Step) -> str:
    action: dict[str, Any] = step.action or {}
    return str(action.get("kind", ""))
