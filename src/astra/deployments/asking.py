"""An agent's request to deploy: what it would put into service, and what keeps it from that.

The agent hears every obstacle as an answer that says who has to do what. Edits that lie around in
its clone are not deployed behind a reviewer's back: they become a change first, and take the path
of every other. What would be deployed is named exactly, so that the operator's one-time approval
of the call holds for that commit and no other.
"""

from collections.abc import Callable
from dataclasses import dataclass

from astra.changes.proposing import Proposal
from astra.changes.service import Changes
from astra.deployments import views
from astra.deployments.ports import Verdict
from astra.deployments.requests import Requests
from astra.trusted.changes.model import OPEN, Change
from astra.trusted.changes.ports import Imported
from astra.trusted.kernel.errors import Conflict
from astra.trusted.kernel.text import quote_text

_SHORT = 12
_NO_MESSAGE = "edits in the work tree of the clone"


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """Why nothing is deployed, and what to do; `person` says that a person has to decide."""

    code: str
    reason: str
    next_step: str
    change: str = ""
    person: bool = False


@dataclass(frozen=True, kw_only=True)
class AgentRequests:
    changes: Changes
    requests: Requests
    person_for_tests: Callable[[], bool]

    def name_target(self) -> str:
        """Name exactly what a request would deploy now."""
        return _name_commit(self.requests.approved.may_deploy(None))

    def describe_target(self) -> str:
        """Say in words what a request would deploy now: the newest change in it, and its commit."""
        commit = self.requests.approved.may_deploy(None).commit
        change = self.changes.book.find_by_commit(commit)
        reason = quote_text(change.purpose) if change else "the target as it came"
        return f"deploy {reason}, commit {commit[:_SHORT]}"

    def judge_target(self, expected: str) -> Verdict:
        """Judge what would be deployed; it has to be what the approval of the call named."""
        verdict = self.requests.approved.may_deploy(None)
        if _name_commit(verdict) != expected:
            raise Conflict(
                "the target's branch moved while you asked",
                code="branch_moved",
                next_step="call it again; the operator is asked about what is there now",
            )
        return verdict

    def find_obstacle(
        self, verdict: Verdict, message: str, *, actor: str, correlation: str
    ) -> Obstacle | None:
        """Find what keeps a verdict's commit from being deployed; loose edits come first."""
        return (
            self._propose_loose_edits(message, actor, correlation)
            or self._tests_wait()
            or self._check_quarantine(verdict)
            or _obstacle_from_verdict(verdict)
        )

    def _propose_loose_edits(self, message: str, actor: str, correlation: str) -> Obstacle | None:
        proposals = self.changes.proposals
        loose_edits = proposals.loose_edits(actor=actor, correlation=correlation)
        if loose_edits is None:
            return None
        change = self._open_change_of(loose_edits) or proposals.propose(
            Proposal(reason=message.strip() or _NO_MESSAGE, loose=loose_edits),
            actor=actor,
            correlation=correlation,
        )
        return Obstacle(
            code="loose_edits",
            reason=f"your clone has edits that are in no commit; they are {change.id} now, which"
            f" is {str(change.state).replace('_', ' ')}",
            next_step="wait until an operator has decided (astra.changes.get shows what they say;"
            f" `astra changes approve {change.id} --deploy` merges and deploys it), or undo the"
            " edits and call again",
            change=change.id,
            person=True,
        )

    def _open_change_of(self, found: Imported) -> Change | None:
        """Give the change that these very edits have become already."""
        for state in sorted(OPEN):
            for change in self.changes.book.list_page(state=state, limit=100)[0]:
                source: dict[str, str] = change.about["source"] or {}
                if source.get("tip") == found.tip:
                    return change
        return None

    def _tests_wait(self) -> Obstacle | None:
        waiting_changes = (
            self.changes.book.list_waiting_test_changes() if self.person_for_tests() else []
        )
        if not waiting_changes:
            return None
        return Obstacle(
            code="human_approval_required",
            reason=f"{waiting_changes[0]} changes tests, and no person has decided on it yet",
            next_step=f"wait for an operator: astra changes show {waiting_changes[0]}",
            change=waiting_changes[0],
            person=True,
        )

    def _check_quarantine(self, verdict: Verdict) -> Obstacle | None:
        why = views.quarantine_reason(self.requests.ledger, verdict.commit)
        if not why:
            return _check_contained(verdict)
        return Obstacle(
            code="quarantined",
            reason=f"{verdict.commit[:12]} was deployed before and failed: {why}",
            next_step="propose a change that mends it; only an operator can insist",
            change=verdict.change,
        )


def _check_contained(verdict: Verdict) -> Obstacle | None:
    """Say that what failed before is still inside of what would be deployed."""
    unnamed = [commit for commit in verdict.contains if commit not in verdict.despite]
    if not unnamed:
        return None
    return Obstacle(
        code="contains_quarantined",
        reason=f"{verdict.commit[:12]} still contains {unnamed[0][:12]}, which failed in service",
        next_step="propose a change that takes it back; only an operator can insist",
        change=verdict.change,
    )


def _obstacle_from_verdict(verdict: Verdict) -> Obstacle | None:
    if verdict.allowed:
        return None
    return Obstacle(
        code=verdict.code or "not_approved",
        reason=verdict.reason or "this commit is not approved",
        next_step=verdict.next_step or "astra approvals",
        change=verdict.change,
        person=verdict.human_approval_required,
    )


def _name_commit(verdict: Verdict) -> str:
    return f"commit {verdict.commit}, {verdict.digest}"
