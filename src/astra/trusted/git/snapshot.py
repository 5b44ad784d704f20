"""Revisions and the files of one commit, as the source view sees them.

A revision is the target's branch, another branch, a change id (its branch is `astra/<id>`) or a
commit id. A snapshot holds the files of one commit: secrets are not in it, so nothing built on it
can return one. Symlinks and submodules are entries of their own kind and are never followed.
Names are compared in Unicode NFC; an entry whose name is no clean path, or whose NFC form is
taken twice, cannot be asked for and is only counted.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from astra.trusted.changes.files import LINK, SUBMODULE
from astra.trusted.git.tree_reader import TreeFile, clean_path
from astra.trusted.kernel import ids
from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy.paths import quote
from astra.trusted.policy.secrets import SecretRules

_COMMIT_ID = re.compile(r"[0-9a-f]{7,64}")
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,200}")


class BadRevision(BadInput):
    code = "bad_revision"


class EntryKind(StrEnum):
    FILE = "file"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    path: str
    kind: EntryKind
    oid: str
    size: int | None


@dataclass(frozen=True)
class Snapshot:
    """The files of one commit that may be seen, in order of their paths."""

    commit: str
    entries: tuple[Entry, ...]
    unaddressable: int

    @cached_property
    def by_path(self) -> dict[str, Entry]:
        return {entry.path: entry for entry in self.entries}

    @cached_property
    def paths(self) -> list[str]:
        return [entry.path for entry in self.entries]

    @cached_property
    def folders(self) -> frozenset[str]:
        folder_paths: set[str] = set()
        for path in self.paths:
            folder = path.rpartition("/")[0]
            while folder and folder not in folder_paths:
                folder_paths.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(folder_paths)


def revision_name(text: str | None, *, branch: str) -> str:
    """Turn what an agent calls a revision into a name git cannot misread."""
    if text is None:
        return f"refs/heads/{branch}^{{commit}}"
    if ids.is_id(text):
        return f"refs/heads/astra/{text}^{{commit}}"
    if is_commit_id(text):
        return f"{text}^{{commit}}"
    if _is_branch(text):
        return f"refs/heads/{text}^{{commit}}"
    raise BadRevision(
        f"{quote(text)} is not a branch, a commit id or a change id",
        next_step=f"leave it out to see the branch {branch}, or give a commit id",
    )


def is_commit_id(text: str) -> bool:
    return _COMMIT_ID.fullmatch(text) is not None


def make_snapshot(commit: str, files: Sequence[TreeFile], *, secrets: SecretRules) -> Snapshot:
    """Take the files of a commit, without secrets and names that cannot be asked for."""
    names = [(clean_path(file.path), file) for file in files]
    name_counts = Counter(name for name, _ in names)
    entries = [
        _entry_from_file(name, file)
        for name, file in names
        if name is not None and name_counts[name] == 1
    ]
    return Snapshot(
        commit=commit,
        entries=tuple(
            sorted((e for e in entries if not secrets.rule_for(e.path)), key=lambda e: e.path)
        ),
        unaddressable=len(files) - len(entries),
    )


def _is_branch(text: str) -> bool:
    return (
        _BRANCH.fullmatch(text) is not None
        and ".." not in text
        and "//" not in text
        and "/." not in text
        and not text.endswith((".lock", "/", "."))
        and ".lock/" not in text
    )


def _entry_from_file(name: str, file: TreeFile) -> Entry:
    kinds = {SUBMODULE: EntryKind.SUBMODULE, LINK: EntryKind.SYMLINK}
    return Entry(path=name, kind=kinds.get(file.mode, EntryKind.FILE), oid=file.oid, size=file.size)
