"""The approval desk: request, approve, reject, expire, use once.

An approval names the digest of exactly what will run. Granting it is a record that the operator
signed over the approval's id and that digest; whoever relies on it checks the signature again. It
expires, and it is used once: using it claims a key of the ledger in the same batch as the start of
what it was for.

The summary a person reads is written by the server from what it knows, never by the one who asks.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast

from astra.kernel.clock import Clock, format_time
from astra.kernel.errors import Conflict, DuplicateKey, NotFound, StaleVersion
from astra.kernel.ids import from_content, random_id
from astra.ledger import chain
from astra.ledger.ports import Ledger
from astra.ledger.projection import Projection, Statement
from astra.ledger.record import Event, Record
from astra.policy import authority
from astra.policy.authority import Signed
from astra.policy.call import Call
from astra.policy.telemetry import shown

REQUESTED, GRANTED = "approval_requested", "approval_granted"
REJECTED, EXPIRED, USED = "approval_rejected", "approval_expired", "approval_used"
ANNOUNCED, STALE = "approval_announced", "approval_went_stale"
LIFETIME = timedelta(hours=24)
_CAN_BE_ASKED_AGAIN = ("sch_", "chg_", "plan_")
REMINDERS = (timedelta(hours=1), timedelta(hours=6), timedelta(hours=20))
_COLUMNS = "id, kind, subject_id, digest, state, requested_at, expires_at, summary, reason, granted"
_STATES = {
    GRANTED: "approved",
    REJECTED: "rejected",
    EXPIRED: "expired",
    USED: "used",
    STALE: "stale",
}


@dataclass(frozen=True, kw_only=True)
class Approval:
    id: str
    kind: str
    subject_id: str
    digest: str
    state: str
    requested_at: str
    expires_at: str
    summary: str
    reason: str
    granted: int | None

    def as_dict(self) -> dict[str, Any]:
        return {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name != "granted"
        }


Condition = Callable[[Approval, Mapping[str, Any]], None]


@dataclass(frozen=True)
class Desk:
    ledger: Ledger
    clock: Clock
    when_spent: list[Callable[[str], None]] = field(
        default_factory=list[Callable[[str], None]], compare=False
    )
    conditions: "dict[str, Condition]" = field(default_factory=dict[str, Condition], compare=False)
    """What a grant of some kind has to say besides yes, checked before it is recorded."""

    # What the gate asks

    def usable(self, digest: str) -> str | None:
        now = self._now()
        for approval in self._where("digest = ? AND state = 'approved'", digest):
            if approval.expires_at > now and self._signed(approval):
                return approval.id
        return None

    def use(self, approval_id: str, call: Call) -> Event:
        return spent(approval_id, actor=str(call.actor), correlation=call.correlation)

    def spent(self, approval_id: str) -> None:
        for tell in self.when_spent:
            tell(approval_id)

    def request(self, call: Call, digest: str) -> str:
        return self.ask(
            kind="tool_call",
            subject_id=call.tool,
            digest=digest,
            summary=f"{call.actor} asks to run {call.tool} once",
            details={
                "arguments": shown(call.arguments),
                "footprint": call.footprint.as_dict(),
                "in_words": [
                    f"can send anything it is given to anyone at {domain}"
                    for domain in call.footprint.domains
                ],
            },
            actor=str(call.actor),
            correlation=call.correlation,
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
    ) -> str:
        """Ask for an approval; while one for the same content waits, that one is meant."""
        until = format_time(expires_at or self.clock.now() + LIFETIME)
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
            if waiting := self._waiting(digest):
                return waiting
            identifier = from_content("apr", digest, random_id("nonce"))
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

    def _waiting(self, digest: str) -> str | None:
        for approval in self._where("digest = ? AND state = 'pending'", digest):
            if approval.expires_at > self._now():
                return approval.id
        return None

    def _times_asked(self, digest: str) -> int:
        rows = self.ledger.query("SELECT count(*) FROM approval WHERE digest = ?", [digest])
        return int(rows[0][0])

    def stands(self, identifier: str) -> bool:
        """Tell whether an approval is granted, by the operator's own signature, and not over."""
        approval = self.get(identifier)
        unexpired = approval.expires_at > self._now()
        return approval.state == "approved" and unexpired and self._signed(approval)

    def terms(self, identifier: str) -> Mapping[str, Any]:
        """Give what the operator signed besides yes; nothing for a grant that does not stand."""
        approval = self.get(identifier)
        granted = self._grant_of(approval)
        return _terms(granted.data) if granted and self._signed(approval) else {}

    def was_signed(self, identifier: str) -> bool:
        """Tell whether an approval was granted by the operator's own signature, used up or not."""
        return self._signed(self.get(identifier))

    def listed(self, *, state: str = "pending") -> list[Approval]:
        found = self._where("state = ? OR ? = 'all'", state, state)
        if state != "pending":
            return found
        now = self._now()
        return [approval for approval in found if approval.expires_at > now]

    def page(
        self, *, state: str, limit: int, cursor: int | None = None, newest: bool = False
    ) -> tuple[list[Approval], int | None]:
        """Give some approvals, the oldest or the newest first, and where the next page starts."""
        there, order = ("<", "DESC") if newest else (">", "ASC")
        rows = self.ledger.query(
            f"SELECT {_COLUMNS}, sequence FROM approval WHERE (state = ? OR ? = 'all')"  # noqa: S608 - fixed texts
            f" AND (? != 'pending' OR expires_at > ?) AND (? IS NULL OR sequence {there} ?)"
            f" ORDER BY sequence {order} LIMIT ?",
            [state, state, state, self._now(), cursor, cursor, limit + 1],
        )
        found = [_read(row[:-1]) for row in rows[:limit]]
        return found, rows[limit - 1][-1] if len(rows) > limit else None

    def get(self, identifier: str) -> Approval:
        found = self._where("id = ?", identifier)
        if not found:
            raise NotFound(f"there is no approval {identifier}", next_step="astra approvals")
        return found[0]

    def details(self, identifier: str) -> dict[str, Any]:
        """Show an approval with what the server recorded about the thing that would run."""
        approval = self.get(identifier)
        rows = self.ledger.query(
            "SELECT line FROM record JOIN approval USING (sequence) WHERE id = ?", [identifier]
        )
        record = chain.parse(rows[0][0])
        return {
            **approval.as_dict(),
            "details": record.data["details"],
            "requested_by": record.actor,
            "correlation": record.correlation,
        }

    def grant(self, identifier: str, signed: Signed) -> Record:
        """Record an operator's yes, for this approval and this digest, on the terms signed."""
        approval = self._pending(identifier)
        terms = _terms(signed.statement.get("content"))
        if condition := self.conditions.get(approval.kind):
            condition(approval, terms)
        data = content(approval, terms)
        event = Event(type=GRANTED, actor="operator", data=data, subject=identifier)
        event = authority.signed_event(self.ledger, event, signed, now=self.clock.now())
        return self._decide_first(identifier, event)

    def reject(
        self, identifier: str, reason: str, *, actor: str, beside: Sequence[Event] = ()
    ) -> Record:
        """Turn a request down; what is recorded `beside` it stands in the same batch, or not."""
        self._pending(identifier)
        data = {"approval": identifier, "reason": reason}
        event = Event(type=REJECTED, actor=actor, data=data, subject=identifier)
        return self._decide_first(identifier, event, *beside)

    def go_stale(self, identifier: str, what_moved: str) -> None:
        """Withdraw an approval because what it was for is not the same any more."""
        data = {"approval": identifier, "reason": what_moved}
        event = Event(type=STALE, actor="daemon", data=data, subject=identifier)
        try:
            self._decide(identifier, event)
        except StaleVersion:
            if self.get(identifier).state != "stale":
                raise

    def expire(self, identifier: str) -> None:
        """Close what nobody decided, or nobody used, in time."""
        data = {"approval": identifier, "reason": "its time is over"}
        self._decide(identifier, Event(type=EXPIRED, actor="daemon", data=data, subject=identifier))

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

    def _now(self) -> str:
        """Give the time, never before the last record's: turning a clock back revives nothing."""
        return max(format_time(self.clock.now()), self.ledger.head().time)

    def _pending(self, identifier: str) -> Approval:
        approval = self.get(identifier)
        if approval.state != "pending":
            raise self._decided(approval)
        if approval.expires_at <= self._now():
            raise Conflict(
                f"{identifier} is expired already",
                code="already_decided",
                next_step=_again(approval),
                state="expired",
                at=approval.expires_at,
            )
        return approval

    def _decided(self, approval: Approval) -> Conflict:
        """Say who was first, and when: two people may look at the same request."""
        rows = self.ledger.query(
            "SELECT line FROM subject JOIN record USING (sequence) WHERE id = ?", [approval.id]
        )
        record = chain.parse(rows[0][0])
        return Conflict(
            f"{approval.id} is {approval.state} already, by {record.actor} at {record.time}",
            code="already_decided",
            next_step=_again(approval),
            state=approval.state,
            by=record.actor,
            at=record.time,
            sequence=record.sequence,
        )

    def _decide_first(self, identifier: str, event: Event, *beside: Event) -> Record:
        try:
            return self._decide(identifier, event, *beside)
        except StaleVersion:
            raise self._decided(self.get(identifier)) from None

    def _decide(self, identifier: str, event: Event, *beside: Event) -> Record:
        version = self.ledger.query("SELECT version FROM subject WHERE id = ?", [identifier])
        event = replace(event, correlation=self._story(identifier))
        batch = [*beside, event]
        return self.ledger.append(batch, expect={identifier: version[0][0]})[-1]

    def _story(self, identifier: str) -> str:
        """Name the story a request belongs to, so that what comes of it is told there too."""
        rows = self.ledger.query(
            "SELECT correlation FROM record JOIN approval USING (sequence) WHERE id = ?",
            [identifier],
        )
        return str(rows[0][0])

    def _signed(self, approval: Approval) -> bool:
        """Check the operator's signature again, over this approval's own content."""
        record = self._grant_of(approval)
        if record is None:
            return False
        said = {name: value for name, value in record.data.items() if name != "authority"}
        wanted = content(approval, _terms(record.data))
        return said == wanted and authority.holds(self.ledger, record)

    def _grant_of(self, approval: Approval) -> Record | None:
        rows = self.ledger.query("SELECT line FROM record WHERE sequence = ?", [approval.granted])
        return chain.parse(rows[0][0]) if rows else None

    def _where(self, condition: str, *parameters: Any) -> list[Approval]:
        rows = self.ledger.query(
            f"SELECT {_COLUMNS} FROM approval WHERE {condition} ORDER BY sequence",  # noqa: S608 - fixed text
            parameters,
        )
        return [_read(row) for row in rows]


