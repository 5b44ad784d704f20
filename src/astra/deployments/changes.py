"""What a change and its deployment owe each other.

A merged change is judged here before it may be deployed; one whose approval included the deploy is
deployed by itself; and when the live release moves, the changes that it put out of service or back
into it say so. A commit that no change
brought is the operator's own: it came with the target, and only the operator's order deploys it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from astra.changes.service import Changes
from astra.deployments import events, views
from astra.deployments.ports import Verdict
from astra.deployments.views import Deployment, Release
from astra.trusted.changes import merge_permissions, quarantine
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.changes.model import MERGED, Change, State
from astra.trusted.changes.review import digest_parts
from astra.trusted.kernel.errors import AstraError, Conflict, Refused
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
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
            self.changes.book.find_by_commit(head)
            if change is None
            else self._require_merged(change, head)
        )
        inside = quarantine.find_contained(bench.repo, head, bench.quarantined())
        if change_at_head is None:
            verdict = Verdict(commit=head, digest=f"git:{head}", allowed=True, tests_passed=False)
            return replace(verdict, contains=inside)
        return replace(
            self._judge_change(change_at_head),
            contains=inside,
            despite=quarantine.read_accepted(change_at_head.terms),
        )

    def _require_merged(self, identifier: str, head: str) -> Change:
        change = self.changes.book.get(identifier)
        if change.state not in MERGED:
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

    def _judge_change(self, change: Change) -> Verdict:
        tests = change.tests["verdict"] if change.tests else "missing"
        facts: dict[str, Any] = {
            "commit": change.commit,
            "change": change.id,
            "digest": digest_parts(self.changes.review.collect_parts(change)),
            "tests_passed": tests == TestVerdict.PASSED,
        }
        if self.tests_required() and not facts["tests_passed"]:
            return Verdict(
                **facts,
                allowed=False,
                code="tests_missing",
                reason=f"the tests of {change.id} did not pass ({tests})",
                next_step="propose a change whose tests pass; an operator can insist with"
                " `astra deploy --force`, or sign [deploy] require_tests = false",
            )
        if moved_reason := self._describe_drift(change):
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

    def _describe_drift(self, change: Change) -> str:
        """Say what is not as it was approved; a policy's approval never reaches this far."""
        if "policy" in change.terms or not change.approved_by:
            return "no person has looked at it: a policy approved it"
        if objection := self._find_permission_objection(change):
            return objection
        return self.changes.review.describe_difference(
            change, self.changes.bench.desk.get(change.approved_by)
        )

    def _find_permission_objection(self, change: Change) -> str:
        """Say why a standing permission does not deploy the change that it merged, or nothing."""
        if merge_permissions.TERM not in change.terms:
            return ""
        bench = self.changes.bench
        if not change.terms.get("deploy"):
            return "no person has looked at it: a standing permission merged it"
        objection = merge_permissions.find_use_objection(
            bench.ledger, change, now=bench.clock.now()
        )
        return objection or bench.find_deploy_objection()


@dataclass(frozen=True)
class FailedChanges:
    """Names changes that went out of service and are still on the target's branch."""

    changes: Changes

    def find_taken_back(self, deployment: Deployment) -> str | None:
        """Name the change that a rollback took out of service and that the branch still holds."""
        bench = self.changes.bench
        commit = _find_commit_taken_back(bench.ledger, deployment)
        if commit and self._is_served(commit, deployment):
            return None  # going forward again takes nothing back
        change = self.changes.book.find_by_commit(commit) if commit else None
        in_branch = change is not None and quarantine.is_held(bench.repo, commit, bench.repo.head())
        return change.id if change and in_branch else None

    def _is_served(self, commit: str, deployment: Deployment) -> bool:
        """Tell whether what a rollback went to still holds what it replaced."""
        is_by_hand = deployment.kind == "rollback" and deployment.state != "rolled_back"
        live_commit = deployment.commit_id
        return is_by_hand and quarantine.is_held(self.changes.bench.repo, commit, live_commit)

    def list_contained(self, verdict: Verdict) -> list[str]:
        """Name the changes that brought what failed in service and is in what would be deployed."""
        quarantined = self.changes.bench.quarantined()
        failed = (*verdict.contains, *(c for c in quarantined if c == verdict.commit))
        changes = (self.changes.book.find_by_commit(commit) for commit in failed)
        return [change.id for change in changes if change is not None]


def _find_commit_taken_back(ledger: Ledger, deployment: Deployment) -> str:
    """Name the commit that a deployment ended by serving no longer, or nothing."""
    if deployment.state == "rolled_back":
        return deployment.commit_id
    replaced = deployment.replaced if deployment.kind == "rollback" else None
    release = views.release(ledger, replaced) if replaced else None
    return release.commit_id if release and release.commit_id != deployment.commit_id else ""


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

    def record_service(self, release: str, find_moved: Callable[[str], Iterable[str]]) -> None:
        """Say in the records of changes whether the live release still has what they brought.

        It looks at what is live now, so that it may run late, twice, or after a crash half way.
        """
        ledger = self.changes.bench.ledger
        live = views.live_release(ledger)
        data: dict[str, Any] = {
            "release": release,
            "due_for": release,
            "taken_out": [],
            "restored": [],
        }
        if live is not None:
            identifiers = list(find_moved(live.id))
            data["release"] = live.id
            data["taken_out"] = [item for item in identifiers if self._take_out(item, live)]
            data["restored"] = [item for item in identifiers if self._restore(item, live)]
        ledger.append([Event(type=events.CHANGES_SEEN, actor="daemon", data=data)])

    def _take_out(self, identifier: str, live: Release) -> bool:
        change, repo = self.changes.book.get(identifier), self.changes.bench.repo
        if change.state is not State.EXECUTED or repo.is_ancestor(change.commit, live.commit_id):
            return False
        self.changes.merges.roll_back(change.id, self._explain_rollback(change), actor="daemon")
        return True

    def _restore(self, identifier: str, live: Release) -> bool:
        """Record a return; what a later commit of the release undid has not returned."""
        change, repo = self.changes.book.get(identifier), self.changes.bench.repo
        if change.state is not State.ROLLED_BACK:
            return False
        if not quarantine.is_held(repo, change.commit, live.commit_id):
            return False
        self.changes.merges.restore(change.id, live.id, actor="daemon")
        return True

    def _explain_rollback(self, change: Change) -> str:
        """Say why it serves no more, by the newest deployment that went back."""
        bench = self.changes.bench
        if not views.went_back_by_itself(bench.ledger):
            return "an operator put a release from before it into service"
        if inside := quarantine.find_contained(bench.repo, change.commit, bench.quarantined()):
            return f"its release was taken back with {inside[0][:12]}, which failed before"
        return "its release failed in service and was taken back"
