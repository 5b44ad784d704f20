"""People's commits come into the trusted branch: looked at, listed, signed for, brought in.

What is signed is one move: from this commit of the trusted branch to exactly that commit, with the
files and the configuration of now. Whatever moves meanwhile makes the request stale. The move is
made by compare and swap and recorded after it; a crash in between is resumed by looking where the
branch is. Changes that wait are then asked for again, which carries them over and tests them again.
"""

import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from astra.trusted.approvals import desk
from astra.trusted.approvals.desk import Approval
from astra.trusted.changes.model import State
from astra.trusted.changes.review import tree_digest
from astra.trusted.changes.workbench import Workbench
from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import BadInput, Conflict, Refused
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.text import printable
from astra.trusted.ledger.record import Event
from astra.trusted.policy.paths import quote
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.upstream import incoming as looking
from astra.trusted.upstream import policy
from astra.trusted.upstream.examination import Examination
from astra.trusted.upstream.incoming import MERGE, Incoming
from astra.trusted.upstream.ports import UpstreamRepo

KIND, SUBJECT, MERGED = "sync", "upstream", "upstream_merged"
UP_TO_DATE, AWAITING, BROUGHT_IN, DIVERGED = "up_to_date", "awaiting_approval", "merged", "diverged"
STEP = "bring-in"
"""What falls due once a request is granted."""
_DAEMON = "daemon"
_PAGE = 100
_NOTHING: dict[str, Any] = {"incoming": [], "incoming_total": 0, "approval_id": None}


