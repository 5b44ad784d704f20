"""The gate's answer: allow, deny or needs_approval, with a reason from a closed list.

Every reason comes with an explanation and a next step, because the one who hears it is often a
model that would otherwise try the same thing again.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from astra.trusted.kernel.errors import AstraError, NeedsApproval, Refused


class Verdict(StrEnum):
    ALLOW = "allow"
    DENY = "deny"
    NEEDS_APPROVAL = "needs_approval"


class Reason(StrEnum):
    ALLOWED = "allowed"
    APPROVED = "approved"
    PERMITTED = "permitted"
    NEEDS_APPROVAL = "needs_approval"
    FLAG_OFF = "flag_off"
    STOPPED = "stopped"
    LEDGER_HELD = "ledger_held"
    DISK_LOW = "disk_low"
    UNKNOWN_TOOL = "unknown_tool"
    BAD_ARGUMENTS = "bad_arguments"
    NOT_AVAILABLE = "not_available"
    CANCELLED = "cancelled"
    OPERATOR_ONLY = "operator_only"
    TIER_TOO_LOW = "tier_too_low"
    BUDGET_SPENT = "budget_spent"
    POOL_SPENT = "pool_spent"
    TOO_MANY_CALLS = "too_many_calls"
    TOO_MANY_AT_ONCE = "too_many_at_once"
    TOO_MANY_BOXES = "too_many_boxes"
    TOO_MANY_WAITING = "too_many_waiting"
    SESSION_SPENT = "session_spent"
    OUTSIDE_GRANTS = "outside_grants"
    OUTSIDE_SCOPE = "outside_scope"
    PROTECTED_PATH = "protected_path"
    PATH_REFUSED = "path_refused"
    CANNOT_BE_SHOWN = "cannot_be_shown"
    NO_RULE = "no_rule"


@dataclass(frozen=True, kw_only=True)
class Decision:
    verdict: Verdict
    reason: Reason
    explanation: str
    next_step: str = ""
    approval_id: str | None = None

    @property
    def allowed(self) -> bool:
        return self.verdict is Verdict.ALLOW

    def as_dict(self) -> dict[str, Any]:
        return {
            "verdict": str(self.verdict),
            "code": str(self.reason),
            "explanation": self.explanation,
            "next_step": self.next_step,
        }

    def as_error(self) -> AstraError:
        """Give the error a door shows to whoever was not allowed."""
        if self.verdict is Verdict.NEEDS_APPROVAL:
            return NeedsApproval(
                self.explanation, next_step=self.next_step, approval_id=self.approval_id
            )
        return Refused(self.explanation, next_step=self.next_step, code=str(self.reason))


def allow(explanation: str, reason: Reason = Reason.ALLOWED) -> Decision:
    return Decision(verdict=Verdict.ALLOW, reason=reason, explanation=explanation)


def deny(reason: Reason, explanation: str, next_step: str) -> Decision:
    return Decision(
        verdict=Verdict.DENY, reason=reason, explanation=explanation, next_step=next_step
    )
