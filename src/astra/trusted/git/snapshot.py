"""Commits and trees of the trusted repository, as the source view sees them.

A revision is the target's branch, another branch, a change id (its branch is `astra/<id>`) or a
commit id. A snapshot holds the files of one commit: secrets are not in it, so nothing built on it
can return one. Symlinks and submodules are entries of their own kind and are never followed.
Names are compared in Unicode NFC; an entry whose name is no clean path, or whose NFC form is
taken twice, cannot be asked for and is only counted.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from astra.trusted.git.git_command import GitCommand
from astra.trusted.kernel import ids
from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy.paths import PathRefused, parse_relative, quote
from astra.trusted.policy.secrets import SecretRules

_COMMIT_ID = re.compile(r"[0-9a-f]{7,64}")
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,200}")
_ENTRY = re.compile(rb"(\d{6}) (blob|commit) ([0-9a-f]{40,64}) +(\d+|-)\t(.+)", re.DOTALL)


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
        found: set[str] = set()
        for path in self.paths:
            folder = path.rpartition("/")[0]
            while folder and folder not in found:
                found.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(found)


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


def tree_command(repository: Path, tree: str) -> GitCommand:
    return GitCommand(
        repository=repository,
        arguments=("ls-tree", "-r", "-l", "-z", "--full-tree", "--end-of-options", tree),
    )


def parse_tree(commit: str, output: bytes, *, secrets: SecretRules) -> Snapshot:
    """Read the output of `tree_command`, dropping secrets and names that cannot be asked for."""
    lines = [_ENTRY.fullmatch(line) for line in output.split(b"\0") if line]
    named = [(_clean_name(line[5]), line) for line in lines if line is not None]
    taken = Counter(name for name, _ in named)
    entries = [_entry(name, line) for name, line in named if name is not None and taken[name] == 1]
    return Snapshot(
        commit=commit,
        entries=tuple(
            sorted((e for e in entries if not secrets.rule_for(e.path)), key=lambda e: e.path)
        ),
        unaddressable=len(lines) - len(entries),
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


def _clean_name(raw: bytes) -> str | None:
    try:
        name = unicodedata.normalize("NFC", raw.decode())
        return name if parse_relative(name).text == name else None
    except (UnicodeDecodeError, PathRefused):
        return None


def _entry(name: str, line: re.Match[bytes]) -> Entry:
    kinds = {b"160000": EntryKind.SUBMODULE, b"120000": EntryKind.SYMLINK}
    return Entry(
        path=name,
        kind=kinds.get(line[1], EntryKind.FILE),
        oid=line[3].decode(),
        size=None if line[4] == b"-" else int(line[4]),
    )
