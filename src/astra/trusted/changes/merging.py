"""After the operator's yes: the target's branch moves to exactly the commit that was approved.

The approval is used up and the task enabled in one batch; then the branch moves from the base to
the commit, or not at all; then the record says so. A crash in between is resumed by looking where
the branch is. A base that moved is never merged silently: the change is carried over to it, the
evidence gathered again, and the operator asked again. What cannot be carried over goes back to the
agent, and so does a change whose tests did not pass: nobody is asked for it, unless the operator
wants to be.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from astra.trusted.approvals import desk
from astra.trusted.changes import (
    events,
    merge_permissions,
    permission_checks,
    policy,
    tasks,
    verdicts,
)
from astra.trusted.changes.admission import NotAdmitted
from astra.trusted.changes.merge_permissions import MergePermission
from astra.trusted.changes.model import Change, State
from astra.trusted.changes.ports import Commit
from astra.trusted.changes.rebase import carry_over
from astra.trusted.changes.review import Review
from astra.trusted.changes.workbench import Workbench, commit_message, describe_commit
from astra.trusted.kernel.errors import Conflict
from astra.trusted.ledger.record import Event

_TRIES = 5
_CAN_BE_ASKED = frozenset({State.GATHERING, State.AWAITING, State.TESTS_FAILED})


@dataclass(frozen=True)
class Merges:
    bench: Workbench

    @property
    def review(self) -> Review:
        return Review(self.bench)

    def ask(self, identifier: str, *, despite_tests: bool = False) -> None:
        """Ask for the decision, on the newest base; what failed its tests goes back instead."""
        change = self.bench.book.get(identifier)
        if change.state not in _CAN_BE_ASKED or change.tests is None:
            return
        self.bench.require_open()
        failure = self.bench.test_failure(change)
        if failure and not despite_tests:
            self._return_to_agent(change, failure)
        elif self.bench.repo.head() != change.base:
            self._carry_over(change)
        elif not self._has_current_rules(change):
            self._admit_anew(change)
        else:
            approval = self.review.ask(identifier)
            self.bench.show_waiting()
            if self.approve_by_permission(identifier, approval):
                self.merge(identifier)
            else:
                self._approve_by_policy(identifier, approval)

    def _return_to_agent(self, change: Change, failure: str) -> None:
        """Give a change back to the agent, with the failures; once is enough."""
        if change.state is State.TESTS_FAILED:
            return
        why = f"its tests did not pass ({failure}): {verdicts.reason(change)}"
        self.bench.append(change, events.returned(change, failure, why, verdicts.failures(change)))
        if change.approval:
            self.bench.desk.go_stale(change.approval, why)
        self.bench.show_waiting()

    def approve_by_permission(self, identifier: str, approval: str) -> bool:
        """Approve by a standing permission that covers the change; tell whether one did.

        Its use is counted in the same batch, on the version that was looked at, and the operator's
        own decision comes first.
        """
        for _ in range(_TRIES):
            approval_version = self.bench.ledger.version(approval)
            change = self.bench.book.get(identifier)
            if change.state is not State.AWAITING or change.approval != approval:
                return False
            permission = self._find_permission(change)
            if permission is None:
                return False
            versions = {approval: approval_version, permission.id: permission.version}
            try:
                self._record_use(change, approval, permission, versions)
            except Conflict:
                continue  # somebody decided, or used or took the permission back: look again
            return True
        return False

    def _record_use(
        self,
        change: Change,
        approval: str,
        permission: MergePermission,
        versions: Mapping[str, int],
    ) -> None:
        """Approve a change by a permission, count the use, and withdraw the request, together."""
        terms = {merge_permissions.TERM: permission.id, "deploy": permission.deploy}
        story, reason = change.correlation, f"the standing permission {permission.id} covers it"
        self.bench.append(
            change,
            events.approved(change, approval, terms),
            merge_permissions.build_used_event(permission, change),
            tasks.make_enabled_event(change.task, approval=approval, correlation=story),
            desk.build_stale_event(approval, reason, correlation=story),
            expect=versions,
        )

    def _find_permission(self, change: Change) -> MergePermission | None:
        """Give the first permission that covers a change as it is now, with all its conditions."""
        now = self.bench.clock.now()
        for permission in merge_permissions.list_usable(self.bench.ledger, now=now):
            if not permission_checks.find_objection(self.bench, change, permission):
                return permission if self.bench.ledger_is_whole() else None
        return None

    def _approve_by_policy(self, identifier: str, approval: str) -> None:
        """Approve by the operator's signed policy, where it covers a change without a blemish."""
        change = self.bench.book.get(identifier)
        if policy.find_objection(
            change, self.bench.configuration().target, now=self.bench.clock.now()
        ):
            return
        if not self.bench.ledger_is_whole():
            return
        sha256 = self.review.collect_parts(change)["configuration"]
        terms = {"policy": "target.auto_approve_paths", "configuration": sha256}
        self.bench.append(
            change,
            events.approved(change, approval, terms),
            tasks.make_enabled_event(
                change.task, approval=approval, correlation=change.correlation
            ),
        )
        self.bench.desk.go_stale(approval, "the operator's signed policy approved it")
        self.merge(identifier)

    def execute(self, approval_id: str) -> None:
        """Act on an approval, once it is proven that it holds for exactly what is there now."""
        change = self.bench.book.get_by_approval(approval_id)
        if change.state is not State.GRANTED or change.approval != approval_id:
            return
        self.bench.require_open()
        if objection := self._find_objection(change, approval_id):
            self.bench.desk.withdraw_granted(approval_id, objection)
            return
        terms = self.bench.desk.terms(approval_id)
        self.bench.append(
            change,
            events.approved(change, approval_id, terms),
            desk.build_used_event(approval_id, actor=events.DAEMON, correlation=change.correlation),
            tasks.make_enabled_event(
                change.task, approval=approval_id, correlation=change.correlation
            ),
        )
        self.merge(change.id)

    def merge(self, identifier: str) -> None:
        """Move the target's branch to the approved commit; doing it again changes nothing."""
        change = self.bench.book.get(identifier)
        if change.state is not State.APPROVED:
            return
        self.bench.require_open()
        repo = self.bench.repo
        if not repo.is_merged(change.commit):
            if objection := self._find_lost_permission(change):
                self._carry_over(change, why=objection)
                return
            if not repo.fast_forward(expected=change.base, to=change.commit):
                self._carry_over(change)
                return
        self.bench.append(
            change,
            events.executed(change),
            tasks.make_finished_event(
                change.task, outcome="executed", correlation=change.correlation
            ),
        )
        self.bench.show_waiting()

    def _find_lost_permission(self, change: Change) -> str:
        """Say why the permission that approved a change holds no more, or nothing."""
        if merge_permissions.TERM not in change.terms:
            return ""
        now = self.bench.clock.now()
        return merge_permissions.find_use_objection(self.bench.ledger, change, now=now)

    def roll_back(self, identifier: str, reason: str, *, actor: str) -> None:
        """Record that what a change brought was taken back; the deployment does the taking."""
        change = self.bench.book.get(identifier)
        self.bench.append(change, events.rolled_back(change, reason, actor=actor))

    def restore(self, identifier: str, release: str, *, actor: str) -> None:
        """Record that what a change brought serves again; the deployment put it there."""
        change = self.bench.book.get(identifier)
        self.bench.append(change, events.restored(change, release, actor=actor))

    def _has_current_rules(self, change: Change) -> bool:
        rules = self.bench.rules_digest()
        return change.facts.get("rules", rules) == rules

    def _find_objection(self, change: Change, approval_id: str) -> str:
        if not self.bench.desk.stands(approval_id):
            return "it does not carry the operator's signature, or its time was over"
        if self.bench.repo.head() != change.base:
            return f"the base moved: {change.facts['target_branch']} is not at {change.base[:12]}"
        if difference := self.review.describe_difference(change, self.bench.desk.get(approval_id)):
            return difference
        if not self._has_current_rules(change):
            return "the signed rules for the target changed since its evidence was gathered"
        return self._find_unsigned_term(change, approval_id)

    def _find_unsigned_term(self, change: Change, approval_id: str) -> str:
        """Say what the operator would have had to sign for besides yes, and did not."""
        if blocked := self.review.find_blocking_rules(change):
            return f"the operator blocks on {', '.join(blocked)}"
        terms = self.bench.desk.terms(approval_id)
        if self.bench.test_failure(change) != terms.get(verdicts.DESPITE_TESTS, ""):
            return "its tests did not pass, and the operator did not sign for exactly that"
        consent = terms.get("consent", ())
        unconsented_paths = set(change.facts["protected"]) - set(consent)
        return "the consent to a protected path is missing" if unconsented_paths else ""

    def _carry_over(self, change: Change, why: str = "the base moved") -> None:
        """Begin a new round on the base as it is now, or send the change back with the facts."""
        repo, head = self.bench.repo, self.bench.repo.head()
        files = repo.differences(change.base, change.commit)
        rebase_outcome = carry_over(repo, change=files, old=change.base, new=head)
        if rebase_outcome.conflicts:
            self._record_conflict(
                change, head, list(rebase_outcome.conflicts), "both sides changed these files"
            )
            return
        commit = repo.commit(
            base=head,
            result=rebase_outcome.result,
            message=commit_message(change.about["reason"], change.id),
            when=self.bench.clock.now(),
        )
        files = repo.differences(head, commit.id)
        try:
            admitted = self.bench.admit_files(files, head)
        except NotAdmitted as error:
            self._record_conflict(change, head, [], f"on the new base: {error.detail}")
            return
        new_facts = describe_commit(
            self.bench,
            identifier=change.id,
            base=head,
            commit=commit,
            files=files,
            admitted=admitted,
        )
        self._withdraw_approval(change, events.rebased(change, new_facts), why=why)
        repo.set_change_branch(change.id, commit.id)

    def _admit_anew(self, change: Change) -> None:
        """Put a change before the rules that were signed since, and gather its evidence again."""
        files = self.bench.repo.differences(change.base, change.commit)
        try:
            admitted = self.bench.admit_files(files, change.base)
        except NotAdmitted as error:
            why = f"under the rules signed since: {error.detail}"
            self._record_conflict(change, change.base, [], why)
            return
        new_facts = describe_commit(
            self.bench,
            identifier=change.id,
            base=change.base,
            commit=Commit(id=change.commit, tree=change.facts["tree"]),
            files=files,
            admitted=admitted,
        )
        event = events.renewed(change, actor=events.DAEMON, facts=new_facts)
        self._withdraw_approval(change, event, why="the signed rules for the target changed")

    def _record_conflict(self, change: Change, onto: str, paths: list[str], why: str) -> None:
        self._withdraw_approval(change, events.conflicted(change, onto=onto, paths=paths, why=why))
        self.bench.show_waiting()

    def _withdraw_approval(self, change: Change, event: Event, why: str = "the base moved") -> None:
        task_events = []
        if change.state is State.APPROVED:
            reason = f"{why} before the branch could"
            task_events = [
                tasks.make_disabled_event(
                    change.task, reason=reason, correlation=change.correlation
                )
            ]
        self.bench.append(change, event, *task_events)
        approval_is_open = change.approval and change.state in {State.AWAITING, State.GRANTED}
        if approval_is_open and self.bench.desk.get(str(change.approval)).state in {
            "pending",
            "approved",
        }:
            self.bench.desk.go_stale(str(change.approval), why)
