"""Quarantine follows ancestry: a commit on top of one that failed in service still contains it.

Contained means: the failed commit is an ancestor, and undoing it would still change something. It
is undone when taking its change back, file by file and line by line, leaves everything as it is;
what was only edited near by, or cannot be told, counts as contained. Whoever deploys such a commit
says so, by the term `despite_quarantine`, which is part of what is signed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from astra.trusted.changes.files import EXECUTABLE, REGULAR, ChangedFile, FileState
from astra.trusted.changes.ports import ChangeRepo
from astra.trusted.kernel.errors import Refused

TERM = "despite_quarantine"
_SHORT = 12


class ContainsQuarantined(Refused):
    code = "contains_quarantined"


def find_contained(repo: ChangeRepo, commit: str, quarantined: Iterable[str]) -> tuple[str, ...]:
    """Name the quarantined commits below this one that it does not undo."""
    return tuple(
        failed
        for failed in sorted(quarantined)
        if failed != commit and is_held(repo, failed, commit)
    )


def is_held(repo: ChangeRepo, failed: str, commit: str) -> bool:
    """Tell whether a commit has another one below it, or is it, and does not undo it."""
    return repo.is_ancestor(failed, commit) and not _is_undone(repo, failed, commit)


def read_accepted(terms: Mapping[str, Any]) -> tuple[str, ...]:
    """Read from signed terms which quarantined commits were accepted, each by its whole id."""
    value = terms.get(TERM)
    return tuple(str(commit) for commit in value) if isinstance(value, list | tuple) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def refuse_unnamed(
    subject: str, inside: Sequence[str], accepted: Sequence[str], *, command: str
) -> None:
    """Refuse to deploy what contains a quarantined commit that nobody named."""
    unnamed_commits = [commit for commit in inside if commit not in accepted]
    if unnamed_commits:
        options = " ".join(f"--despite-quarantine {commit[:_SHORT]}" for commit in unnamed_commits)
        raise ContainsQuarantined(
            f"{subject} still contains {unnamed_commits[0][:_SHORT]}, which failed in service",
            next_step=f"deploy a change that takes it back; an operator can insist: {command}"
            f" {options}",
            commits=unnamed_commits,
        )


def _is_undone(repo: ChangeRepo, failed: str, commit: str) -> bool:
    parent = repo.parent(failed)
    if parent is None:
        return False
    touched = repo.differences(parent, failed)
    now = repo.files(commit, [file.path for file in touched])
    return all(_is_taken_back(repo, file, now.get(file.path)) for file in touched)


def _is_taken_back(repo: ChangeRepo, file: ChangedFile, now: FileState | None) -> bool:
    before = None if file.old is None else (file.old_mode, file.old)
    if (None if now is None else (now.mode, now.content)) == before:
        return True
    if now is None or file.old is None or file.new is None:
        return False
    if {now.mode, file.old_mode, file.new_mode} - {REGULAR, EXECUTABLE}:
        return False
    if file.old_mode not in {now.mode, file.new_mode}:
        return False
    merged = repo.merge_texts(base=file.new, ours=now.content, theirs=file.old)
    return merged == now.content
