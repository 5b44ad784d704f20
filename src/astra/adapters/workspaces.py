"""The files of commits, on the disk once and ready for many runs.

A checkout is made from raw blobs of the trusted repository: no attribute, filter, hook or
configuration takes part. Any checkout serves as the base of any other commit; what differs is
worked out by git from the two trees and handed to the box as edits. Paths that git would not write
either, and links that lead out of the tree, are refused. Secrets are there and empty, by the rules
in force when the workspace is opened; a checkout made under other rules is never used.

Checkouts belong to one boot of the machine, so that a power cut leaves none half-written. The most
recently used few are kept; one that a run holds is not removed.
"""

import contextlib
import fcntl
import os
import posixpath
import re
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from astra.trusted.changes.files import EXECUTABLE, LINK, SUBMODULE
from astra.trusted.changes.places import belongs_to_tests
from astra.trusted.changes.runner_parts import configures_tests, may_configure_tests
from astra.trusted.git.git_batch import CHECKED_OUT, ObjectReader
from astra.trusted.git.tree_reader import (
    TreeChange,
    TreeReader,
    UnsafePath,
    refuse_unsafe,
)
from astra.trusted.kernel.errors import NotFound
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.text import one_line
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.sandbox import boxes, machine, workspace
from astra.trusted.sandbox.ports import Edit, Workspace
from astra.trusted.sandbox.workspace import UnsafeTree

PLACE = "/workspace"
KEPT = 4
MOST_EDITS = 3_000
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Workspaces:
    """Only the daemon of a data root uses it: what an earlier one left half-made is removed.

    With `copied` runs get copies even where an overlay would do. `secrets` gives the rules in
    force.
    """

    def __init__(
        self,
        repository: Path,
        folder: Path,
        *,
        kept: int = KEPT,
        most_edits: int = MOST_EDITS,
        copied: bool = False,
        largest: int = CHECKED_OUT,
        secrets: Callable[[], SecretRules] = SecretRules,
    ) -> None:
        self._secrets = secrets
        self._objects = ObjectReader(repository, largest=largest, timeout=120.0)
        self._folder = folder / boxes.read_boot_id()
        self._checkouts: dict[str, _Checkouts] = {}
        self._make = partial(
            _Checkouts,
            trees=TreeReader(repository=repository),
            objects=self._objects,
            kept=kept,
            most_edits=most_edits,
            copied=copied,
        )
        self._remove_stale(folder)

    def open(
        self, commit: str, *, tests_from: str | None = None, test_paths: Sequence[str] = ()
    ) -> AbstractContextManager[Workspace]:
        """Give the files of a commit; with `tests_from`, its test paths come from that commit."""
        return self._under_rules().open(commit, tests_from=tests_from, test_paths=test_paths)

    def warm(self, commit: str) -> None:
        """Make the checkout of a commit now, so that runs near it start at once."""
        self._under_rules().warm(commit)

    def paths(self, commit: str) -> frozenset[bytes]:
        """List every path of a commit."""
        return self._under_rules().paths(commit)

    def list_withheld(self, commit: str) -> tuple[str, ...]:
        """List the secrets of a commit, which runs find empty."""
        rules = self._secrets()
        paths = (os.fsdecode(path) for path in sorted(self.paths(commit)))
        return tuple(path for path in paths if rules.rule_for(path))

    def close(self) -> None:
        self._objects.close()

    def _under_rules(self) -> "_Checkouts":
        rules = self._secrets()
        checkouts = self._make(folder=self._folder / rules.digest, rules=rules)
        return self._checkouts.setdefault(rules.digest, checkouts)

    def _remove_stale(self, folder: Path) -> None:
        """Remove checkouts of earlier boots and rules, and what a daemon did not finish."""
        current = self._folder / self._secrets().digest
        stale = [path for path in folder.glob("*") if path != self._folder]
        stale += [path for path in self._folder.glob("*") if path != current]
        stale += [*current.glob(".partial-*"), *current.glob(".run-*")]
        for path in stale:
            workspace.discard(path)