@dataclass(frozen=True, kw_only=True)
class Sync:
    bench: Workbench
    upstream: UpstreamRepo
    stopped: Callable[[], bool]
    secrets: Callable[[], SecretRules]
    after: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """Whoever follows the trusted branch, told after each move."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def look(self) -> dict[str, Any]:
        """Fetch the upstream, look at what would come in, and ask for it."""
        with self._lock:
            self._require_running()
            self.upstream.fetch()
            return {"upstream": self.upstream.address, **self._compare()}

    def show(self) -> dict[str, Any]:
        """Say how the upstream stood to the trusted branch when it was last fetched."""
        head, tip = self.bench.repo.head(), self.upstream.tip()
        if tip is None or self.bench.repo.is_ancestor(tip, head):
            comparison = {"state": UP_TO_DATE, "head": head, "tip": tip, **_NOTHING}
        elif request := self._find_request(head, tip):
            comparison = self._show_request(request)
        else:
            diverged = self.upstream.merge_base(head, tip) != head
            comparison = self._show_commits(head, tip, DIVERGED if diverged else AWAITING)
        return {"upstream": self.upstream.address, **comparison}

    def _compare(self) -> dict[str, Any]:
        head, tip = self.bench.repo.head(), self.upstream.tip()
        if tip is None or self.bench.repo.is_ancestor(tip, head):
            self._resume_move(head)
            self._withdraw_requests("the upstream has nothing new")
            return {"state": UP_TO_DATE, "head": head, "tip": tip, **_NOTHING}
        if request := self._find_request(head, tip):
            return self._show_request(request)
        return self._ask(head, tip)

    def _ask(self, head: str, tip: str) -> dict[str, Any]:
        """Work out the move, look at it, and ask for it; or let a signed policy make it."""
        examination = Examination(
            bench=self.bench,
            upstream=self.upstream,
            secrets=self.secrets(),
            last_tip=self._last_tip(),
        )
        incoming, conflicts = examination.examine_part(head=head, tip=tip)
        if incoming is None:
            self._withdraw_requests("the histories diverged and cannot be merged by themselves")
            return self._show_commits(head, tip, DIVERGED, conflicts)
        self.upstream.keep(incoming.result)
        approval = self._request(incoming, tip)
        if self._is_covered_by_policy(incoming):
            self._make_move(incoming.head, incoming.result, self._describe_policy_move(incoming))
            self.bench.desk.go_stale(approval, "the operator's signed policy brought it in")
            return {**self._show_request(approval), "state": BROUGHT_IN, "approval_id": None}
        return self._show_request(approval)

    # Asking

    def _request(self, incoming: Incoming, upstream_tip: str) -> str:
        parts = self._collect_parts(incoming.head, incoming.tip, incoming.result)
        self._withdraw_requests("the upstream or the branch moved")
        return self.bench.desk.ask(
            kind=KIND,
            subject_id=SUBJECT,
            digest=digest_parts(parts),
            summary=incoming.summarize(self.bench.repo.branch),
            details={
                "parts": parts,
                "upstream": self.upstream.address,
                "upstream_tip": upstream_tip,
                "branch": self.bench.repo.branch,
                **incoming.describe(),
            },
            actor=_DAEMON,
            correlation=random_id("cor"),
        )

    def _collect_parts(self, head: str, tip: str, result: str) -> dict[str, str]:
        """Name everything that a signature under a move binds."""
        configuration = self.bench.configuration_text().encode()
        return {
            "head": head,
            "tip": tip,
            "result": result,
            "tree": tree_digest(self.upstream.repo.tree(result)),
            "configuration": hashlib.sha256(configuration).hexdigest(),
        }

    def _find_request(self, head: str, tip: str) -> str | None:
        """Find the request that waits for exactly this move under the configuration of now."""
        for approval in self._list_open_requests():
            details = self.bench.desk.details(approval.id)["details"]
            parts, upstream_tip = details["parts"], details.get("upstream_tip")
            if (parts["head"], upstream_tip or parts["tip"]) != (head, tip):
                continue
            in_time = self.bench.desk.in_time(approval)
            if in_time and parts == self._collect_parts(head, parts["tip"], parts["result"]):
                return approval.id
        return None

    def _list_open_requests(self) -> list[Approval]:
        return self.bench.desk.list_for_subject(KIND, SUBJECT, "pending", "approved")

    def _parts_of(self, approval: Approval) -> dict[str, str]:
        return self.bench.desk.details(approval.id)["details"]["parts"]

    def _withdraw_requests(self, why: str) -> None:
        for approval in self.bench.desk.list_for_subject(KIND, SUBJECT, "pending"):
            self.bench.desk.go_stale(approval.id, why)

    def _show_request(self, approval: str) -> dict[str, Any]:
        details = self.bench.desk.details(approval)["details"]
        parts = details["parts"]
        diverged = details["how"] == MERGE
        return {
            "state": DIVERGED if diverged else AWAITING,
            "head": parts["head"],
            "tip": parts["tip"],
            "approval_id": approval,
            "conflicts": [],
            **{name: value for name, value in details.items() if name not in {"parts", "branch"}},
        }

    def _show_commits(
        self, head: str, tip: str, state: str, conflicts: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        commits = self.upstream.list_commits(behind=head, tip=tip, most=looking.MOST_COMMITS)
        return {
            "state": state,
            "head": head,
            "tip": tip,
            "approval_id": None,
            "incoming": [commit.as_dict() for commit in commits],
            "incoming_total": self.upstream.count_commits(behind=head, tip=tip),
            "conflicts": [printable(path) for path in conflicts],
        }

    # Deciding

    def check_terms(self, approval: Approval, terms: Mapping[str, Any]) -> None:
        """Refuse a yes to a move that cannot be made any more, or without its consents."""
        if difference := self._describe_difference(approval):
            self.bench.desk.go_stale(approval.id, difference)
            raise Conflict(f"{difference}", code="stale_approval", next_step="astra sync")
        details = self.bench.desk.details(approval.id)["details"]
        consent = {str(path) for path in terms.get("consent", ())}
        if unknown := sorted(consent - set(details["protected"])):
            raise BadInput(
                f"{quote(unknown[0])} is not a protected path of these commits",
                next_step=f"astra approvals show {approval.id}",
            )
        if unconsented := [path for path in details["protected"] if path not in consent]:
            options = " ".join(f"--consent {path}" for path in details["protected"])
            raise Refused(
                f"these commits touch protected paths: {', '.join(map(quote, unconsented))}",
                code="consent_missing",
                next_step=f"look at them, then: astra approve {approval.id} {printable(options)}",
                paths=unconsented,
            )

    def execute(self, approval_id: str) -> None:
        """Make the move that was signed for; doing it again changes nothing."""
        with self._lock:
            approval = self.bench.desk.get(approval_id)
            if approval.state != "approved" or self.stopped():
                return
            parts = self._parts_of(approval)
            was_signed = self.bench.desk.was_signed(approval_id)
            moved_already = was_signed and self.bench.repo.head() == parts["result"]
            if not moved_already and (objection := self._find_objection(approval)):
                self.bench.desk.go_stale(approval_id, objection)
                return
            details = self.bench.desk.details(approval_id)
            move = {
                "how": details["details"]["how"],
                "commits": details["details"]["incoming_total"],
                "tip": parts["tip"],
                "approval": approval_id,
            }
            used = desk.build_used_event(
                approval_id, actor=_DAEMON, correlation=details["correlation"]
            )
            self._make_move(parts["head"], parts["result"], move, used)

    def _find_objection(self, approval: Approval) -> str:
        if not self.bench.desk.stands(approval.id):
            return "it does not carry the operator's signature, or its time was over"
        return self._describe_difference(approval)

    def _describe_difference(self, approval: Approval) -> str:
        """Say what is not the same any more as when the request was made, or nothing."""
        parts, head = self._parts_of(approval), self.bench.repo.head()
        if parts["head"] != head:
            return f"{self.bench.repo.branch} moved on to {head[:12]} since this was asked for"
        now = self._collect_parts(head, parts["tip"], parts["result"])
        if digest_parts(now) != approval.digest:
            return "the files or the signed configuration changed since this was asked for"
        return ""

    def _make_move(self, head: str, result: str, move: Mapping[str, Any], *events: Event) -> None:
        repo = self.bench.repo
        self.upstream.bring_in(result)
        if not repo.is_merged(result) and not repo.fast_forward(expected=head, to=result):
            raise Conflict(
                f"{repo.branch} moved while the upstream's commits came in",
                code="branch_moved",
                next_step="astra sync",
            )
        data = {"from": head, "commit": result, **move}
        merged = Event(
            type=MERGED, actor=_DAEMON, data=data, subject=SUBJECT, key=f"upstream:{result}"
        )
        self.bench.ledger.append([merged, *events])
        self._ask_again_for_changes()
        for follow in self.after:
            follow()

    def _resume_move(self, head: str) -> None:
        """Record a move that a policy made and whose record a crash prevented."""
        for approval in self.bench.desk.list_for_subject(KIND, SUBJECT, "pending"):
            parts = self._parts_of(approval)
            if parts["result"] == head:
                move = {"tip": parts["tip"], "policy": "resumed after a crash"}
                self._make_move(parts["head"], head, move)

    def _ask_again_for_changes(self) -> None:
        """Have the changes that wait carried over to the new base and tested again."""
        changes, _ = self.bench.book.list_page(state=State.AWAITING, limit=_PAGE)
        for change in changes:
            if change.approval:
                why = "the base moved: commits of the upstream came in"
                self.bench.desk.go_stale(change.approval, why)

    def _is_covered_by_policy(self, incoming: Incoming) -> bool:
        objection = policy.find_objection(
            incoming,
            self.bench.configuration().target.sync,
            verify=self.upstream.all_signed_by,
            now=self.bench.clock.now(),
        )
        return not objection and self.bench.ledger_is_whole()

    def _describe_policy_move(self, incoming: Incoming) -> dict[str, Any]:
        accept = self.bench.configuration().target.sync.accept
        configuration = hashlib.sha256(self.bench.configuration_text().encode()).hexdigest()
        return {
            "how": incoming.how,
            "commits": incoming.total,
            "tip": incoming.tip,
            "policy": f"target.sync.accept = {accept}",
            "configuration": configuration,
        }

    def _last_tip(self) -> str:
        """Name the upstream's commit that was brought in last."""
        record = self.bench.ledger.newest(MERGED)
        return str(record.data["tip"]) if record else ""

    def _require_running(self) -> None:
        if self.stopped():
            raise Refused(
                "all work is stopped",
                code="stopped",
                next_step="only an operator can start work again, with `astra start`",
            )


def digest_parts(parts: Mapping[str, str]) -> str:
    return hashlib.sha256(canonical.encode({"kind": KIND, **parts})).hexdigest()
