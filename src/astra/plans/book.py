"""The book of plans: draft, decide, revise. What an approval starts is derived from it.

A plan is drafted by a model or given as a document; either way the server checks it. Asking for
the operator's decision, acting on it and writing the files that show it are steps that follow from
the state, so that a crash between any two of them loses none.
"""

import contextlib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from astra.operations.caps import WAITING_PLANS
from astra.plans import edits, events, grants, schema, states
from astra.plans.allowlist import Allowlist
from astra.plans.grants import Grants
from astra.plans.model import AgentPlan
from astra.plans.register import Register
from astra.plans.schema import Plan
from astra.plans.states import State
from astra.plans.validation import Rules
from astra.trusted.approvals import desk as approvals
from astra.trusted.approvals.desk import Approval, Desk
from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import BadInput, Conflict, DuplicateKey, Refused, StaleVersion
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.text import one_line, quote_text

KIND = "plan"
REJECT_STEP = "reject-plan"
LONGEST_DESCRIPTION, LONGEST_REASON = 8_000, 1_000
MOST_CHANNELS, MOST_WAITING = 10, WAITING_PLANS.most


@dataclass(frozen=True, kw_only=True)
class Plans:
    register: Register
    desk: Desk
    allowlist: Allowlist
    rules: Callable[[], Rules]
    code_repo: str
    channel_names: Callable[[], Sequence[str]] = tuple
    """Names the notification channels that the operator signed."""

    def draft(
        self,
        document: Any,
        *,
        actor: str,
        correlation: str,
        description: str = "",
        channels: Sequence[str] = (),
    ) -> AgentPlan:
        """Take a plan as a document: checked, recorded, and put before the operator."""
        self.refuse_flood()
        plan, ignored = self.check_document(document)
        identifier = random_id("plan")
        data = {
            **_plan_facts(plan),
            "description": check_text(description, LONGEST_DESCRIPTION),
            "channels": self.check_channels(channels),
            "ignored_keys": list(ignored),
        }
        event = events.make_event(
            events.DRAFTED, identifier, data, actor=actor, correlation=correlation
        )
        self.register.ledger.append([event], expect={identifier: 0})
        self.ask(identifier)
        return self.register.get(identifier)

    def check_channels(self, names: Sequence[str]) -> list[str]:
        """Refuse a channel that would tell nobody."""
        if len(names) > MOST_CHANNELS:
            raise BadInput(f"at most {MOST_CHANNELS} channels", next_step="name fewer")
        known_names = self.channel_names()
        for name in names:
            if name not in known_names:
                choice = f"name one of {', '.join(known_names)}" if known_names else "leave it out"
                raise BadInput(
                    f"there is no notification channel {name[:100]!a}",
                    next_step=f"{choice}; channels are named below [notify] in astra.toml",
                )
        return list(names)

    def check_document(self, document: Any) -> tuple[Plan, tuple[str, ...]]:
        plan, ignored = schema.load(document)
        return self.rules().check(plan), ignored

    def revise(
        self, identifier: str, changes: Any, *, actor: str, seen: str | None = None
    ) -> AgentPlan:
        """Edit a plan; it is checked again, gets a new hash, and an older approval goes stale.

        `seen` is the hash of the plan that was looked at; if it is another by now, nothing is done.
        """

        def decide(plan: AgentPlan) -> Mapping[str, Any]:
            self.refuse_if_moved(plan, seen)
            states.refuse_unless_legal(plan.id, plan.state, State.AWAITING_APPROVAL)
            assert plan.plan is not None  # noqa: S101 - only drafted plans may be revised
            revised, _ = self.check_document(edits.apply(plan.plan.as_dict(), changes))
            if revised == plan.plan:
                raise Refused(
                    "the edit changes nothing", code="unchanged", next_step="edit something"
                )
            return {**_plan_facts(revised), "before": plan.plan_hash}

        self.register.move(identifier, events.REVISED, decide, actor=actor)
        self.ask(identifier)
        return self.register.get(identifier)

    def reject(
        self, identifier: str, reason: str, *, actor: str, seen: str | None = None
    ) -> AgentPlan:
        """Turn a plan down; `seen` is the hash of the one that was looked at, as in `revise`."""
        clean_reason = check_text(reason, LONGEST_REASON)
        if not clean_reason:
            raise BadInput("a rejection has a reason", next_step="say why: the agent reads it")

        def decide(plan: AgentPlan) -> Mapping[str, Any]:
            self.refuse_if_moved(plan, seen)
            return {"reason": clean_reason}

        self.register.move(identifier, events.REJECTED, decide, actor=actor)
        self._withdraw_approvals(identifier, keep="", why="the plan was rejected")
        return self.register.get(identifier)

    def refuse_if_moved(self, plan: AgentPlan, seen: str | None) -> None:
        """Keep somebody from deciding on a plan that they never saw; say what is different."""
        if seen is None or seen == plan.plan_hash:
            return
        before = next((d for d in self._read_documents(plan.id) if d["plan_hash"] == seen), None)
        now = plan.plan.as_dict() if plan.plan else {}
        differences = edits.differences(before["plan"], now) if before else []
        raise Conflict(
            f"{plan.id} was changed since you looked at it"
            + (f": {one_line('; '.join(differences), 400)}" if differences else ""),
            code="stale_plan",
            next_step="look at it again, and decide on what it says now",
            plan_hash=plan.plan_hash,
            changes=differences,
        )

    def _read_documents(self, identifier: str) -> list[Mapping[str, Any]]:
        """Give what a plan said, each time that it was drafted or revised."""
        records = self.register.ledger.find_mentions(identifier, events.DRAFTED, events.REVISED)
        return [record.data for record in records]

    # The operator's decision

    def ask(self, identifier: str) -> str:
        """Put a plan before the operator; gives the approval that waits for them."""
        plan = self.register.get(identifier)
        states.refuse_unless_legal(plan.id, plan.state, State.APPROVED)
        grants_asked = self.make_grants(plan)
        digest = digest_of(grants_asked)
        self._withdraw_approvals(identifier, keep=digest, why="the plan was changed")
        assert plan.plan is not None  # noqa: S101 - it awaits approval, so it was drafted
        return self.desk.ask(
            kind=KIND,
            subject_id=identifier,
            digest=digest,
            summary=f"run the plan {quote_text(plan.plan.goals[0])}",
            details={
                "plan": plan.plan.as_dict(),
                "plan_hash": plan.plan_hash,
                "grants_hash": grants_asked.hash(),
                "manifest": grants.review(grants_asked, code_repo=self.code_repo),
            },
            actor=events.DAEMON,
            correlation=plan.correlation,
        )

    def ask_anew(self, identifier: str) -> None:
        """Ask for a plan that changed, unless that was done since; the due step."""
        if not any(
            self._asked_since(identifier, approval.id)
            for approval in self._list_approvals(identifier)
        ):
            self._withdraw_approvals(identifier, keep="", why="the plan was changed")
            self.ask(identifier)

    def fulfil(self, approval_id: str) -> None:
        """Let an approval that the operator signed take effect, or withdraw it."""
        approval = self.desk.get(approval_id)
        if approval.kind != KIND or approval.state != "approved":
            return
        if objection := self._find_objection(approval):
            self.desk.withdraw_granted(approval_id, objection)
            return
        try:
            self._approve_plan(approval)
        except (states.IllegalMove, DuplicateKey):
            if self.desk.get(approval_id).state == "approved":
                raise
        self._withdraw_approvals(approval.subject_id, keep="", why="the plan was decided")

    def follow_rejection(self, approval_id: str) -> None:
        """Reject the plan whose approval was rejected at the desk."""
        approval = self.desk.get(approval_id)
        plan = self.register.get(approval.subject_id)
        reason = approval.reason or "rejected"
        if plan.state is not State.AWAITING_APPROVAL:
            self.desk.announce(approval_id, REJECT_STEP)
            return
        data = {"reason": reason, "approval": approval_id}
        self.register.move(plan.id, events.REJECTED, lambda _plan: data, actor="operator")

    def make_grants(self, plan: AgentPlan) -> Grants:
        if plan.plan is None:
            raise Conflict(
                f"{plan.id} cannot be read by this version of Astra",
                code="plan_unreadable",
                next_step="update Astra, or reject the plan",
            )
        return grants.make_grants(
            plan.id, plan.plan.hash(), plan.plan.manifest, self.allowlist.allows
        )

    def refuse_flood(self) -> None:
        """Keep a person's inbox readable, whoever drafts."""
        waiting_plans = self.register.in_states([State.AWAITING_APPROVAL, State.DRAFT_PENDING])
        if len(waiting_plans) >= MOST_WAITING:
            raise WAITING_PLANS.build_error()

    def _approve_plan(self, approval: Approval) -> None:
        """Use the approval up and approve the plan, in one batch; whoever is second is refused."""
        self.register.move(
            approval.subject_id,
            events.APPROVED,
            lambda plan: self._approval_facts(plan, approval),
            actor="operator",
            beside=lambda plan: (
                approvals.build_used_event(
                    approval.id, actor=events.DAEMON, correlation=plan.correlation
                ),
            ),
        )

    def _find_objection(self, approval: Approval) -> str:
        if not self.desk.stands(approval.id):
            return "it does not carry the operator's signature, or its time was over"
        plan = self.register.get(approval.subject_id)
        if plan.state is not State.AWAITING_APPROVAL:
            return f"the plan is {plan.state}"
        if digest_of(self.make_grants(plan)) != approval.digest:
            return "the plan, or what the allowlist adds to it, is not what was approved"
        return ""

    def _approval_facts(self, plan: AgentPlan, approval: Approval) -> dict[str, Any]:
        grants_asked = self.make_grants(plan)
        if digest_of(grants_asked) != approval.digest or plan.plan is None:
            raise Refused(
                "the plan moved while it was approved", code="stale", next_step="approve it again"
            )
        return {
            **events.count_parts(plan.plan),
            "plan_hash": grants_asked.plan_hash,
            "grants_hash": grants_asked.hash(),
            "grants": grants_asked.as_dict(),
            "approval": approval.id,
        }

    def _withdraw_approvals(self, identifier: str, *, keep: str, why: str) -> None:
        for approval in self._list_approvals(identifier, "pending", "approved"):
            if approval.digest != keep:
                with contextlib.suppress(StaleVersion):  # somebody decided on it meanwhile
                    self.desk.go_stale(approval.id, why)

    def _list_approvals(self, identifier: str, *states: str) -> list[Approval]:
        """Give the approvals of a plan, by default those that wait."""
        return self.desk.list_for_subject(KIND, identifier, *(states or ("pending",)))

    def _asked_since(self, identifier: str, approval_id: str) -> bool:
        """Tell whether an approval was asked for after the plan's last record."""
        rows = self.register.ledger.query(
            "SELECT approval.sequence > subject.sequence FROM approval, subject"
            " WHERE approval.id = ? AND subject.id = ?",
            [approval_id, identifier],
        )
        return bool(rows and rows[0][0])


def digest_of(wanted: Grants) -> str:
    """Name exactly what the operator approves: this plan, with these grants."""
    content = {"kind": KIND, "plan_hash": wanted.plan_hash, "grants_hash": wanted.hash()}
    return hashlib.sha256(canonical.encode(content)).hexdigest()


def check_text(value: str, longest: int) -> str:
    if len(value) > longest:
        raise BadInput(f"that is longer than {longest} characters", next_step="say it shorter")
    return value.strip()


def _plan_facts(plan: Plan) -> dict[str, Any]:
    return {**events.count_parts(plan), "plan": plan.as_dict(), "plan_hash": plan.hash()}
