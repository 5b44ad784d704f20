"""The one reader of git trees: lists the files of a tree, and tells how two trees differ.

Git is asked for raw, NUL-separated output, and a line that does not parse is an error, never left
out. A name is bytes to git; here it is text, UTF-8 with every other byte kept as a lone surrogate
(`surrogateescape`), so that `raw_path` gives back exactly what git holds. Nothing is normalised,
followed or interpreted. Reading refuses no name: what git can hold is read as git says.

What may be done with a name is decided here as well, by two rules, the second inside the first:

- `refuse_unsafe`: before a name is written to a disk. Refuses what leads out of the folder or into
  git's own files, in any spelling that some file system takes for them.
- `clean_path`: before a name is shown as a path that somebody can ask for. Gives the one spelling
  (NFC) of it, or None.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from astra.trusted.changes.files import EXECUTABLE, LINK, REGULAR, SUBMODULE
from astra.trusted.git.git_command import GitCommand, GitFailed, run_git
from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.paths import PathRefused, is_git_name, parse_relative, quote

_ABSENT = "000000"
_KNOWN_MODES = frozenset({REGULAR, "100664", EXECUTABLE, LINK, SUBMODULE})
_OID = rb"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_ENTRY = re.compile(rb"(\d{6}) (?:blob|commit) (%s)(?: +(\d+|-|BAD))?\t(.+)" % _OID, re.DOTALL)
_CHANGE = re.compile(rb":(\d{6}) (\d{6}) (%s) (%s) [A-Z]\d*" % (_OID, _OID))


class TooManyFiles(Refused):
    code = "too_many_files"


class UnsafePath(Refused):
    code = "unsafe_path"


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeFile:
    """A file, symbolic link or submodule of a tree; `size` is there when sizes were asked for."""

    path: str
    mode: str
    oid: str
    size: int | None = None

    @property
    def raw_path(self) -> bytes:
        return encode_path(self.path)


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeChange:
    """One path that two trees do not share; a side that is not there is None."""

    path: str
    old: TreeFile | None
    new: TreeFile | None

    @property
    def raw_path(self) -> bytes:
        return encode_path(self.path)


@dataclass(frozen=True, kw_only=True)
class TreeReader:
    """Reads trees of one repository; the bounds are those of a git command."""

    repository: Path
    timeout: float = 30.0
    memory: int = 0

    def list_files(self, tree: str, *, sizes: bool = False) -> list[TreeFile]:
        """List every file below a tree or commit, in git's order; folders are no entries."""
        options = ("-r", "-z", "--full-tree", *(("-l",) if sizes else ()))
        output = self._run_git("ls-tree", *options, "--end-of-options", tree)
        return [_read_file(line) for line in _split_fields(output)]

    def list_changes(self, old: str, new: str, *, most: int | None = None) -> list[TreeChange]:
        """List the paths that differ; a rename is a file removed and a file added.

        More than `most` are refused before any of them is taken apart.
        """
        options = ("-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--full-index")
        output = self._run_git("diff-tree", *options, "--end-of-options", old, new)
        count = output.count(b"\0") // 2
        if most is not None and count > most:
            raise TooManyFiles(
                f"it touches {count} files, more than {most}",
                next_step="do it in smaller parts",
                count=count,
            )
        fields = _split_fields(output)
        return [_read_change(facts, raw) for facts, raw in zip(fields, fields, strict=True)]

    def _run_git(self, *arguments: str) -> bytes:
        command = GitCommand(
            repository=self.repository,
            arguments=arguments,
            timeout=self.timeout,
            memory=self.memory,
        )
        return run_git(command).output


def decode_path(raw: bytes) -> str:
    r"""Turn git's bytes into text without losing any.

    >>> decode_path(b"caf\xe9"), encode_path(decode_path(b"caf\xe9"))
    ('caf\udce9', b'caf\xe9')
    """
    return raw.decode("utf-8", "surrogateescape")


def encode_path(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def clean_path(path: str) -> str | None:
    r"""Give the spelling by which a name can be asked for, or None when there is none.

    >>> clean_path("docs/guide.md"), clean_path("docs/../guide.md"), clean_path("a\nb")
    ('docs/guide.md', None, None)
    """
    try:
        name = unicodedata.normalize("NFC", path)
        return name if parse_relative(name).text == name else None
    except PathRefused:
        return None


def refuse_unsafe(file: TreeFile | TreeChange) -> None:
    """Refuse a name or a mode that must never reach a disk.

    >>> refuse_unsafe(TreeFile(path="a/.GIT/hooks/x", mode=REGULAR, oid="0" * 40))
    Traceback (most recent call last):
        ...
    astra.trusted.git.tree_reader.UnsafePath: 'a/.GIT/hooks/x' may not be written to a disk
    """
    names = file.path.split("/")
    if any(name in {"", ".", ".."} or "\0" in name or is_git_name(name) for name in names):
        raise _unsafe_path_error(file.path, "may not be written to a disk")
    new_file = file.new if isinstance(file, TreeChange) else file
    if new_file is not None and new_file.mode not in _KNOWN_MODES:
        raise _unsafe_path_error(file.path, f"has the unknown mode {new_file.mode}")


def _split_fields(output: bytes) -> Iterator[bytes]:
    """Split what git ended with NUL, each time."""
    *fields, trailing_bytes = output.split(b"\0")
    if trailing_bytes:
        _refuse_unexpected(trailing_bytes)
    return iter(fields)


def _read_file(line: bytes) -> TreeFile:
    match = _ENTRY.fullmatch(line) or _refuse_unexpected(line)
    mode, oid, size, raw = match.groups()
    if size == b"BAD":
        raise GitFailed(
            f"the object {oid.decode()} of {quote(decode_path(raw))} is missing or damaged",
            next_step="run `astra doctor`; it checks the trusted repository",
        )
    return TreeFile(
        path=decode_path(raw),
        mode=mode.decode(),
        oid=oid.decode(),
        size=int(size) if size not in {None, b"-"} else None,
    )


def _read_change(facts: bytes, raw: bytes) -> TreeChange:
    match = _CHANGE.fullmatch(facts) or _refuse_unexpected(facts)
    old_mode, new_mode, old, new = (group.decode() for group in match.groups())
    path = decode_path(raw)
    return TreeChange(
        path=path, old=_to_tree_file(path, old_mode, old), new=_to_tree_file(path, new_mode, new)
    )


def _to_tree_file(path: str, mode: str, oid: str) -> TreeFile | None:
    return None if mode == _ABSENT else TreeFile(path=path, mode=mode, oid=oid)


def _unsafe_path_error(path: str, why: str) -> UnsafePath:
    return UnsafePath(f"{quote(path)} {why}", next_step="take it out of the commit")


def _refuse_unexpected(line: bytes) -> NoReturn:
    raise GitFailed(
        f"git listed something unexpected: {line[:120]!r}",
        next_step="run `astra doctor`; it checks the trusted repository",
    )
