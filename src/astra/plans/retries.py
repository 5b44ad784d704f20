"""Which step of a plan may run once more, if the operator signs for it.

Only the last one, and only while the plan stands still behind it: then nothing was decided on what
came of it. What a step did before it failed or was cut off may have happened; that is why nobody
but the operator repeats it, and why it asks for its one-time grants and confirmations again.
"""

from astra.plans.model import AgentPlan, Step
from astra.plans.register import Register
from astra.plans.states import State

_STANDING_STILL = frozenset({State.PAUSED, State.BLOCKED_ON_BUDGET})
_WENT_WRONG = frozenset({"failed", "interrupted", "refused"})


def find_retryable_step(register: Register, plan: AgentPlan) -> Step | None:
    if plan.state not in _STANDING_STILL:
        return None
    last = register.last_steps(plan.id, 1)
    fits = [step for step in last if step.checkpoint == plan.checkpoint and _is_over(step)]
    return fits[0] if fits and plan.done <= plan.checkpoint else None


def _is_over(step: Step) -> bool:
    return step.state == "finished" and step.outcome in _WENT_WRONG and step.action is not None
