"""The files of commits, on the disk once and ready for many runs.

A checkout is made from raw blobs of the trusted repository: no attribute, filter, hook or
configuration takes part. Any checkout serves as the base of any other commit; what differs is
worked out by git from the two trees and handed to the box as edits. Paths that git would not write
either, and links that lead out of the tree, are refused. Secrets by name are there and empty.

Checkouts belong to one boot of the machine, so that a power cut leaves none half-written. The most
recently used few are kept; one that a run holds is not removed.
"""

import contextlib
import fcntl
import os
import posixpath
import re
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.changes.files import EXECUTABLE, LINK, SUBMODULE
from astra.trusted.changes.places import belongs_to_tests
from astra.trusted.changes.runner_parts import configures_tests, may_configure_tests
from astra.trusted.git.git_batch import CHECKED_OUT, ObjectReader
from astra.trusted.git.git_command import GitCommand, run_git
from astra.trusted.kernel.errors import NotFound
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.text import one_line
from astra.trusted.policy.manifest import is_secret_name
from astra.trusted.sandbox import boxes, machine, workspace
from astra.trusted.sandbox.workspace import Edit, UnsafeTree, Workspace

PLACE = "/workspace"
KEPT = 4
MOST_EDITS = 3_000
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NOTHING = "000000"
_KNOWN_MODES = frozenset({"100644", "100664", EXECUTABLE, LINK, SUBMODULE})


@dataclass(frozen=True)
class _Difference:
    path: bytes
    mode: str
    oid: str