def _read(row: tuple[Any, ...]) -> Approval:
    names = [name.strip() for name in _COLUMNS.split(",")]
    return Approval(**dict(zip(names, row, strict=True)))


def _again(approval: Approval) -> str:
    """Say how to be asked again for what nobody decided in time, or for what changed since."""
    lapsed = approval.state in {"pending", "expired", "stale"}
    if lapsed and approval.subject_id.startswith(_CAN_BE_ASKED_AGAIN):
        return f"to be asked again: astra approve {approval.subject_id}"
    return "astra approvals"


def spent(approval_id: str, *, actor: str, correlation: str) -> Event:
    """Give the event that uses an approval up; the ledger lets it happen once."""
    return Event(
        type=USED,
        actor=actor,
        data={"approval": approval_id},
        correlation=correlation,
        subject=approval_id,
        key=f"used:{approval_id}",
    )


def content(approval: Approval, terms: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Give what an operator signs to approve; terms say what else was agreed to."""
    named: dict[str, Any] = {"approval": approval.id, "digest": approval.digest}
    return {**named, "terms": dict(terms)} if terms else named


def _terms(said: Any) -> Mapping[str, Any]:
    terms = cast("dict[str, Any]", said).get("terms") if isinstance(said, dict) else None
    return cast("dict[str, Any]", terms) if isinstance(terms, dict) else {}


def _apply(record: Record) -> Iterator[Statement]:
    data = record.data
    if record.type == REQUESTED:
        yield (
            "INSERT INTO approval VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, '', NULL, ?)",
            (
                record.subject,
                data["kind"],
                data["subject_id"],
                data["digest"],
                record.time,
                data["expires_at"],
                data["summary"],
                record.sequence,
            ),
        )
        return
    grant = record.sequence if record.type == GRANTED else None
    yield (
        "UPDATE approval SET state = ?, reason = ?, granted = coalesce(?, granted) WHERE id = ?",
        (_STATES[record.type], data.get("reason", ""), grant, record.subject),
    )


PROJECTION = Projection(
    "approvals",
    (
        """CREATE TABLE approval (
            id TEXT PRIMARY KEY, kind TEXT, subject_id TEXT, digest TEXT, state TEXT,
            requested_at TEXT, expires_at TEXT, summary TEXT, reason TEXT, granted INTEGER,
            sequence INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX approval_digest ON approval (digest, state)",
        "CREATE INDEX approval_state ON approval (state, sequence)",
    ),
    _apply,
    types=frozenset({REQUESTED, *_STATES}),
)
