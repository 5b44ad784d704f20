"""Commits of changes in the trusted repository, made with a temporary index and no work tree.

Whatever attributes, filters, hooks or replace refs a tree carries, they take no part: blobs go in
and come out raw, and a diff shows every byte as text. The target's branch moves only from the
commit that was expected to the commit that was decided on.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from astra.trusted.changes.files import EXECUTABLE, LINK, REGULAR, ChangedFile, FileState, Result
from astra.trusted.changes.ports import Commit, Tree, TreeEntry
from astra.trusted.git.git_batch import ObjectReader
from astra.trusted.git.git_command import GitCommand, GitFailed, run_git
from astra.trusted.git.tree_reader import TreeChange, TreeFile, TreeReader, encode_path
from astra.trusted.kernel.errors import NotFound

_UNKNOWN = 128  # a commit that is not there is nobody's ancestor
_READABLE = frozenset({REGULAR, EXECUTABLE, LINK})
_WORKSHOP = "astra-tmp"
_TREES_KEPT = 4
_LOCK_SECONDS = 60.0
_ANY_CODE = frozenset(range(256))


@dataclass(frozen=True, kw_only=True)
class Identity:
    name: str
    email: str


@dataclass
class GitChangeRepo:
    repository: Path
    branch: str
    identity: Identity
    _objects: ObjectReader = field(init=False)
    _reader: TreeReader = field(init=False)
    _trees: dict[str, Tree] = field(default_factory=dict[str, Tree], init=False)

    def __post_init__(self) -> None:
        self._objects = ObjectReader(self.repository)
        self._reader = TreeReader(repository=self.repository)

    def close(self) -> None:
        self._objects.close()

    def head(self) -> str:
        head_commit = self._objects.read(f"refs/heads/{self.branch}^{{commit}}")
        if head_commit is None:
            raise NotFound(
                f"the branch {self.branch} has no commit yet",
                code="no_commit_yet",
                next_step=f"commit something to {self.branch} in the target, then run `astra init`",
            )
        return head_commit.oid

    def history(self, count: int) -> list[str]:
        """Give the newest commits of the target's branch."""
        output = self._run_git("rev-list", "--first-parent", f"--max-count={count}", self.head())
        return output.decode().split()

    def tree(self, commit: str) -> Tree:
        """Give every file of a commit; the last few are remembered, since they cannot change."""
        if commit not in self._trees:
            files = self._reader.list_files(commit)
            for old in list(self._trees)[: -_TREES_KEPT + 1]:
                self._trees.pop(old, None)
            self._trees[commit] = {
                file.path: TreeEntry(mode=file.mode, blob=file.oid) for file in files
            }
        return self._trees[commit]

    def files(self, commit: str, paths: Sequence[str]) -> Mapping[str, FileState]:
        tree = self.tree(commit)
        entries = {path: tree[path] for path in paths if path in tree}
        blob_ids = [entry.blob for entry in entries.values() if entry.mode in _READABLE]
        contents = dict(zip(blob_ids, self._read_blobs(blob_ids), strict=True))
        return {
            path: FileState(content=contents.get(entry.blob, b""), mode=entry.mode)
            for path, entry in entries.items()
        }

    def commit(
        self,
        *,
        base: str,
        result: Result,
        message: str,
        when: datetime,
        merged: Sequence[str] = (),
    ) -> Commit:
        workshop = self.repository / _WORKSHOP
        workshop.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=workshop) as folder:
            blobs = self._write_blobs(result, Path(folder))
            tree = self._write_tree(base, result, blobs, Path(folder) / "index")
        seconds = f"{int(when.timestamp())} +0000"
        environment = {
            "GIT_AUTHOR_NAME": self.identity.name,
            "GIT_AUTHOR_EMAIL": self.identity.email,
            "GIT_AUTHOR_DATE": seconds,
            "GIT_COMMITTER_NAME": self.identity.name,
            "GIT_COMMITTER_EMAIL": self.identity.email,
            "GIT_COMMITTER_DATE": seconds,
        }
        commit_output = self._run_git(
            "commit-tree",
            tree,
            *(word for parent in (base, *merged) for word in ("-p", parent)),
            "-F",
            "-",
            input=message.encode(),
            environment=environment,
        )
        return Commit(id=commit_output.decode().strip(), tree=tree)

    def set_change_branch(self, change_id: str, commit: str) -> None:
        self._move_ref(f"refs/heads/astra/{change_id}", commit)

    def differences(self, old: str, new: str) -> tuple[ChangedFile, ...]:
        return read_contents(self._reader.list_changes(old, new), self._read_blobs)

    def diff(self, old: str, new: str) -> bytes:
        # Only files that moved unchanged are shown as renamed: nothing is guessed from likeness.
        renames = ("--find-renames=100%",)
        options = ("-r", "-p", *renames, "--full-index", "--no-color", "--unified=3")
        prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
        return self._run_git("diff-tree", *options, *prefixes, "--end-of-options", old, new)

    def merge_texts(self, *, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        workshop = self.repository / _WORKSHOP
        workshop.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=workshop) as folder:
            names = [str(Path(folder) / name) for name in ("ours", "base", "theirs")]
            for name, content in zip(names, (ours, base, theirs), strict=True):
                Path(name).write_bytes(content)
            command = GitCommand(
                repository=self.repository, arguments=("merge-file", "-p", "-q", *names)
            )
            merge_result = run_git(command, accept=_ANY_CODE)
        return merge_result.output if merge_result.exit_code == 0 else None

    def is_merged(self, commit: str) -> bool:
        return self.is_ancestor(commit, self.head())

    def is_ancestor(self, old: str, new: str) -> bool:
        arguments = ("merge-base", "--is-ancestor", old, new)
        command = GitCommand(repository=self.repository, arguments=arguments)
        return run_git(command, accept=frozenset({0, 1, _UNKNOWN})).exit_code == 0

    def parent(self, commit: str) -> str | None:
        names = self._run_git("rev-list", "--parents", "--max-count=1", commit).decode().split()
        return names[1] if len(names) > 1 else None

    def fast_forward(self, *, expected: str, to: str) -> bool:
        try:
            self._move_ref(f"refs/heads/{self.branch}", to, expected)
        except GitFailed:
            if self.head() == expected:
                raise
            return False
        return True

    def _move_ref(self, ref: str, *commits: str) -> None:
        """Move a ref. Git waits for a lock; one that a power cut left behind is taken away."""
        lock = self.repository / f"{ref}.lock"
        with contextlib.suppress(FileNotFoundError):
            if time.time() - lock.stat().st_mtime > _LOCK_SECONDS:
                lock.unlink()
        self._run_git("update-ref", "--no-deref", ref, *commits)

    def _write_blobs(self, result: Result, folder: Path) -> dict[str, str]:
        contents = [(path, state.content) for path, state in result.items() if state is not None]
        if not contents:
            return {}
        places = [folder / str(number) for number in range(len(contents))]
        for place, (_, content) in zip(places, contents, strict=True):
            place.write_bytes(content)
        names = b"".join(os.fsencode(place) + b"\n" for place in places)
        output = self._run_git("hash-object", "-w", "--no-filters", "--stdin-paths", input=names)
        blobs = output.decode().split()
        return dict(zip((path for path, _ in contents), blobs, strict=True))

    def _write_tree(self, base: str, result: Result, blobs: dict[str, str], index: Path) -> str:
        environment = {"GIT_INDEX_FILE": str(index)}
        self._run_git("read-tree", base, environment=environment)
        nothing = "0" * len(base)  # as long as every id here: 40 digits, or 64 of SHA-256
        deletions = [f"0 {nothing}\t{path}" for path, state in result.items() if state is None]
        files = [
            f"{state.mode} {blobs[path]}\t{path}"
            for path, state in result.items()
            if state is not None
        ]
        lines = encode_path("".join(f"{line}\0" for line in (*deletions, *files)))
        self._run_git("update-index", "-z", "--index-info", input=lines, environment=environment)
        return self._run_git("write-tree", environment=environment).decode().strip()

    def _read_blobs(self, oids: Sequence[str]) -> list[bytes]:
        objects = self._objects.read_many(oids)
        return [
            item.data if item else _refuse_missing_object(oid)
            for oid, item in zip(oids, objects, strict=True)
        ]

    def _run_git(
        self,
        *arguments: str,
        input: bytes = b"",  # noqa: A002 - as GitCommand names it
        environment: Mapping[str, str] | None = None,
    ) -> bytes:
        command = GitCommand(
            repository=self.repository,
            arguments=arguments,
            input=input,
            environment=environment or {},
        )
        return run_git(command).output


def read_contents(changes: Sequence[TreeChange], blobs: "Reader") -> tuple[ChangedFile, ...]:
    """Fetch the content of both sides of every path that differs."""
    oids = [
        side.oid
        for change in changes
        for side in (change.old, change.new)
        if side is not None and side.mode in _READABLE
    ]
    contents = dict(zip(oids, blobs(oids), strict=True))
    return tuple(
        ChangedFile(
            path=change.path,
            old_mode=change.old.mode if change.old else None,
            new_mode=change.new.mode if change.new else None,
            old=_select_content(change.old, contents),
            new=_select_content(change.new, contents),
        )
        for change in changes
    )


def _select_content(side: TreeFile | None, contents: Mapping[str, bytes]) -> bytes | None:
    return contents[side.oid] if side is not None and side.mode in _READABLE else None


class Reader(Protocol):
    """A way to read blobs by their ids; any callable of this shape will do."""

    def __call__(self, oids: Sequence[str]) -> Iterable[bytes]: ...


def _refuse_missing_object(oid: str) -> bytes:
    raise NotFound(
        f"the trusted repository has no object {oid}",
        code="object_missing",
        next_step="run `astra doctor`; it checks the trusted repository",
    )