class Workspaces:
    """Only the daemon of a data root uses it: what an earlier one left half-made is removed.

    With `copied` runs get copies even where an overlay would do.
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
    ) -> None:
        self._repository = repository
        self._folder = folder / boxes.boot()
        self._kept = kept
        self._most_edits = most_edits
        self._copied = copied
        self._objects = ObjectReader(repository, largest=largest, timeout=120.0)
        self._lock = threading.Lock()
        self._clear(folder)

    @contextlib.contextmanager
    def open(
        self, commit: str, *, tests_from: str | None = None, test_paths: Sequence[str] = ()
    ) -> Generator[Workspace, None, None]:
        """Give the files of a commit; with `tests_from`, its test paths come from that commit."""
        _check_commit(commit)
        with contextlib.ExitStack() as stack:
            with self._lock:
                base = self._base_for(tuple(filter(None, (commit, tests_from))))
                stack.enter_context(_held(self._folder / f"{base}.lock"))
            edits = self._edits(base, commit, tests_from, test_paths)
            yield Workspace(
                place=PLACE,
                base=self._folder / base,
                edits=edits,
                scratch=self._folder / f".run-{random_id('run')}",
                copied=self._copied,
            )

    def warm(self, commit: str) -> None:
        """Make the checkout of a commit now, so that runs near it start at once."""
        _check_commit(commit)
        with self._lock:
            self._make(commit)

    def paths(self, commit: str) -> frozenset[bytes]:
        """List every path of a commit."""
        _check_commit(commit)
        return frozenset(difference.path for difference in self._listed(commit))

    def close(self) -> None:
        self._objects.close()

    def _base_for(self, commits: tuple[str, ...]) -> str:
        """Find a checkout close to the commits, newest first, or make one."""
        for name in self._checkouts():
            if all(self._is_near(name, commit) for commit in commits):
                os.utime(self._folder / f"{name}.lock")
                return name
        self._make(commits[0])
        return commits[0]

    def _is_near(self, name: str, commit: str) -> bool:
        return name == commit or len(self._differing(name, commit)) <= self._most_edits

    def _checkouts(self) -> list[str]:
        locks = sorted(self._folder.glob("*.lock"), key=lambda p: p.stat().st_mtime, reverse=True)
        return [lock.stem for lock in locks if (self._folder / lock.stem).is_dir()]

    def _make(self, commit: str) -> None:
        if (self._folder / commit).is_dir():
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = self._folder / f".partial-{random_id('run')}"
        partial.mkdir(mode=0o755)
        identity = machine.look().identity
        if identity.dropped:
            os.chown(partial, identity.uid, identity.gid)
        top = os.open(partial, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            workspace.apply(top, self._read(self._listed(commit)), identity)
        except BaseException:
            workspace.discard(partial)
            raise
        finally:
            os.close(top)
        (self._folder / f"{commit}.lock").touch()
        partial.rename(self._folder / commit)
        self._forget_old(commit)

    def _forget_old(self, newest: str) -> None:
        for name in self._checkouts()[self._kept :]:
            lock = self._folder / f"{name}.lock"
            with contextlib.suppress(BlockingIOError), lock.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if name != newest:
                    workspace.discard(self._folder / name)
                    lock.unlink()

    def _clear(self, folder: Path) -> None:
        """Remove checkouts of earlier boots, and what an earlier daemon did not finish."""
        stale = [path for path in folder.glob("*") if path != self._folder]
        stale += [*self._folder.glob(".partial-*"), *self._folder.glob(".run-*")]
        for path in stale:
            workspace.discard(path)

    def _edits(
        self, base: str, commit: str, tests_from: str | None, test_paths: Sequence[str]
    ) -> tuple[Edit, ...]:
        if tests_from is None:
            return self._read(self._differing(base, commit))
        _check_commit(tests_from)
        settings = self._settings_of_tests(commit, tests_from)
        by_name = _in(test_paths)

        def is_test(path: bytes) -> bool:
            return path in settings or by_name(path)

        code = (d for d in self._differing(base, commit) if not is_test(d.path))
        tests = (d for d in self._differing(base, tests_from) if is_test(d.path))
        return self._read([*code, *tests])

    def _settings_of_tests(self, commit: str, tests_from: str) -> frozenset[bytes]:
        """Find the files that say how tests run beside much else, and say it differently."""
        named = [
            [d for d in self._differing(old, new) if may_configure_tests(os.fsdecode(d.path))]
            for old, new in ((commit, tests_from), (tests_from, commit))
        ]
        texts = [{edit.path: edit.data for edit in self._read(side)} for side in named]
        return frozenset(
            path
            for path in texts[0]
            if configures_tests(os.fsdecode(path), texts[0][path], texts[1].get(path))
        )

    def _read(self, differences: Iterable[_Difference]) -> tuple[Edit, ...]:
        wanted = [_checked(difference) for difference in differences]
        with_text = [d for d in wanted if d.mode not in {_NOTHING, SUBMODULE}]
        found = self._objects.read_many([d.oid for d in with_text])
        texts = {d.oid: blob.data for d, blob in zip(with_text, found, strict=True) if blob}
        return tuple(_edit(difference, texts) for difference in wanted)

    def _differing(self, old: str, new: str) -> list[_Difference]:
        words = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--full-index")
        raw = self._git(*words, "--end-of-options", old, new).split(b"\0")
        return [
            _Difference(path, facts.split()[1].decode(), facts.split()[3].decode())
            for facts, path in zip(raw[::2], raw[1::2], strict=False)
        ]

    def _listed(self, commit: str) -> list[_Difference]:
        raw = self._git("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", commit)
        entries = (line.partition(b"\t") for line in raw.split(b"\0") if line)
        return [
            _Difference(path, facts.split()[0].decode(), facts.split()[2].decode())
            for facts, _tab, path in entries
        ]

    def _git(self, *words: str) -> bytes:
        return run_git(GitCommand(repository=self._repository, arguments=words)).output


@contextlib.contextmanager
def _held(lock: Path) -> Generator[None, None, None]:
    with lock.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


def _check_commit(commit: str) -> None:
    if not _COMMIT.fullmatch(commit):
        raise NotFound(
            f"{one_line(commit, 80)} is not the full id of a commit",
            next_step="give the id that git rev-parse prints",
        )


def _checked(difference: _Difference) -> _Difference:
    names = difference.path.split(b"/")
    if any(name in {b"", b".", b".."} or name.lower() == b".git" for name in names):
        raise _unsafe(difference.path, "is no path that may be written")
    if difference.mode not in {*_KNOWN_MODES, _NOTHING}:
        raise _unsafe(difference.path, f"has the unknown mode {difference.mode}")
    return difference


def _edit(difference: _Difference, texts: dict[str, bytes]) -> Edit:
    path, mode = difference.path, difference.mode
    if mode == _NOTHING:
        return Edit(path=path)
    if mode == SUBMODULE:
        return Edit(path=path, folder=True)
    if difference.oid not in texts:
        raise _unsafe(path, "is not in the repository")
    data = texts[difference.oid]
    if mode == LINK:
        _refuse_leading_out(path, data)
        return Edit(path=path, data=data, link=True)
    if is_secret_name(os.fsdecode(posixpath.basename(path))):
        data = b""
    return Edit(path=path, data=data, mode=0o755 if mode == EXECUTABLE else 0o644)


def _refuse_leading_out(path: bytes, target: bytes) -> None:
    reached = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if target.startswith(b"/") or b"\0" in target or reached.split(b"/")[0] == b"..":
        raise _unsafe(path, "is a link that leads out of the tree")


def _in(test_paths: Sequence[str]) -> Callable[[bytes], bool]:
    return lambda path: belongs_to_tests(os.fsdecode(path), test_paths)


def _unsafe(path: bytes, why: str) -> UnsafeTree:
    shown = one_line(path.decode("utf-8", "replace"))
    return UnsafeTree(f"{shown} {why}", next_step="propose a change without it")
