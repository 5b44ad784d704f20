"""Asking for a higher cap: one request at the approval desk, one signature, one scope.

The server works out by how much: the configured cap as often more as the call needs. Nothing that
an agent says is in the request. A raise is for one scope (this day, this plan) and for the
configured cap that it started from: signing another cap ends it. Whoever relies on it checks the
operator's signature again, and that the request was for exactly this content. While the operator's
no to raising a cap stands, it is not asked for again.
"""

import contextlib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from astra.spend.caps import Cap, describe_limit
from astra.spend.model import Account, Scope
from astra.spend.projection import RAISED, SUBJECT
from astra.trusted.approvals import desk as approvals
from astra.trusted.approvals.desk import Desk
from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import Conflict, StaleVersion
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.record import Event

KIND, STEP = "spend_cap", "raise-cap"
_MOST_TRIES = 100
_BOUND = ("scope", "cap", "configured", "from", "to")


@dataclass(frozen=True, kw_only=True)
class SignedRaises:
    desk: Desk

    def find_limit(self, scope: Scope, cap: Cap) -> int:
        rows = self.desk.ledger.query(
            "SELECT approval, configured, raised_from, raised_to FROM spend_raise"
            " WHERE scope = ? AND cap = ?",
            [scope.key, cap.setting],
        )
        for approval, configured, raised_from, raised_to in rows:
            content = _make_content(scope, cap, raised_from, raised_to)
            if configured == cap.limit and self._is_signed(approval, content):
                return max(cap.limit, raised_to)
        return cap.limit

    def ask(self, scope: Scope, cap: Cap, account: Account, *, needed: int, currency: str) -> str:
        limit = self.find_limit(scope, cap)
        content = _make_content(scope, cap, limit, _round_up(cap, limit, needed))
        if self._was_rejected(content):
            return ""
        if pending := self._find_pending(content, needed):
            return pending
        before, after = (describe_limit(cap.measure, n, currency) for n in (limit, content["to"]))
        return self.desk.ask(
            kind=KIND,
            subject_id=SUBJECT,
            digest=_compute_digest(content),
            summary=f"raise {cap.setting} of {one_line(scope.key, 80)} from {before} to {after}",
            details=content,
            actor="daemon",
            correlation=account.correlation or random_id("cor"),
        )

    def fulfil(self, approval_id: str) -> None:
        """Put a raise into force that the operator signed for."""
        approval = self.desk.get(approval_id)
        if approval.kind != KIND or approval.state != "approved":
            return
        if not self.desk.stands(approval_id):
            self.desk.withdraw_granted(approval_id, "it does not carry the operator's signature")
            return
        request = self.desk.details(approval_id)
        data = {name: request["details"][name] for name in _BOUND}
        story = str(request["correlation"])
        used = approvals.build_used_event(approval_id, actor="daemon", correlation=story)
        raised = Event(
            type=RAISED,
            actor="operator",
            data={**data, "approval": approval_id},
            subject=SUBJECT,
            correlation=story,
        )
        self._append(used, raised)

    def _append(self, *batch: Event) -> None:
        ledger = self.desk.ledger
        for _ in range(_MOST_TRIES):
            with contextlib.suppress(StaleVersion):  # a call was counted meanwhile
                ledger.append(batch, expect={SUBJECT: ledger.version(SUBJECT)})
                return
        raise Conflict("other calls are counted all the time", next_step="it is tried again")

    def _is_signed(self, approval_id: str, content: Mapping[str, Any]) -> bool:
        approval = self.desk.get(approval_id)
        is_same = approval.kind == KIND and approval.digest == _compute_digest(content)
        return is_same and self.desk.was_signed(approval_id)

    def _was_rejected(self, content: Mapping[str, Any]) -> bool:
        """Tell whether the operator turned down to raise this cap from where it is."""
        rejected = self.desk.list_for_subject(KIND, SUBJECT, "rejected")
        return any(_is_alike(self._read_content(item.id), content) for item in rejected)

    def _find_pending(self, content: Mapping[str, Any], needed: int) -> str:
        """Name a request that waits and would do; one that would not is withdrawn."""
        for approval in self.desk.list_for_subject(KIND, SUBJECT, "pending"):
            pending_content = self._read_content(approval.id)
            if not _is_alike(pending_content, content) or not self.desk.in_time(approval):
                continue
            if pending_content["to"] >= needed:
                return approval.id
            with contextlib.suppress(StaleVersion):  # somebody decided on it meanwhile
                self.desk.go_stale(approval.id, "more is needed by now")
        return ""

    def _read_content(self, approval_id: str) -> Mapping[str, Any]:
        return self.desk.details(approval_id)["details"]


def _round_up(cap: Cap, limit: int, needed: int) -> int:
    """Give the limit to ask for: so often the configured cap more that the call fits."""
    if cap.limit == 0:
        return needed
    times = max(1, -(-(needed - limit) // cap.limit))
    return limit + times * cap.limit


def _make_content(scope: Scope, cap: Cap, limit: int, raised_to: int) -> dict[str, Any]:
    return {
        "kind": KIND,
        "scope": scope.key,
        "cap": cap.setting,
        "configured": cap.limit,
        "from": limit,
        "to": raised_to,
    }


def _is_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether two requests are for the same cap, from the same place."""
    return all(one[name] == other[name] for name in ("scope", "cap", "configured", "from"))


def _compute_digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical.encode(dict(content))).hexdigest()
