"""After the operator's yes: the target's branch moves to exactly the commit that was approved.

The approval is used up and the task enabled in one batch; then the branch moves from the base to
the commit, or not at all; then the record says so. A crash in between is resumed by looking where
the branch is. A base that moved is never merged silently: the change is carried over to it, the
evidence gathered again, and the operator asked again. What cannot be carried over goes back to the
agent, and so does a change whose tests did not pass: nobody is asked for it, unless the operator
wants to be.
"""

from dataclasses import dataclass

from astra.trusted.approvals import desk
from astra.trusted.changes import events, policy, tasks, verdicts
from astra.trusted.changes.admission import NotAdmitted
from astra.trusted.changes.model import Change, State
from astra.trusted.changes.ports import Commit
from astra.trusted.changes.rebase import carry_over
from astra.trusted.changes.review import Review
from astra.trusted.changes.workbench import Workbench, commit_message, facts
from astra.trusted.ledger.record import Event

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
            self._return(change, failure)
        elif self.bench.repo.head() != change.base:
            self._carry_over(change)
        elif not self._under_these_rules(change):
            self._admit_anew(change)
        else:
            approval = self.review.ask(identifier)
            self.bench.show_waiting()
            self._by_policy(identifier, approval)

    def _return(self, change: Change, failure: str) -> None:
        """Give a change back to the agent, with the failures; once is enough."""
        if change.state is State.TESTS_FAILED:
            return
        why = f"its tests did not pass ({failure}): {verdicts.reason(change)}"
        self.bench.append(change, events.returned(change, failure, why, verdicts.failures(change)))
        if change.approval:
            self.bench.desk.go_stale(change.approval, why)
        self.bench.show_waiting()

    def _by_policy(self, identifier: str, approval: str) -> None:
        """Approve by the operator's signed policy, where it covers a change without a blemish."""
        change = self.bench.book.get(identifier)
        if policy.objection(change, self.bench.configuration().target, now=self.bench.clock.now()):
            return
        if not self.bench.ledger_is_whole():
            return
        sha256 = self.review.parts(change)["configuration"]
        terms = {"policy": "target.auto_approve_paths", "configuration": sha256}
        self.bench.append(
            change,
            events.approved(change, approval, terms),
            tasks.enabled(change.task, approval=approval, correlation=change.correlation),
        )
        self.bench.desk.go_stale(approval, "the operator's signed policy approved it")
        self.merge(identifier)

    def execute(self, approval_id: str) -> None:
        """Act on an approval, once it is proven that it holds for exactly what is there now."""
        change = self.bench.book.of_approval(approval_id)
        if change.state is not State.GRANTED or change.approval != approval_id:
            return
        self.bench.require_open()
        if objection := self._objection(change, approval_id):
            self.bench.desk.go_stale(approval_id, objection)
            return
        terms = self.bench.desk.terms(approval_id)
        self.bench.append(
            change,
            events.approved(change, approval_id, terms),
            desk.spent(approval_id, actor=events.DAEMON, correlation=change.correlation),
            tasks.enabled(change.task, approval=approval_id, correlation=change.correlation),
        )
        self.merge(change.id)

    def merge(self, identifier: str) -> None:
        """Move the target's branch to the approved commit; doing it again changes nothing."""
        change = self.bench.book.get(identifier)
        if change.state is not State.APPROVED:
            return
        self.bench.require_open()
        repo = self.bench.repo
        if not repo.is_merged(change.commit) and not repo.fast_forward(
            expected=change.base, to=change.commit
        ):
            self._carry_over(change)
            return
        self.bench.append(
            change,
            events.executed(change),
            tasks.finished(change.task, outcome="executed", correlation=change.correlation),
        )
        self.bench.show_waiting()

    def roll_back(self, identifier: str, reason: str, *, actor: str) -> None:
        """Record that what a change brought was taken back; the deployment does the taking."""
        change = self.bench.book.get(identifier)
        self.bench.append(change, events.rolled_back(change, reason, actor=actor))

    def _under_these_rules(self, change: Change) -> bool:
        rules = self.bench.rules_digest()
        return change.facts.get("rules", rules) == rules

    def _objection(self, change: Change, approval_id: str) -> str:
        if not self.bench.desk.stands(approval_id):
            return "it does not carry the operator's signature, or its time was over"
        if self.bench.repo.head() != change.base:
            return f"the base moved: {change.facts['target_branch']} is not at {change.base[:12]}"
        if moved := self.review.moved(change, self.bench.desk.get(approval_id)):
            return moved
        if not self._under_these_rules(change):
            return "the signed rules for the target changed since its evidence was gathered"
        return self._unsigned(change, approval_id)

    def _unsigned(self, change: Change, approval_id: str) -> str:
        """Say what the operator would have had to sign for besides yes, and did not."""
        if blocked := self.review.blocked_by(change):
            return f"the operator blocks on {', '.join(blocked)}"
        terms = self.bench.desk.terms(approval_id)
        if self.bench.test_failure(change) != terms.get(verdicts.DESPITE_TESTS, ""):
            return "its tests did not pass, and the operator did not sign for exactly that"
        consent = terms.get("consent", ())
        missing = set(change.facts["protected"]) - set(consent)
        return "the consent to a protected path is missing" if missing else ""

    def _carry_over(self, change: Change) -> None:
        """Begin a new round on the base as it is now, or send the change back with the facts."""
        repo, head = self.bench.repo, self.bench.repo.head()
        files = repo.differences(change.base, change.commit)
        carried = carry_over(repo, change=files, old=change.base, new=head)
        if carried.conflicts:
            self._conflict(change, head, list(carried.conflicts), "both sides changed these files")
            return
        commit = repo.commit(
            base=head,
            result=carried.result,
            message=commit_message(change.about["reason"], change.id),
            when=self.bench.clock.now(),
        )
        files = repo.differences(head, commit.id)
        try:
            admitted = self.bench.admitted(files, head)
        except NotAdmitted as error:
            self._conflict(change, head, [], f"on the new base: {error.detail}")
            return
        found = facts(
            self.bench,
            identifier=change.id,
            base=head,
            commit=commit,
            files=files,
            admitted=admitted,
        )
        self._withdraw(change, events.rebased(change, found))
        repo.place(change.id, commit.id)

    def _admit_anew(self, change: Change) -> None:
        """Put a change before the rules that were signed since, and gather its evidence again."""
        files = self.bench.repo.differences(change.base, change.commit)
        try:
            admitted = self.bench.admitted(files, change.base)
        except NotAdmitted as error:
            why = f"under the rules signed since: {error.detail}"
            self._conflict(change, change.base, [], why)
            return
        found = facts(
            self.bench,
            identifier=change.id,
            base=change.base,
            commit=Commit(id=change.commit, tree=change.facts["tree"]),
            files=files,
            admitted=admitted,
        )
        event = events.renewed(change, actor=events.DAEMON, facts=found)
        self._withdraw(change, event, why="the signed rules for the target changed")

    def _conflict(self, change: Change, onto: str, paths: list[str], why: str) -> None:
        self._withdraw(change, events.conflicted(change, onto=onto, paths=paths, why=why))
        self.bench.show_waiting()

    def _withdraw(self, change: Change, event: Event, why: str = "the base moved") -> None:
        others = []
        if change.state is State.APPROVED:
            reason = f"{why} before the branch could"
            others = [tasks.disabled(change.task, reason=reason, correlation=change.correlation)]
        self.bench.append(change, event, *others)
        waiting = change.approval and change.state in {State.AWAITING, State.GRANTED}
        if waiting and self.bench.desk.get(str(change.approval)).state in {"pending", "approved"}:
            self.bench.desk.go_stale(str(change.approval), why)
