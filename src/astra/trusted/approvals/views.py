"""Requests for a person's decision, for those who look: which there are, and which stand.

That a record says "granted" proves nothing. Whoever relies on an approval has the operator's
signature checked again here, over this approval's own content.

An approval is for a time. One that was asked for before the operator accepted the clock is over,
whatever its time says: that was measured by a clock which was wrong.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from astra.trusted.approvals.events import EXPIRED, GRANTED, REJECTED, REQUESTED, STALE, USED
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import NotFound
from astra.trusted.kernel.paging import END
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record
from astra.trusted.ledger.timekeeping import current_time, last_acceptance
from astra.trusted.policy import authority, payload
from astra.trusted.policy.rounds import list_waiting_rounds

_COLUMNS = (
    "id, kind, subject_id, digest, state, requested_at, expires_at, summary, reason, granted,"
    " sequence"
)
_NOT_SHOWN = frozenset({"granted", "sequence"})
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
    sequence: int
    """The record that asked for it."""

    def as_dict(self) -> dict[str, Any]:
        return {
            name: getattr(self, name)
            for name in self.__dataclass_fields__
            if name not in _NOT_SHOWN
        }


@dataclass(frozen=True)
class Approvals:
    """What lies on the desk."""

    ledger: Ledger
    clock: Clock

    def find_usable(self, digest: str, *, asked_by: str | None = None) -> str | None:
        """Name a granted approval of this content; of one asker's requests only, where named."""
        condition, values = "digest = ? AND state = 'approved'", [digest]
        if asked_by is not None:
            condition, values = f"{condition} AND requested_by = ?", [*values, asked_by]
        for approval in self._query_approvals(condition, *values):
            if self.in_time(approval) and self._has_valid_signature(approval):
                return approval.id
        return None

    def stands(self, identifier: str) -> bool:
        """Tell whether an approval is granted, by the operator's own signature, and not over."""
        approval = self.get(identifier)
        usable = approval.state == "approved" and self.in_time(approval)
        return usable and self._has_valid_signature(approval)

    def in_time(self, approval: Approval) -> bool:
        """Tell whether the time that an approval is for is not over."""
        if approval.expires_at <= self.now():
            return False
        return approval.sequence > last_acceptance(self.ledger)

    def terms(self, identifier: str) -> Mapping[str, Any]:
        """Give what the operator signed besides yes; nothing for a grant that does not stand."""
        approval = self.get(identifier)
        granted = self._grant_of(approval)
        return terms_of(granted.data) if granted and self._has_valid_signature(approval) else {}

    def was_signed(self, identifier: str) -> bool:
        """Tell whether an approval was granted by the operator's own signature, used up or not."""
        return self._has_valid_signature(self.get(identifier))

    def list_by_state(self, *, state: str = "pending") -> list[Approval]:
        if state == "all":
            return self._query_approvals("sequence > 0")
        approvals = self._query_approvals("state = ?", state)
        if state != "pending":
            return approvals
        now, since = self.now(), last_acceptance(self.ledger)
        return [
            approval
            for approval in approvals
            if approval.expires_at > now and approval.sequence > since
        ]

    def list_for_subject(self, kind: str, subject_id: str, *states: str) -> list[Approval]:
        """Give the approvals that something was asked for, in some states, oldest first."""
        marks = ", ".join("?" * len(states))
        return self._query_approvals(
            f"subject_id = ? AND state IN ({marks}) AND kind = ?", subject_id, *states, kind
        )

    def count_waiting(self, actor: str, kind: str) -> int:
        """Count the requests of one kind that one actor waits for a decision on."""
        rows = self.ledger.query(
            "SELECT count(*) FROM approval"
            " WHERE requested_by = ? AND state = 'pending' AND kind = ? AND expires_at > ?"
            " AND sequence > ?",
            [actor, kind, self.now(), last_acceptance(self.ledger)],
        )
        return int(rows[0][0])

    def page(
        self, *, state: str, limit: int, cursor: int | None = None, newest: bool = False
    ) -> tuple[list[Approval], int | None]:
        """Give some approvals, the oldest or the newest first, and where the next page starts."""
        comparison, order, start = ("<", "DESC", END) if newest else (">", "ASC", 0)
        conditions = [f"sequence {comparison} ?"]
        parameters: list[Any] = [start if cursor is None else cursor]
        if state != "all":
            conditions.append("state = ?")
            parameters.append(state)
        if state == "pending":
            conditions.append("expires_at > ? AND sequence > ?")
            parameters += [self.now(), last_acceptance(self.ledger)]
        rows = self.ledger.query(
            f"SELECT {_COLUMNS} FROM approval WHERE {' AND '.join(conditions)}"  # noqa: S608 - fixed texts
            f" ORDER BY sequence {order} LIMIT ?",
            [*parameters, limit + 1],
        )
        approvals = [_approval_from_row(row) for row in rows[:limit]]
        return approvals, rows[limit - 1][-1] if len(rows) > limit else None

    def get(self, identifier: str) -> Approval:
        approvals = self._query_approvals("id = ?", identifier)
        if not approvals:
            raise NotFound(f"there is no approval {identifier}", next_step="astra approvals")
        return approvals[0]

    def details(self, identifier: str) -> dict[str, Any]:
        """Show an approval with all that the server recorded about the thing that would run."""
        approval = self.get(identifier)
        record = self._request_of(identifier)
        return {
            **approval.as_dict(),
            "details": record.data["details"],
            "payload": payload.render_payload(record.data["details"]),
            "requested_by": record.actor,
            "correlation": record.correlation,
            "signatures": self._describe_signatures(approval),
        }

    def _describe_signatures(self, approval: Approval) -> dict[str, Any]:
        """Say how many operators have to sign, and who did already, on which terms."""
        needed, _ = authority.count_signatures(
            self.ledger, GRANTED, content(approval), time=self.now()
        )
        is_open = needed > 1 and approval.state == "pending"
        return {
            "needed": needed,
            "rounds": list_waiting_rounds(self.ledger, now=self.clock.now(), about=approval.id)
            if is_open
            else [],
            "signed_by": self.list_signers(approval),
        }

    def list_signers(self, approval: Approval) -> list[str]:
        """Name the operators whose signatures granted an approval; nobody where none hold."""
        granted = self._grant_of(approval)
        return list(authority.find_signers(self.ledger, granted)) if granted else []

    def now(self) -> str:
        """Give the time that counts: turning a clock back revives nothing."""
        return format_time(current_time(self.clock.now(), self.ledger.head()))

    def _has_valid_signature(self, approval: Approval) -> bool:
        """Check the operator's signature again, over this approval's own content."""
        record = self._grant_of(approval)
        if record is None:
            return False
        record_content = {
            name: value for name, value in record.raw_data.items() if name != "authority"
        }
        expected_content = content(approval, terms_of(record.data))
        return record_content == expected_content and authority.is_signed_by_operator(
            self.ledger, record
        )

    def _grant_of(self, approval: Approval) -> Record | None:
        return self.ledger.record(approval.granted) if approval.granted else None

    def _request_of(self, identifier: str) -> Record:
        """Give the record that asked for an approval: the first one about it."""
        return self.ledger.records_of(identifier, REQUESTED)[0]

    def _query_approvals(self, condition: str, *parameters: Any) -> list[Approval]:
        rows = self.ledger.query(
            f"SELECT {_COLUMNS} FROM approval WHERE {condition} ORDER BY sequence",  # noqa: S608 - fixed text
            parameters,
        )
        return [_approval_from_row(row) for row in rows]


