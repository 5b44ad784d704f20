"""Carrying a change over to a base that moved: file by file, and never by guessing.

A path that only one side touched is taken from that side. Where both touched it, the three versions
are merged line by line; a mode, a deletion or overlapping lines are a conflict, which goes back to
the agent.
"""

from dataclasses import dataclass, field

from astra.trusted.changes.files import EXECUTABLE, REGULAR, ChangedFile, FileState, Result
from astra.trusted.changes.ports import ChangeRepo

_PLAIN = frozenset({REGULAR, EXECUTABLE})


@dataclass(frozen=True, kw_only=True)
class Carried:
    result: Result = field(default_factory=dict[str, FileState | None])
    conflicts: tuple[str, ...] = ()


def carry_over(repo: ChangeRepo, *, change: tuple[ChangedFile, ...], old: str, new: str) -> Carried:
    """Work out what a change made on `old` becomes on `new`."""
    base_changes = {file.path: file for file in repo.differences(old, new)}
    result: Result = {}
    conflicts: list[str] = []
    for ours in change:
        theirs = base_changes.get(ours.path)
        if theirs is None:
            result[ours.path] = _to_file_state(ours)
        elif (theirs.new_mode, theirs.new) == (ours.new_mode, ours.new):
            continue
        elif (merged := _merge_file(repo, ours, theirs)) is None:
            conflicts.append(ours.path)
        else:
            result[ours.path] = merged
    return Carried(result=result, conflicts=tuple(conflicts))


def _merge_file(repo: ChangeRepo, ours: ChangedFile, theirs: ChangedFile) -> FileState | None:
    modes = {ours.old_mode, ours.new_mode, theirs.new_mode}
    if not modes <= _PLAIN or len(modes - {ours.old_mode}) > 1:
        return None
    if ours.old is None or ours.new is None or theirs.new is None:
        return None
    content = repo.merge_texts(base=ours.old, ours=ours.new, theirs=theirs.new)
    if content is None:
        return None
    mode = ours.new_mode if ours.new_mode != ours.old_mode else theirs.new_mode
    return FileState(content=content, mode=mode or REGULAR)


def _to_file_state(file: ChangedFile) -> FileState | None:
    if file.new_mode is None:
        return None
    return FileState(content=file.new or b"", mode=file.new_mode)
