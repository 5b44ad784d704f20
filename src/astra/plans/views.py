"""A plan as people and agents look at it."""

from dataclasses import dataclass
from typing import Any

from astra.plans import costs, grants, moves, retries, states, talk
from astra.plans.book import KIND, Plans
from astra.plans.grants import Grants
from astra.plans.model import AgentPlan
from astra.plans.preflight import Preflight
from astra.plans.register import Register
from astra.plans.states import State

_NEXT: dict[State, str] = {
    State.AWAITING_APPROVAL: "astra plans approve {id}, reject or revise it",
    State.APPROVED: "the runner takes it up; astra status says whether it is on",
    State.PAUSED: "astra plans resume {id}, or abort it",
    State.BLOCKED_ON_PERMISSION: "astra plans grant {id} [--once], skip {id}, or abort {id}",
    State.BLOCKED_ON_DESTRUCTIVE: "astra plans grant {id} to confirm this once, or skip {id}",
    State.BLOCKED_ON_BUDGET: "astra plans extend-budget {id} STEPS, or abort {id}",
    State.BLOCKED_ON_LLM: "look at the model, then astra plans resume {id}",
}


@dataclass(frozen=True)
class PlanViews:
    plans: Plans
    preflight: Preflight

    @property
    def _register(self) -> Register:
        return self.plans.register

    def show_plan(self, identifier: str) -> dict[str, Any]:
        """Show everything about a plan: what it is, may do, waits for, did and said."""
        plan = self._register.get(identifier)
        grants_asked = None
        if plan.plan is not None:
            grants_asked = plan.grants or self.plans.make_grants(plan)
        return {
            **plan.summarise(),
            "detail": plan.detail,
            "plan": plan.plan.as_dict() if plan.plan else None,
            "plan_hash": plan.plan_hash,
            "manifest": self._review_grants(grants_asked) if grants_asked else None,
            "grants": plan.grants.as_dict() if plan.grants else None,
            "grants_hash": plan.grants_hash,
            "approval_id": plan.approval or self._find_pending_approval(plan),
            "questions": list(plan.questions),
            "round": plan.round,
            "block": plan.block,
            "usage": {"calls": plan.calls, "tokens": plan.tokens},
            "progress": self._describe_progress(plan),
            "steps_taken": [step.as_dict() for step in self._register.last_steps(identifier, 50)],
            "costs": costs.by_checkpoint(self._register.ledger, identifier),
            "messages": [message.as_dict() for message in self._register.messages(identifier)],
            "silenced": plan.silenced,
            "next": self._describe_next_step(plan),
            "correlation": plan.correlation,
        }

    def _review_grants(self, asked: Grants) -> dict[str, Any]:
        allowed = self.plans.allowlist.allows
        review = grants.review(asked, code_repo=self.plans.code_repo, allowed=allowed)
        items = [
            {**item, "preflight": self.preflight.describe_grant(item["kind"], item["value"])}
            for item in review["items"]
        ]
        return {**review, "items": items, "model": self.preflight.describe_model()}

    def _find_pending_approval(self, plan: AgentPlan) -> str | None:
        approval_ids = [
            approval.id
            for approval in self.plans.desk.list_by_state()
            if (approval.kind, approval.subject_id) == (KIND, plan.id)
        ]
        return approval_ids[-1] if approval_ids else None

    def _has_expired(self, plan: AgentPlan) -> bool:
        """Tell whether the plan was put before somebody, and nobody decided in time."""
        if self._find_pending_approval(plan) is not None:
            return False
        return any(
            (approval.kind, approval.subject_id) == (KIND, plan.id)
            for approval in self.plans.desk.list_by_state(state="all")
            if approval.state in {"pending", "expired"}
        )

    def _describe_progress(self, plan: AgentPlan) -> dict[str, Any]:
        has_begun = plan.plan is not None and plan.checkpoint >= 0
        return {
            "checkpoint": plan.current.title if has_begun else None,
            "number": plan.checkpoint,
            "step": plan.at_step,
            "steps_spent": plan.spent,
            "step_budget": plan.budget if has_begun else None,
            "twice_its_estimate": plan.overran,
            "retry": step.step
            if (step := retries.find_retryable_step(self._register, plan))
            else None,
        }

    def _describe_next_step(self, plan: AgentPlan) -> str:
        if plan.state is State.DRAFT_PENDING:
            has_questions = bool(plan.questions)
            return f"astra plans answer {plan.id} TEXT" if has_questions else "the model drafts it"
        if plan.state in states.ENDED:
            return f"astra ledger story {plan.id}"
        if plan.state is State.AWAITING_APPROVAL and self._has_expired(plan):
            return f"nobody decided in time: astra plans approve {plan.id} asks again"
        if plan.state is State.PAUSED and plan.reason == talk.QUESTION:
            return f"astra plans message {plan.id} TEXT answers it, and it goes on"
        if command := moves.find_way_to_room(plan):
            return f"{command}; it goes on by itself when there is room under the cap"
        return _NEXT.get(plan.state, "nothing: it runs").format(id=plan.id)
