"""The approval desk: request, approve, reject, expire, use once.

An approval names the digest of exactly what will run. Granting it is a record that the operator
signed over the approval's id and that digest; whoever relies on it checks the signature again. It
expires, and it is used once: using it claims a key of the ledger in the same batch as the start of
what it was for.

The summary a person reads is written by the server from what it knows, never by the one who asks.
A call is kept with its request whole, so that what is shown is what its digest covers; a request
that does not hold all of it cannot be granted.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from astra.trusted.approvals import titles
from astra.trusted.approvals.events import (
    ANNOUNCED,
    EXPIRED,
    GRANTED,
    REJECTED,
    REQUESTED,
    STALE,
    USED,
)
from astra.trusted.approvals.views import Approval, Approvals, content, terms_of
from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.kernel.errors import Conflict, DuplicateKey, StaleVersion
from astra.trusted.kernel.ids import id_from_content, random_id
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import authority, contract, payload
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.call import Call
from astra.trusted.policy.caps import WAITING_REQUESTS

LIFETIME = timedelta(hours=24)
_CAN_BE_ASKED_AGAIN = ("sch_", "chg_", "plan_", "goal_", "des_")
_TOOL_CALL = "tool_call"
OF_CALLS = frozenset({_TOOL_CALL, "schedule"})
"""Kinds of requests that are about one call, which is kept with them whole."""
REMINDERS = (timedelta(hours=1), timedelta(hours=6), timedelta(hours=20))
Condition = Callable[[Approval, Mapping[str, Any]], None]


@dataclass(frozen=True)
class Desk(Approvals):
    """Where requests are made and decided."""

    when_spent: list[Callable[[str], None]] = field(
        default_factory=list[Callable[[str], None]], compare=False
    )
    conditions: "dict[str, Condition]" = field(default_factory=dict[str, Condition], compare=False)
    """What a grant of some kind has to say besides yes, checked before it is recorded."""

    # What the gate asks

    def use(self, approval_id: str, call: Call) -> Event:
        return build_used_event(approval_id, actor=str(call.actor), correlation=call.correlation)

    def announce_spent(self, approval_id: str) -> None:
        for tell in self.when_spent:
            tell(approval_id)

    def request(self, call: Call, digest: str) -> str:
        """Ask for a call; refused to who has too many requests waiting, unless this is one."""
        if not self._find_waiting(digest, asked_by=str(call.actor)):
            self._refuse_flood(str(call.actor))
        return self.ask(
            kind=_TOOL_CALL,
            subject_id=call.tool,
            digest=digest,
            summary=titles.title_call(call),
            details={
                **call.content(),
                "in_words": _describe_effects(call),
            },
            actor=str(call.actor),
            correlation=call.correlation,
            only_theirs=True,
        )

    # What everybody else asks

    def ask(
        self,
        *,
        kind: str,
        subject_id: str,
        digest: str,
        summary: str,
        details: dict[str, Any],
        actor: str,
        correlation: str,
        expires_at: datetime | None = None,
        only_theirs: bool = False,
    ) -> str:
        """Ask for an approval; while one for the same content waits, that one is meant.

        What is `only_theirs` can be used by nobody else, so another's request is another one.
        """
        asked_by = actor if only_theirs else None
        until = format_time(expires_at or parse_time(self.now()) + LIFETIME)
        data = {
            "kind": kind,
            "subject_id": subject_id,
            "digest": digest,
            "summary": summary,
            "details": details,
            "expires_at": until,
        }
        while True:
            times = self._times_asked(digest)  # before the look: whoever comes between takes it
            if waiting_id := self._find_waiting(digest, asked_by=asked_by):
                return waiting_id
            identifier = id_from_content("apr", digest, random_id("nonce"))
            event = Event(
                type=REQUESTED,
                actor=actor,
                data=data,
                correlation=correlation,
                subject=identifier,
                key=f"asked:{digest}:{times}",
            )
            with contextlib.suppress(DuplicateKey):  # somebody asked for the same meanwhile
                self.ledger.append([event], expect={identifier: 0})
                return identifier

    def _refuse_flood(self, actor: str) -> None:
        """Keep a person's inbox readable: one actor may have so many requests in it."""
        most = contract.read_configuration(self.ledger).budgets.waiting_requests
        if self.count_waiting(actor, _TOOL_CALL) >= most:
            raise WAITING_REQUESTS.build_error(most)

    def _find_waiting(self, digest: str, *, asked_by: str | None) -> str | None:
        condition, values = "digest = ? AND state = 'pending'", [digest]
        if asked_by is not None:
            condition, values = f"{condition} AND requested_by = ?", [*values, asked_by]
        for approval in self._query_approvals(condition, *values):
            if self.in_time(approval):
                return approval.id
        return None

    def _times_asked(self, digest: str) -> int:
        rows = self.ledger.query("SELECT count(*) FROM approval WHERE digest = ?", [digest])
        return int(rows[0][0])

    def grant(self, identifier: str, signed: Signed) -> Record:
        """Record an operator's yes, for this approval and this digest, on the terms signed."""
        terms = terms_of(signed.statement.get("content"))
        data = content(self.check_grant(identifier, terms), terms)
        event = Event(type=GRANTED, actor="operator", data=data, subject=identifier)
        event = authority.signed_event(self.ledger, event, signed, now=self.clock.now())
        return self._decide_first(identifier, event)

    def check_grant(self, identifier: str, terms: Mapping[str, Any]) -> Approval:
        """Refuse what a yes on these terms would be refused for, whoever signs it."""
        approval = self._require_pending(identifier)
        if approval.kind in OF_CALLS:
            payload.require_same(self.details(identifier)["details"], approval.digest)
        if condition := self.conditions.get(approval.kind):
            condition(approval, terms)
        return approval

    def reject(
        self, identifier: str, reason: str, *, actor: str, beside: Sequence[Event] = ()
    ) -> Record:
        """Turn a request down; what is recorded `beside` it stands in the same batch, or not."""
        self._require_pending(identifier)
        data = {"approval": identifier, "reason": reason}
        event = Event(type=REJECTED, actor=actor, data=data, subject=identifier)
        return self._decide_first(identifier, event, *beside)

    def go_stale(self, identifier: str, what_moved: str) -> None:
        """Withdraw an approval because what it was for is not the same any more."""
        try:
            self._append_decision(identifier, _build_stale(identifier, what_moved))
        except StaleVersion:
            if self.get(identifier).state != "stale":
                raise

    def withdraw_granted(self, identifier: str, what_moved: str) -> None:
        """Withdraw a yes that cannot take effect; one that just did, by another hand, stays used.

        A door and the background may both look at a grant at the same moment.
        """
        version = self.ledger.version(identifier)
        if self.get(identifier).state != "approved":
            return
        with contextlib.suppress(StaleVersion):
            self._append_decision(identifier, _build_stale(identifier, what_moved), version=version)

    def expire(self, identifier: str) -> None:
        """Close what nobody decided, or nobody used, in time."""
        data = {"approval": identifier, "reason": "its time is over"}
        self._append_decision(
            identifier, Event(type=EXPIRED, actor="daemon", data=data, subject=identifier)
        )

    def announce(self, identifier: str, step: str) -> None:
        """Say once more that somebody waits; the same reminder is said once."""
        data = {"approval": identifier, "step": step}
        event = Event(
            type=ANNOUNCED, actor="daemon", data=data, key=f"announced:{identifier}:{step}"
        )
        try:
            self.ledger.append([event])
        except DuplicateKey:
            return

    def _require_pending(self, identifier: str) -> Approval:
        approval = self.get(identifier)
        if approval.state != "pending":
            raise self._build_conflict(approval)
        if not self.in_time(approval):
            raise Conflict(
                f"{identifier} is expired already",
                code="already_decided",
                next_step=_suggest_next_step(approval),
                state="expired",
                at=approval.expires_at,
            )
        return approval

    def _build_conflict(self, approval: Approval) -> Conflict:
        """Say who was first, and when: two people may look at the same request."""
        record = self.ledger.records_of(approval.id)[-1]
        return Conflict(
            f"{approval.id} is {approval.state} already, by {record.actor} at {record.time}",
            code="already_decided",
            next_step=_suggest_next_step(approval),
            state=approval.state,
            by=record.actor,
            at=record.time,
            sequence=record.sequence,
        )

    def _decide_first(self, identifier: str, event: Event, *beside: Event) -> Record:
        try:
            return self._append_decision(identifier, event, *beside)
        except StaleVersion:
            raise self._build_conflict(self.get(identifier)) from None

    def _append_decision(
        self, identifier: str, event: Event, *beside: Event, version: int | None = None
    ) -> Record:
        version = self.ledger.version(identifier) if version is None else version
        event = replace(event, correlation=self._find_correlation(identifier))
        batch = [*beside, event]
        return self.ledger.append(batch, expect={identifier: version})[-1]

    def _find_correlation(self, identifier: str) -> str:
        """Name the story a request belongs to, so that what comes of it is told there too."""
        return self._request_of(identifier).correlation


