"""What somebody is told who decides on a change as it was, not as it is."""

from astra.trusted.changes.model import Change
from astra.trusted.kernel.errors import Conflict
from astra.trusted.kernel.text import one_line


def require_current_commit(change: Change, commit: str | None) -> Change:
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


def already_rejected_error(change: Change) -> Conflict:
    """Say to whoever rejects second that it was done, and why."""
    return Conflict(
        f"{change.id} was rejected already: {one_line(change.reason, 200)}",
        code="already_decided",
        next_step=f"astra changes show {change.id}",
        state=str(change.state),
    )