def _approval_from_row(row: tuple[Any, ...]) -> Approval:
    names = [name.strip() for name in _COLUMNS.split(",")]
    return Approval(**dict(zip(names, row, strict=True)))


def content(approval: Approval, terms: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Give what an operator signs to approve; terms say what else was agreed to."""
    base_content: dict[str, Any] = {"approval": approval.id, "digest": approval.digest}
    return {**base_content, "terms": dict(terms)} if terms else base_content


def terms_of(said: Any) -> Mapping[str, Any]:
    terms = cast("dict[str, Any]", said).get("terms") if isinstance(said, dict) else None
    return cast("dict[str, Any]", terms) if isinstance(terms, dict) else {}


def _apply_record(record: Record) -> Iterator[Statement]:
    data = record.data
    if record.type == REQUESTED:
        yield (
            "INSERT INTO approval VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, '', NULL, ?, ?)",
            (
                record.subject,
                data["kind"],
                data["subject_id"],
                data["digest"],
                record.time,
                data["expires_at"],
                data["summary"],
                record.sequence,
                record.actor,
            ),
        )
        yield _ONE_MORE, ("pending",)
        return
    yield _ONE_LESS, (record.subject,)
    yield _ONE_MORE, (_STATES[record.type],)
    grant = record.sequence if record.type == GRANTED else None
    yield (
        "UPDATE approval SET state = ?, reason = ?, granted = coalesce(?, granted) WHERE id = ?",
        (_STATES[record.type], data.get("reason", ""), grant, record.subject),
    )


_ONE_MORE = """
    INSERT INTO approval_count VALUES (?, 1) ON CONFLICT (state) DO UPDATE SET number = number + 1
"""
_ONE_LESS = """
    UPDATE approval_count SET number = number - 1
    WHERE state = (SELECT state FROM approval WHERE id = ?)
"""

PROJECTION = Projection(
    "approvals",
    (
        """CREATE TABLE approval (
            id TEXT PRIMARY KEY, kind TEXT, subject_id TEXT, digest TEXT, state TEXT,
            requested_at TEXT, expires_at TEXT, summary TEXT, reason TEXT, granted INTEGER,
            sequence INTEGER, requested_by TEXT
        ) WITHOUT ROWID""",
        "CREATE INDEX approval_digest ON approval (digest, state)",
        "CREATE INDEX approval_state ON approval (state, sequence)",
        "CREATE TABLE approval_count (state TEXT PRIMARY KEY, number INTEGER) WITHOUT ROWID",
        "CREATE INDEX approval_order ON approval (sequence)",
        "CREATE INDEX approval_subject ON approval (subject_id, state)",
        "CREATE INDEX approval_requester ON approval (requested_by, state, kind, expires_at)",
    ),
    _apply_record,
    types=frozenset({REQUESTED, *_STATES}),
)