def _build_stale(identifier: str, what_moved: str) -> Event:
    data = {"approval": identifier, "reason": what_moved}
    return Event(type=STALE, actor="daemon", data=data, subject=identifier)


def _describe_effects(call: Call) -> list[str]:
    """Say in the server's own words what a yes would let happen."""
    loosened = [f"it {call.loosens}"] if call.loosens else []
    reached = [
        f"can send anything it is given to anyone at {domain}" for domain in call.footprint.domains
    ]
    return [*loosened, *reached]


def _suggest_next_step(approval: Approval) -> str:
    """Say how to be asked again for what nobody decided in time, or for what changed since."""
    lapsed = approval.state in {"pending", "expired", "stale"}
    if lapsed and approval.subject_id.startswith(_CAN_BE_ASKED_AGAIN):
        return f"to be asked again: astra approve {approval.subject_id}"
    return "astra approvals"


def build_stale_event(approval_id: str, reason: str, *, correlation: str) -> Event:
    """Give the event that withdraws an approval, for a batch that expects its version."""
    return Event(
        type=STALE,
        actor="daemon",
        data={"approval": approval_id, "reason": reason},
        correlation=correlation,
        subject=approval_id,
    )


def build_used_event(approval_id: str, *, actor: str, correlation: str) -> Event:
    """Give the event that uses an approval up; the ledger lets it happen once."""
    return Event(
        type=USED,
        actor=actor,
        data={"approval": approval_id},
        correlation=correlation,
        subject=approval_id,
        key=f"used:{approval_id}",
    )
