"""The inverse of a merged change, worked out on the target's branch as it is now.

Each file goes back to what it was before the change. Where something later touched the same file,
the three versions are merged line by line, as for any change that is carried over; what cannot be
told apart is a conflict and never guessed.
"""

from astra.trusted.changes import rebase
from astra.trusted.changes.files import ChangedFile, Result
from astra.trusted.changes.model import MERGED, Change
from astra.trusted.changes.ports import ChangeRepo
from astra.trusted.kernel.errors import Conflict, Refused

_SHOWN = 10


def compute_inverse(repo: ChangeRepo, change: Change, base: str) -> Result:
    """Give what every file of a merged change has to become to take it back on `base`."""
    _refuse_unmerged(change)
    inverse = tuple(_invert_file(file) for file in repo.differences(change.base, change.commit))
    outcome = rebase.carry_over(repo, change=inverse, old=change.commit, new=base)
    if outcome.conflicts:
        raise _make_conflict(repo, change, outcome.conflicts)
    if not outcome.result:
        raise Conflict(
            f"{repo.branch} holds nothing of {change.id} any more: it was reverted already",
            code="already_reverted",
            next_step=f"astra changes show {change.id}",
        )
    return outcome.result


def _refuse_unmerged(change: Change) -> None:
    if change.state not in MERGED:
        raise Refused(
            f"{change.id} is {change.state}, not merged: there is nothing to revert",
            code="not_merged",
            next_step=f"astra changes show {change.id}",
        )


def _invert_file(file: ChangedFile) -> ChangedFile:
    return ChangedFile(
        path=file.path,
        old_mode=file.new_mode,
        new_mode=file.old_mode,
        old=file.new,
        new=file.old,
    )


def _make_conflict(repo: ChangeRepo, change: Change, paths: tuple[str, ...]) -> Conflict:
    names = [ascii(path) for path in paths]
    return Conflict(
        f"{change.id} cannot be reverted by itself: later commits of {repo.branch} changed the"
        f" same lines of {', '.join(names[:_SHOWN])}",
        code="merge_conflict",
        next_step="revert the later change first, or propose the files as they should be",
        paths=names,
    )
