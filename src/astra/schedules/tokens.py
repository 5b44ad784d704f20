"""The operator's word for one tier-2 firing, as a file: `var/approvals/pending/<schedule>.token`.

The file is an export of the ledger. It authorises nothing by itself: what counts is the approval in
the ledger, whose signature, digest, expiry and single use the gate checks. A firing needs both. So
a file that nobody signed runs nothing, and taking the file away stops what it was for.

The step that uses an approval up is recorded before the effect; the file goes, and a line is added
to `var/approvals/approved.ndjson`, before the effect too. What a crash left undone there is done
when the daemon starts.
"""

import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

from astra.schedules.ports import Tokens
from astra.trusted.approvals import desk
from astra.trusted.approvals.desk import Approval, Desk
from astra.trusted.kernel import canonical
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import AstraError, DuplicateKey, NotFound
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

EXPORTED, REFUSED = "approval_token_exported", "approval_token_refused"
KIND = "schedule"
NOTHING_THERE = "there is no token"


@dataclass(frozen=True)
class TokenShelf:
    ledger: Ledger
    approvals: Desk
    files: Tokens
    trouble: list[str] = field(default_factory=list[str])

    def export(self, approval_id: str) -> None:
        """Write the file for an approval that was granted; the same export is done once."""
        approval = self.approvals.get(approval_id)
        if approval.kind != KIND or approval.state != "approved":
            return
        self._replace_older(approval)
        try:
            self.files.write(approval.subject_id, self._render_token(approval))
        except OSError as error:
            raise AstraError(
                f"the token of {approval.subject_id} cannot be written: {error.strerror}",
                code="token_not_written",
                next_step="mend the disk; it is tried again by itself",
            ) from error
        data = {"approval": approval.id, "schedule": approval.subject_id}
        event = Event(type=EXPORTED, actor="daemon", data=data, key=f"token-exported:{approval.id}")
        try:
            self.ledger.append([event])
        except DuplicateKey:
            return

    def problem(self, schedule_id: str, digest: str) -> str:
        """Say why the file of a schedule does not allow exactly this to run, or nothing."""
        token_text = self.files.read(schedule_id)
        usable = self.approvals.find_usable(digest)
        if token_text is None:
            return NOTHING_THERE if usable is None else "its token was taken away"
        if usable is None:
            return f"its token does not count: {self._explain_refusal(token_text, digest)}"
        if token_text != self._render_token(self.approvals.get(usable)):
            return "its token is not the one that was exported"
        return ""

    def report(self, schedule_id: str, problem: str, *, correlation: str) -> Event:
        data = {"schedule": schedule_id, "problem": problem}
        return Event(type=REFUSED, actor="daemon", data=data, correlation=correlation)

    def spent(self, approval_id: str) -> None:
        """Take the file away and log it: the approval is used up, and the effect comes next."""
        approval = self.approvals.get(approval_id)
        if approval.kind != KIND:
            return
        try:
            self.files.log(self._render_log_line(approval))
            self.files.remove(approval.subject_id)
        except OSError as error:
            self.trouble.append(f"token of {approval.subject_id}: {error.strerror}")

    def settle(self) -> None:
        """Finish what a crash left: files of approvals that are over, lines that are missing."""
        logged = self.files.read_log()
        for approval in self.approvals.list_by_state(state="used"):
            if approval.kind == KIND and f'"{approval.id}"' not in logged:
                self.files.log(self._render_log_line(approval))
        for schedule_id in self.files.list_pending():
            if self._is_over(self.files.read(schedule_id) or ""):
                with contextlib.suppress(OSError):
                    self.files.remove(schedule_id)

    def _replace_older(self, approval: Approval) -> None:
        for older in self.approvals.list_by_state(state="approved"):
            if (older.kind, older.subject_id) == (KIND, approval.subject_id) and older != approval:
                self.approvals.go_stale(older.id, f"{approval.id} took its place")

    def _is_over(self, text: str) -> bool:
        approval = self._find_approval(text)
        return approval is not None and approval.state not in ("pending", "approved")

    def _explain_refusal(self, text: str, digest: str) -> str:
        approval = self._find_approval(text)
        if approval is None:
            return "the ledger knows no such approval"
        if approval.digest != digest:
            return "it is for something else than would run now"
        if approval.state == "approved":
            return "it has expired, or nobody signed it"
        return f"its approval is {approval.state}"

    def _find_approval(self, text: str) -> Approval | None:
        try:
            return self.approvals.get(str(json.loads(text)["approval"]))
        except (ValueError, TypeError, KeyError, NotFound):
            return None

    def _render_token(self, approval: Approval) -> str:
        return canonical.encode(self._build_content(approval)).decode() + "\n"

    def _render_log_line(self, approval: Approval) -> str:
        used = next(iter(self.ledger.find_mentions(approval.id, desk.USED, limit=1)), None)
        content = {
            **self._build_content(approval),
            "used_at": used.time if used else format_time(self.approvals.clock.now()),
            "sequence": used.sequence if used else None,
        }
        return canonical.encode(content).decode() + "\n"

    def _build_content(self, approval: Approval) -> dict[str, Any]:
        granted = self.ledger.record(approval.granted) if approval.granted else None
        return {
            "schedule": approval.subject_id,
            "approval": approval.id,
            "digest": approval.digest,
            "expires_at": approval.expires_at,
            "authority": granted.raw_data.get("authority") if granted else None,
        }
