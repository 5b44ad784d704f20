"""The trusted repository of one machine among several: it has what the chain names.

A commit made here is pushed before it is recorded; one made elsewhere is fetched when it is needed.
The target's branch follows the chain: where another machine moved it and said so, it is moved here
before anybody reads it. A move of this machine that is not recorded yet stands.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from astra.adapters.git_objects import ObjectExchange
from astra.trusted.changes.files import ChangedFile, Result
from astra.trusted.changes.ports import Commit, Tree
from astra.trusted.git.change_repo import GitChangeRepo

_MOST_KNOWN = 10_000


@dataclass
class TravellingRepo(GitChangeRepo):
    objects: ObjectExchange | None = None
    find_recorded_head: Callable[[], str] = str
    """Gives the commit that the chain last moved the target's branch to, or nothing."""
    _known: set[str] = field(default_factory=set[str], init=False)

    def head(self) -> str:
        local_head, recorded_head = super().head(), self.find_recorded_head()
        if not recorded_head or recorded_head == local_head or not self._travels:
            return local_head
        if self.is_ancestor(recorded_head, local_head):
            return local_head
        self._need(recorded_head)
        super().fast_forward(expected=local_head, to=recorded_head)
        return super().head()

    def tree(self, commit: str) -> Tree:
        self._need(commit)
        return super().tree(commit)

    def differences(self, old: str, new: str) -> tuple[ChangedFile, ...]:
        self._need(old, new)
        return super().differences(old, new)

    def diff(self, old: str, new: str) -> bytes:
        self._need(old, new)
        return super().diff(old, new)

    def commit(
        self,
        *,
        base: str,
        result: Result,
        message: str,
        when: datetime,
        merged: Sequence[str] = (),
    ) -> Commit:
        self._need(base)
        commit = super().commit(base=base, result=result, message=message, when=when, merged=merged)
        self.publish(commit.id)
        return commit

    def set_change_branch(self, change_id: str, commit: str) -> None:
        self._need(commit)
        super().set_change_branch(change_id, commit)

    def fast_forward(self, *, expected: str, to: str) -> bool:
        self._need(to)
        self.publish(to)
        return super().fast_forward(expected=expected, to=to)

    @property
    def _travels(self) -> bool:
        return self.objects is not None and self.objects.is_configured

    def _need(self, *commits: str) -> None:
        unchecked_commits = [commit for commit in commits if commit not in self._known]
        if unchecked_commits and self.objects is not None and self._travels:
            self.objects.ensure(unchecked_commits)
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            self._known.update(unchecked_commits)

    def publish(self, *commits: str) -> None:
        """Put commits where the other machines find them, whoever made them."""
        if self.objects is not None and self._travels:
            self.objects.publish(commits)
