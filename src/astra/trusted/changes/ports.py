"""What changes need of the world: the trusted repository, and files that show what waits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from astra.trusted.changes.files import ChangedFile, FileState, Result


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeEntry:
    mode: str
    blob: str


Tree = Mapping[str, TreeEntry]


@dataclass(frozen=True, kw_only=True)
class Commit:
    id: str
    tree: str


class ChangeRepo(Protocol):
    """The trusted repository. Nothing in it is interpreted: trees and blobs are read raw."""

    @property
    def branch(self) -> str: ...

    def head(self) -> str:
        """Give the commit that the target's branch is at."""
        ...

    def tree(self, commit: str) -> Tree: ...

    def files(self, commit: str, paths: Sequence[str]) -> Mapping[str, FileState]: ...

    def commit(self, *, base: str, result: Result, message: str, when: datetime) -> Commit:
        """Make a commit that no branch names yet; the same content gives the same commit."""
        ...

    def set_change_branch(self, change_id: str, commit: str) -> None:
        """Let the change's branch name a commit; doing it again changes nothing."""
        ...

    def differences(self, old: str, new: str) -> tuple[ChangedFile, ...]: ...

    def diff(self, old: str, new: str) -> bytes: ...

    def merge_texts(self, *, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        """Merge three versions line by line, or give None where they conflict."""
        ...

    def is_merged(self, commit: str) -> bool: ...

    def is_ancestor(self, old: str, new: str) -> bool: ...

    def parent(self, commit: str) -> str | None:
        """Give the first parent of a commit, or None where it has none."""
        ...

    def fast_forward(self, *, expected: str, to: str) -> bool:
        """Move the target's branch from exactly one commit to another; tell whether it moved."""
        ...


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What an agent's own branch differs in from a commit of the target."""

    tip: str
    base: str
    files: tuple[ChangedFile, ...]


class CloneImports(Protocol):
    """Reads the agent's own clone, which is hostile."""

    def read(self, branch: str, *, most_files: int, actor: str, correlation: str) -> Imported: ...

    def read_edits(self, *, most_files: int, actor: str, correlation: str) -> Imported | None:
        """Read what lies in the work tree and is in no commit; None where there is nothing."""
        ...


class WaitingFlag(Protocol):
    """The file that names the changes to tests which a person has to look at."""

    def write(self, change_ids: Sequence[str]) -> None: ...
