"""The change that a checkpoint's coder proposed last, read from its steps, and what came of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from astra.plans import events
from astra.plans.model import AgentPlan, Step
from astra.plans.ports import ChangeOutcome, ChangeOutcomes, NoOutcomes
from astra.plans.register import Register
from astra.plans.skills import CODER

_CHANGE = re.compile(r"\bchg_[0-9a-f]{16}\b")
LONGEST_REASON = 3_000


@dataclass(frozen=True, kw_only=True)
class ProposedChanges:
    register: Register
    outcomes: ChangeOutcomes = field(default_factory=NoOutcomes)

    def find_outcome(self, plan: AgentPlan) -> tuple[str, ChangeOutcome] | None:
        """Give the change that this checkpoint proposed last, if any, and what came of it."""
        change = find_change(self.list_steps(plan))
        return (change, self.outcomes.find(change)) if change else None

    def is_pending(self, plan: AgentPlan) -> bool:
        """Tell whether a checkpoint waits for the tests of what it proposed."""
        steps = self.list_steps(plan)
        if not steps or steps[-1].state != "finished":
            return False
        outcome = self.find_outcome(plan)
        return outcome is not None and outcome[1].state == ChangeOutcome.PENDING

    def find_cut_off(self, plan: AgentPlan, step: Step) -> str:
        """Name the change that a coder's step proposed before a crash cut it off, or nothing."""
        if not is_coder_step(step):
            return ""
        claims = self.register.ledger.records_of(plan.id, events.ACTION_STARTED)
        claimed = max((r.sequence for r in claims if r.data["step"] == step.step), default=0)
        return self.outcomes.find_newest(plan.id, after=claimed) if claimed else ""

    def list_steps(self, plan: AgentPlan) -> list[Step]:
        return self.register.steps(plan.id, checkpoint=plan.checkpoint)


def describe_proposed(change: str) -> str:
    """Tell a worker of a change that it proposed; `find_change` reads it again."""
    return f"{change} was proposed; a person decides on it"


def is_for_coder(plan: AgentPlan) -> bool:
    """Tell a checkpoint that is nothing but a change of code: nobody has to decide on a step."""
    return plan.current.skills_needed == (CODER,)


def find_change(steps: Sequence[Step]) -> str:
    for step in reversed(steps):
        if is_coder_step(step) and step.outcome == "ok" and step.result:
            match = _CHANGE.search(step.result)
            return match.group() if match else ""
    return ""


def is_coder_step(step: Step) -> bool:
    return (step.action or {}).get("kind") == "code"
