"""What is said about a change: rejecting it, remarks on its lines, asking for another one."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from astra.changes.lines import Lines, Remark
from astra.trusted.changes import events, model, tasks
from astra.trusted.changes.events import make_event
from astra.trusted.changes.model import Change, State
from astra.trusted.changes.workbench import Workbench
from astra.trusted.kernel.errors import BadInput, Conflict
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.ledger.record import Event

_LONGEST_COMMENT = 4000


@dataclass(frozen=True)
class Remarks:
    bench: Workbench

    def reject(
        self,
        identifier: str,
        reason: str,
        *,
        actor: str,
        remarks: Sequence[Remark] = (),
        seen: str | None = None,
    ) -> None:
        """Turn a change down, with what there is to say about its lines, or not at all.

        That is free, also while code writing is off. `seen` is the commit that was looked at.
        """
        change = _require_current_commit(self.bench.book.get(identifier), seen)
        reason_text, remark_data = (
            _clean_text(reason),
            Lines(self.bench.repo).check_remarks(change, remarks),
        )
        beside = [_commented(change, "", remark_data, actor=actor)] if remark_data else []
        if change.state is State.REJECTED:
            raise _already_rejected_error(change)
        if change.state is State.AWAITING and change.approval:
            self.bench.desk.reject(change.approval, reason_text, actor=actor, beside=beside)
        else:
            model.require(change, model.WITHDRAWN)
            event = events.withdrawn(change, reason_text, actor=actor)
            expect = {change.id: self.bench.book.version(change.id)}
            self.bench.ledger.append([*beside, event], expect=expect)
        if not self.bench.closed():
            with contextlib.suppress(Conflict):  # the daemon's own step may have been first
                self.close(identifier)
        self.bench.show_waiting()

    def close(self, identifier: str) -> None:
        """Record a rejection in the code family, and end the task; once code may be written."""
        change = self.bench.book.get(identifier)
        if change.state is not State.REJECTED or change.closed:
            return
        self.bench.append(
            change,
            events.rejected(change, change.reason, actor=events.DAEMON),
            tasks.make_finished_event(
                change.task, outcome="rejected", correlation=change.correlation
            ),
        )
        self.bench.show_waiting()

    def comment(
        self,
        identifier: str,
        text: str,
        *,
        actor: str,
        remarks: Sequence[Remark] = (),
        seen: str | None = None,
    ) -> None:
        """Say something about a change, or about lines of it; nothing is decided by that."""
        change = _require_current_commit(self.bench.book.get(identifier), seen)
        comment_text, remark_data = self._check_comment(change, text, remarks)
        self.bench.ledger.append([_commented(change, comment_text, remark_data, actor=actor)])

    def request_changes(
        self,
        identifier: str,
        text: str,
        *,
        actor: str,
        remarks: Sequence[Remark] = (),
        seen: str | None = None,
    ) -> None:
        """Send a change back: the agent reads why, and can propose a revision that supersedes."""
        change = _require_current_commit(self.bench.book.get(identifier), seen)
        model.require(change, model.REVISION_REQUESTED)
        expect = {change.id: self.bench.book.version(change.id)}
        comment_text, remark_data = self._check_comment(change, text, remarks)
        event = _revision_requested(change, comment_text, remark_data, actor=actor)
        self.bench.ledger.append([event], expect=expect)
        if change.approval:
            self.bench.desk.go_stale(change.approval, "the reviewer asked for changes")

    def _check_comment(
        self, change: Change, text: str, remarks: Sequence[Remark]
    ) -> tuple[str, list[dict[str, Any]]]:
        """Check what is to be said; remarks on lines can stand without words about the whole."""
        remark_data = Lines(self.bench.repo).check_remarks(change, remarks)
        return (_clean_text(text) if text.strip() or not remark_data else ""), remark_data

    def renew(self, identifier: str, *, actor: str) -> None:
        """Gather the evidence again, from scratch; an approval that waits is withdrawn.

        A change whose base moved is asked for anew, which carries it over and tests it once.
        """
        change = self.bench.book.get(identifier)
        if change.state is State.GATHERING:
            return
        if change.state is State.AWAITING and change.approval and self._is_behind(change):
            self.bench.require_open()
            self.bench.desk.go_stale(change.approval, "the base moved")
            return
        self.bench.append(change, events.renewed(change, actor=actor))
        if change.approval:
            self.bench.desk.go_stale(change.approval, "the evidence is gathered again")

    def _is_behind(self, change: Change) -> bool:
        return self.bench.repo.head() != change.base


def _clean_text(text: str) -> str:
    clean = printable(text).strip()
    if not clean or len(clean) > _LONGEST_COMMENT:
        raise BadInput(
            f"say something, in at most {_LONGEST_COMMENT} characters",
            next_step="the agent gets to read it",
        )
    return clean


def _require_current_commit(change: Change, commit: str | None) -> Change:
    """Give a change, unless it was moved to another commit since somebody looked at it."""
    if commit in {None, change.commit}:
        return change
    raise Conflict(
        f"{change.id} is commit {change.commit[:12]} by now, on {change.base[:12]}; you looked at"
        f" {one_line(str(commit), 12)}, and its lines may stand elsewhere",
        code="stale_commit",
        next_step="look at its diff as it is now, then say it again",
        commit=change.commit,
    )


def _already_rejected_error(change: Change) -> Conflict:
    """Say to whoever rejects second that it was done, and why."""
    return Conflict(
        f"{change.id} was rejected already: {one_line(change.reason, 200)}",
        code="already_decided",
        next_step=f"astra changes show {change.id}",
        state=str(change.state),
    )


def _commented(change: Change, text: str, remarks: list[dict[str, Any]], *, actor: str) -> Event:
    return make_event(change, model.COMMENTED, {"text": text, "remarks": remarks}, actor=actor)


def _revision_requested(
    change: Change, text: str, remarks: list[dict[str, Any]], *, actor: str
) -> Event:
    return make_event(
        change, model.REVISION_REQUESTED, {"text": text, "remarks": remarks}, actor=actor
    )
