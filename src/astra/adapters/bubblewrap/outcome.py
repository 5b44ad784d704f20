"""How a run ended: a closed vocabulary, and in words why."""

from dataclasses import dataclass
from enum import StrEnum

from astra.adapters.egress_proxy import NO_EGRESS, EgressSummary
from astra.kernel.errors import AstraError


class Verdict(StrEnum):
    NEVER_RAN = "never_ran"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    KILLED_BY_LIMIT = "killed_by_limit"
    STOPPED_BY_OPERATOR = "stopped_by_operator"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    verdict: Verdict
    reason: str
    next_step: str = ""
    code: str = ""
    exit_code: int | None = None
    limit: str | None = None
    seconds: float = 0.0
    stdout: bytes = b""
    stderr: bytes = b""
    egress: EgressSummary = NO_EGRESS

    @property
    def succeeded(self) -> bool:
        return self.verdict is Verdict.SUCCEEDED


def never_ran(error: AstraError) -> Outcome:
    return Outcome(
        verdict=Verdict.NEVER_RAN,
        reason=error.detail,
        next_step=error.next_step,
        code=error.reason,
    )
