"""Objects from the agent's own clone, looked at in a throwaway repository and never in the trusted.

The clone is hostile, so git never runs in it on the host: a bundle is made inside the sandbox and
its pack is indexed here with every object checked. What comes out is the raw difference to a commit
of the target; the commit of a change is then made anew, from those bytes, by the same path as any
other. The throwaway repository borrows the trusted one's objects to complete the pack, and is gone
afterwards.
"""

import re
import shutil
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from astra.trusted.changes.ports import Imported
from astra.trusted.git.bounded_process import ProgramOutputTooLarge, ProgramTimedOut
from astra.trusted.git.change_repo import read_contents
from astra.trusted.git.git_command import GitCommand, GitFailed, run_git
from astra.trusted.git.tree_reader import TooManyFiles, TreeChange, TreeReader
from astra.trusted.kernel.errors import Refused

_SIGNATURE = b"# v2 git bundle\n"
_REFERENCE = re.compile(rb"([0-9a-f]{40}) (\S+)")
_NEEDED = re.compile(rb"-([0-9a-f]{40})(?: .*)?")
_HEADER = re.compile(rb"([0-9a-f]{40}) blob (\d+)")
_MOST_HEADER_LINES = 1000
_SECONDS = 60.0
_MEMORY = 1024 * 1024 * 1024


class ImportRefused(Refused):
    code = "import_refused"


@dataclass(frozen=True, kw_only=True)
class Bundle:
    tip: str
    pack: bytes


def parse_bundle(raw: bytes) -> Bundle:
    """Read the head of a bundle ourselves: one reference, and the pack behind an empty line."""
    if not raw.startswith(_SIGNATURE):
        _refuse_import("what the box made is not a bundle")
    position, tips = len(_SIGNATURE), list[str]()
    for _ in range(_MOST_HEADER_LINES):
        end = raw.find(b"\n", position)
        if end < 0:
            break
        line, position = raw[position:end], end + 1
        if not line:
            if len(tips) != 1:
                _refuse_import(f"the bundle names {len(tips)} tips, not one")
            return Bundle(tip=tips[0], pack=raw[position:])
        if reference := _REFERENCE.fullmatch(line):
            tips.append(reference[1].decode())
        elif not _NEEDED.fullmatch(line):
            _refuse_import("the bundle has a head that is not understood")
    return _refuse_import("the bundle's head does not end")


@dataclass(frozen=True)
class Quarantine:
    trusted: Path

    def read(self, raw: bytes, *, head: str, most_files: int, most_bytes: int) -> Imported:
        """Check every object of a bundle, and give what its tip differs in from the target."""
        bundle = parse_bundle(raw)
        with self._make_repository() as repository:
            options = ("--stdin", "--fix-thin", "--strict", f"--max-input-size={len(raw) + 1}")
            try:
                _run_quarantined_git(repository, "index-pack", *options, input=bundle.pack)
                base = (
                    _run_quarantined_git(repository, "merge-base", bundle.tip, head)
                    .decode()
                    .split()[0]
                )
            except (GitFailed, IndexError) as error:
                error_text = (
                    error.detail if isinstance(error, GitFailed) else "it shares no history"
                )
                _refuse_import(f"the objects do not pass git's own checks: {error_text[:300]}")
            changes = _list_changes(repository, base, bundle.tip, most_files)
            files = read_contents(changes, _Blobs(repository, most_bytes))
        return Imported(tip=bundle.tip, base=base, files=files)

    @contextmanager
    def _make_repository(self) -> Generator[Path]:
        folder = Path(tempfile.mkdtemp(prefix="quarantine-", dir=self.trusted.parent))
        try:
            for name in ("objects/info", "objects/pack", "refs/heads"):
                (folder / name).mkdir(parents=True)
            (folder / "HEAD").write_text("ref: refs/heads/none\n")
            (folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
            (folder / "objects/info/alternates").write_text(f"{self.trusted / 'objects'}\n")
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class _Blobs:
    repository: Path
    most_bytes: int

    def __call__(self, oids: Sequence[str]) -> list[bytes]:
        if not oids:
            return []
        self._check_sizes(oids)
        output = _run_quarantined_git(
            self.repository, "cat-file", "--batch", input=_join_lines(oids)
        )
        contents: list[bytes] = []
        position = 0
        for _ in oids:
            end = output.index(b"\n", position)
            size = int(output[position:end].split(b" ")[2])
            contents.append(output[end + 1 : end + 1 + size])
            position = end + size + 2
        return contents

    def _check_sizes(self, oids: Sequence[str]) -> None:
        output = _run_quarantined_git(
            self.repository, "cat-file", "--batch-check", input=_join_lines(oids)
        )
        heads = [_HEADER.fullmatch(line) for line in output.splitlines()]
        if not all(heads) or sum(int(head[2]) for head in heads if head) > self.most_bytes:
            _refuse_import(f"its files have more than {self.most_bytes} bytes together")


def _list_changes(repository: Path, base: str, tip: str, most: int) -> list[TreeChange]:
    reader = TreeReader(repository=repository, timeout=_SECONDS, memory=_MEMORY)
    try:
        return reader.list_changes(base, tip, most=most)
    except TooManyFiles as error:
        _refuse_import(f"{error.detail} (astra.toml: target.max_files)")
    except GitFailed as error:
        _refuse_import(f"its files cannot be listed: {error.detail[:300]}")
    except (ProgramTimedOut, ProgramOutputTooLarge) as error:
        _refuse_import(f"reading it takes too much: {error.detail}")


def _join_lines(oids: Sequence[str]) -> bytes:
    return "".join(f"{oid}\n" for oid in oids).encode()


def _run_quarantined_git(repository: Path, *arguments: str, input: bytes = b"") -> bytes:  # noqa: A002 - as GitCommand names it
    """Run git on hostile objects: a few hundred bytes of trees can name more files than fit."""
    command = GitCommand(
        repository=repository, arguments=arguments, input=input, timeout=_SECONDS, memory=_MEMORY
    )
    try:
        return run_git(command).output
    except (ProgramTimedOut, ProgramOutputTooLarge) as error:
        _refuse_import(f"reading it takes too much: {error.detail}")


def _refuse_import(why: str) -> NoReturn:
    raise ImportRefused(
        f"the branch of your clone cannot be read: {why}",
        next_step="commit plain files on a branch that starts at the target's, then try again",
    )