@dataclass(kw_only=True)
class _Checkouts:
    """The checkouts that were made under one set of rules for secrets."""

    trees: TreeReader
    folder: Path
    objects: ObjectReader
    rules: SecretRules
    kept: int
    most_edits: int
    copied: bool
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @contextlib.contextmanager
    def open(
        self, commit: str, *, tests_from: str | None, test_paths: Sequence[str]
    ) -> Generator[Workspace, None, None]:
        _check_commit(commit)
        with contextlib.ExitStack() as stack:
            with self._lock:
                base = self._base_for(tuple(filter(None, (commit, tests_from))))
                stack.enter_context(_hold_shared_lock(self.folder / f"{base}.lock"))
            edits = self._list_edits(base, commit, tests_from, test_paths)
            yield Workspace(
                place=PLACE,
                base=self.folder / base,
                edits=edits,
                scratch=self.folder / f".run-{random_id('run')}",
                copied=self.copied,
            )

    def warm(self, commit: str) -> None:
        _check_commit(commit)
        with self._lock:
            self._make(commit)

    def paths(self, commit: str) -> frozenset[bytes]:
        _check_commit(commit)
        return frozenset(file.raw_path for file in self.trees.list_files(commit))

    def _base_for(self, commits: tuple[str, ...]) -> str:
        """Find a checkout close to the commits, newest first, or make one."""
        for name in self._checkouts():
            if all(self._is_near(name, commit) for commit in commits):
                os.utime(self.folder / f"{name}.lock")
                return name
        self._make(commits[0])
        return commits[0]

    def _is_near(self, name: str, commit: str) -> bool:
        return name == commit or len(self.trees.list_changes(name, commit)) <= self.most_edits

    def _checkouts(self) -> list[str]:
        locks = sorted(self.folder.glob("*.lock"), key=lambda p: p.stat().st_mtime, reverse=True)
        return [lock.stem for lock in locks if (self.folder / lock.stem).is_dir()]

    def _make(self, commit: str) -> None:
        if (self.folder / commit).is_dir():
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = self.folder / f".partial-{random_id('run')}"
        partial.mkdir(mode=0o755)
        identity = machine.inspect_machine().identity
        if identity.dropped:
            os.chown(partial, identity.uid, identity.gid)
        top = os.open(partial, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            workspace.apply(top, self._read_edits(self._list_added(commit)), identity)
        except BaseException:
            workspace.discard(partial)
            raise
        finally:
            os.close(top)
        (self.folder / f"{commit}.lock").touch()
        partial.rename(self.folder / commit)
        self._forget_old(commit)

    def _forget_old(self, newest: str) -> None:
        for name in self._checkouts()[self.kept :]:
            lock = self.folder / f"{name}.lock"
            with contextlib.suppress(BlockingIOError), lock.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if name != newest:
                    workspace.discard(self.folder / name)
                    lock.unlink()

    def _list_edits(
        self, base: str, commit: str, tests_from: str | None, test_paths: Sequence[str]
    ) -> tuple[Edit, ...]:
        if tests_from is None:
            return self._read_edits(self.trees.list_changes(base, commit))
        _check_commit(tests_from)
        settings = self._settings_of_tests(commit, tests_from)
        by_name = _make_test_matcher(test_paths)

        def is_test(path: str) -> bool:
            return path in settings or by_name(path)

        code = (c for c in self.trees.list_changes(base, commit) if not is_test(c.path))
        tests = (c for c in self.trees.list_changes(base, tests_from) if is_test(c.path))
        return self._read_edits([*code, *tests])

    def _settings_of_tests(self, commit: str, tests_from: str) -> frozenset[str]:
        """Find the files that say how tests run beside much else, and say it differently."""
        sides = [
            [c for c in self.trees.list_changes(old, new) if may_configure_tests(c.path)]
            for old, new in ((commit, tests_from), (tests_from, commit))
        ]
        before, after = (
            {
                change.path: edit.data
                for change, edit in zip(side, self._read_edits(side), strict=True)
            }
            for side in sides
        )
        return frozenset(
            path for path, text in before.items() if configures_tests(path, text, after.get(path))
        )

    def _list_added(self, commit: str) -> Iterator[TreeChange]:
        """Give every file of a commit as a change of an empty folder."""
        for file in self.trees.list_files(commit):
            yield TreeChange(path=file.path, old=None, new=file)

    def _read_edits(self, changes: Iterable[TreeChange]) -> tuple[Edit, ...]:
        checked = [_check_change(change) for change in changes]
        oids = [c.new.oid for c in checked if c.new is not None and c.new.mode != SUBMODULE]
        blobs = zip(oids, self.objects.read_many(oids), strict=True)
        contents = {oid: blob.data for oid, blob in blobs if blob}
        return tuple(_edit_from_change(change, contents, self.rules) for change in checked)


@contextlib.contextmanager
def _hold_shared_lock(lock: Path) -> Generator[None, None, None]:
    with lock.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


def _check_commit(commit: str) -> None:
    if not _COMMIT.fullmatch(commit):
        raise NotFound(
            f"{one_line(commit, 80)} is not the full id of a commit",
            next_step="give the id that git rev-parse prints",
        )


def _check_change(change: TreeChange) -> TreeChange:
    try:
        refuse_unsafe(change)
    except UnsafePath as error:
        raise UnsafeTree(error.detail, next_step="propose a change without it") from None
    return change


def _edit_from_change(
    change: TreeChange, contents: Mapping[str, bytes], rules: SecretRules
) -> Edit:
    path, file = change.raw_path, change.new
    if file is None:
        return Edit(path=path)
    if file.mode == SUBMODULE:
        return Edit(path=path, folder=True)
    if file.oid not in contents:
        raise _make_unsafe_error(path, "is not in the repository")
    data = contents[file.oid]
    if file.mode == LINK:
        _refuse_leading_out(path, data)
        return Edit(path=path, data=data, link=True)
    if rules.rule_for(change.path):
        data = b""
    return Edit(path=path, data=data, mode=0o755 if file.mode == EXECUTABLE else 0o644)


def _refuse_leading_out(path: bytes, target: bytes) -> None:
    reached = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if target.startswith(b"/") or b"\0" in target or reached.split(b"/")[0] == b"..":
        raise _make_unsafe_error(path, "is a link that leads out of the tree")


def _make_test_matcher(test_paths: Sequence[str]) -> Callable[[str], bool]:
    return lambda path: belongs_to_tests(path, test_paths)


def _make_unsafe_error(path: bytes, why: str) -> UnsafeTree:
    printable_path = one_line(path.decode("utf-8", "replace"))
    return UnsafeTree(f"{printable_path} {why}", next_step="propose a change without it")
