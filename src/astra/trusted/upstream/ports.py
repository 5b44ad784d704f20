"""What bringing commits in needs of the world: a repository where nothing is trusted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from astra.trusted.changes.ports import ChangeRepo


@dataclass(frozen=True, kw_only=True)
class IncomingCommit:
    """A commit as whoever made it says; only a signature says who that was."""

    id: str
    author: str
    email: str
    time: str
    subject: str
    parents: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "parents": list(self.parents)}


class UpstreamRepo(Protocol):
    """The quarantine: a bare repository apart from the trusted one, which it may not write."""

    @property
    def address(self) -> str:
        """Where commits come from, without credentials; empty where there is no upstream."""
        ...

    @property
    def repo(self) -> ChangeRepo:
        """The commits of both sides, as raw objects."""
        ...

    def fetch(self) -> None:
        """Fetch the upstream's branch, each object checked; the trusted branch is there too."""
        ...

    def tip(self) -> str | None:
        """Give the upstream's newest commit as it was last fetched."""
        ...

    def merge_base(self, ours: str, theirs: str) -> str | None: ...

    def list_commits(self, *, behind: str, tip: str, most: int) -> list[IncomingCommit]:
        """List the commits of one side that another does not have, newest first."""
        ...

    def choose_part(self, *, behind: str, tip: str, most: int) -> str:
        """Give the newest commit on the way to a tip that brings at most so many, or the first."""
        ...

    def count_commits(self, *, behind: str, tip: str) -> int: ...

    def all_signed_by(self, commits: Sequence[str], signers: Sequence[str]) -> bool:
        """Tell whether each commit carries a good signature of one of these SSH keys."""
        ...

    def make_merge(self, *, ours: str, theirs: str, base: str) -> tuple[str, tuple[str, ...]]:
        """Make the merge of two commits; gives it, or the paths that conflict."""
        ...

    def keep(self, commit: str) -> None:
        """Name a commit so that it stays, whatever the upstream becomes."""
        ...

    def bring_in(self, commit: str) -> None:
        """Copy a kept commit with its ancestry into the trusted repository; no branch moves."""
        ...
