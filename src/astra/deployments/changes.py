"""What a change and its deployment owe each other.

A merged change is judged here before it may be deployed; one whose approval included the deploy is
deployed by itself; and when a release is taken back, its change says so. A commit that no change
brought is the operator's own: it came with the target, and only the operator's order deploys it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from astra.changes.service import Changes
from astra.deployments import events
from astra.deployments.ports import Verdict
from astra.trusted.changes import quarantine
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.changes.model import Change, State
from astra.trusted.changes.review import digest
from astra.trusted.kernel.errors import AstraError, Conflict, Refused
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.record import Event


@dataclass(frozen=True, kw_only=True)
class ApprovedChanges:
    """Judges the newest commit of the target's branch, by the change that brought it."""

    changes: Changes
    tests_required: Callable[[], bool]

    def may_deploy(self, change: str | None) -> Verdict:
        bench = self.changes.bench
        head = bench.repo.head()
        change_at_head = (
            self.changes.book.of_commit(head) if change is None else self._merged(change, head)
        )
        inside = quarantine.contained(bench.repo, head, bench.quarantined())
        if change_at_head is None:
            verdict = Verdict(commit=head, digest=f"git:{head}", allowed=True, tests_passed=False)
            return replace(verdict, contains=inside)
        return replace(
            self._judge(change_at_head),
            contains=inside,
            despite=quarantine.named_in(change_at_head.terms),
        )

    def _merged(self, identifier: str, head: str) -> Change:
        change = self.changes.book.get(identifier)
        if change.state is not State.EXECUTED:
            raise Refused(
                f"{change.id} is {change.state}, not on the branch",
                code="not_merged",
                next_step=f"astra changes show {change.id}",
            )
        if change.commit != head:
            raise Refused(
                f"the branch has moved on since {change.id}",
                code="not_newest",
                next_step="deploy without --change, or go back with `astra rollback`",
            )
        return change

    def _judge(self, change: Change) -> Verdict:
        tests = change.tests["verdict"] if change.tests else "missing"
        facts: dict[str, Any] = {
            "commit": change.commit,
            "change": change.id,
            "digest": digest(self.changes.review.parts(change)),
            "tests_passed": tests == TestVerdict.PASSED,
        }
        if self.tests_required() and not facts["tests_passed"]:
            return Verdict(
                **facts,
                allowed=False,
                code="tests_missing",
                reason=f"the tests of {change.id} did not pass ({tests})",
                next_step="propose a change whose tests pass; an operator can insist with"
                " `astra deploy --force`",
            )
        if moved_reason := self._moved(change):
            return Verdict(
                **facts,
                allowed=False,
                stale=True,
                human_approval_required=True,
                code="stale_approval",
                reason=f"since {change.id} was approved, {moved_reason}",
                next_step="an operator deploys it with `astra deploy`",
            )
        return Verdict(**facts, allowed=True)

    def _moved(self, change: Change) -> str:
        """Say what is not as it was approved; a policy's approval never reaches this far."""
        if "policy" in change.terms or not change.approved_by:
            return "no person has looked at it: a policy approved it"
        return self.changes.review.moved(change, self.changes.bench.desk.get(change.approved_by))


@dataclass(frozen=True, kw_only=True)
class AfterChanges:
    """The steps that follow from a change and a deployment together."""

    changes: Changes
    deploy: Callable[[str, str], Any]
    """Has a change deployed, in its story."""

    def deploy_approved(self, identifier: str) -> None:
        """Deploy a change whose approval included that; what may not be deployed says why."""
        change = self.changes.book.get(identifier)
        try:
            self.deploy(change.id, change.correlation)
        except Conflict:
            raise  # another deployment is under way: this one comes after it
        except AstraError as error:
            data = {"change": change.id, "code": error.reason, "reason": one_line(error.detail)}
            event = Event(
                type=events.DECLINED, actor="daemon", data=data, correlation=change.correlation
            )
            self.changes.bench.ledger.append([event])

    def record_rollback(self, identifier: str) -> None:
        """Say in a change's own record that what it brought was taken back."""
        change = self.changes.book.get(identifier)
        if change.state is State.EXECUTED:
            reason = "its release failed in service and was taken back"
            self.changes.merges.roll_back(change.id, reason, actor="daemon")
