r"""Unified diffs, read as bytes and applied exactly.

A hunk goes where it says, if the lines there are its lines; else to the only place where they are.
Context is never fuzzy. Binary patches are refused; renames and modes are understood as git writes
them.

>>> part, = parse(b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+two\n")
>>> apply(part, b"one\n")
b'two\n'
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy.paths import parse_relative, quote

_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_MODE = re.compile(rb"(?:new file mode|new mode) (\d{6})")
_NO_NEWLINE = b"\\ No newline at end of file"
_NOTHING = b"/dev/null"


class PatchRefused(BadInput):
    code = "patch_refused"


@dataclass(frozen=True, kw_only=True)
class Hunk:
    start: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]


@dataclass
class FilePatch:
    """What a diff says about one file; a path that is None does not exist on that side."""

    old_path: str | None = None
    new_path: str | None = None
    new_mode: str | None = None
    copied: bool = False
    hunks: list[Hunk] = field(default_factory=list[Hunk])


def parse(text: bytes) -> list[FilePatch]:
    lines = _Lines((text if text.endswith(b"\n") else text + b"\n").split(b"\n"))
    parts: list[FilePatch] = []
    while (line := lines.peek()) is not None:
        if line.startswith(b"diff --git "):
            parts.append(_git_part(lines))
        elif line.startswith(b"--- "):
            part = FilePatch()
            _paths_and_hunks(lines, part)
            parts.append(part)
        elif line.startswith(b"@@ "):
            _refuse_diff("a hunk stands before any file", "start with --- and +++ lines")
        else:
            lines.take()
    if not parts:
        _refuse_diff("it holds no file", "send a unified diff with --- and +++ lines")
    return parts


def apply(part: FilePatch, before: bytes, *, whole: bool = False) -> bytes:
    """Apply every hunk; with `whole`, nothing of the file may be left."""
    lines = _split_lines(before)
    shift = 0
    for hunk in part.hunks:
        position = _locate_hunk(hunk, lines, shift, part)
        lines[position : position + len(hunk.old)] = hunk.new
        shift += len(hunk.new) - len(hunk.old)
    content = b"".join(lines)
    if whole and part.hunks and content:
        _refuse_diff(
            f"{quote(part.old_path or '')} is deleted, but lines of it would be left",
            "make the diff against the commit that was named",
        )
    return content


def _locate_hunk(hunk: Hunk, lines: list[bytes], shift: int, part: FilePatch) -> int:
    stated_position = hunk.start + shift
    if (
        0 <= stated_position <= len(lines)
        and tuple(lines[stated_position : stated_position + len(hunk.old)]) == hunk.old
    ):
        return stated_position
    places = [
        at
        for at in range(len(lines) - len(hunk.old) + 1)
        if hunk.old
        and lines[at] == hunk.old[0]
        and tuple(lines[at : at + len(hunk.old)]) == hunk.old
    ]
    if len(places) == 1:
        return places[0]
    why = "in several places" if places else "nowhere in the file"
    path = quote(part.old_path or part.new_path or "")
    return _refuse_diff(
        f"{path}: the lines of the hunk at line {hunk.start + 1} are {why}",
        "read the file again; context has to match exactly, with spaces and line ends",
    )


def _git_part(lines: "_Lines") -> FilePatch:
    header = lines.take()
    part = FilePatch()
    _extended_headers(lines, part, header)
    if (line := lines.peek()) is not None and line.startswith(b"--- "):
        _paths_and_hunks(lines, part)
    return part


def _extended_headers(lines: "_Lines", part: FilePatch, header: bytes) -> None:
    same = _same_name(header)
    part.old_path = part.new_path = same
    while (line := lines.peek()) is not None and not line.startswith((b"diff --git ", b"--- ")):
        if line.startswith((b"GIT binary patch", b"Binary files ")):
            _refuse_diff("it changes a binary file", "send text only")
        if mode_match := _MODE.match(line):
            part.new_mode = mode_match[1].decode()
        if line.startswith(b"new file mode"):
            part.old_path = None
        elif line.startswith(b"deleted file mode"):
            part.new_path = None
        elif line.startswith((b"rename from ", b"copy from ")):
            part.copied = line.startswith(b"copy")
            part.old_path = _parse_name(line.split(b" ", 2)[2])
        elif line.startswith((b"rename to ", b"copy to ")):
            part.new_path = _parse_name(line.split(b" ", 2)[2])
        lines.take()


def _same_name(header: bytes) -> str | None:
    """Read `diff --git a/X b/X`, which names both sides when nothing was renamed."""
    names = header.removeprefix(b"diff --git ").rstrip(b"\r")
    half = len(names) // 2
    old_name, new_name = names[:half], names[half + 1 :]
    if old_name.startswith(b"a/") and new_name.startswith(b"b/") and old_name[2:] == new_name[2:]:
        return _parse_name(old_name[2:])
    return None


def _paths_and_hunks(lines: "_Lines", part: FilePatch) -> None:
    old = _parse_path(lines.take()[4:], b"a/")
    line = lines.peek()
    if line is None or not line.startswith(b"+++ "):
        _refuse_diff("a --- line is not followed by +++", "send a unified diff")
    new = _parse_path(lines.take()[4:], b"b/")
    part.old_path, part.new_path = old, new
    if old is None and new is None:
        _refuse_diff("both sides of a file are /dev/null", "name the file")
    part.hunks += _parse_hunks(lines)


def _parse_path(raw: bytes, prefix: bytes) -> str | None:
    name = raw.split(b"\t")[0].rstrip(b"\r")
    return None if name == _NOTHING else _parse_name(name.removeprefix(prefix))


def _parse_name(raw: bytes) -> str:
    if raw.startswith(b'"'):
        _refuse_diff("a path is quoted", "write paths in plain UTF-8 (core.quotePath=false)")
    try:
        return parse_relative(raw.rstrip(b"\r").decode()).text
    except UnicodeDecodeError:
        return _refuse_diff("a path is not UTF-8", "use plain names")


def _parse_hunks(lines: "_Lines") -> Iterator[Hunk]:
    while (line := lines.peek()) is not None and (hunk_match := _HUNK.match(line)):
        lines.take()
        old_count = int(hunk_match[2]) if hunk_match[2] is not None else 1
        new_count = int(hunk_match[4]) if hunk_match[4] is not None else 1
        old, new = _hunk_lines(lines, old_count, new_count)
        start = int(hunk_match[1]) - (1 if old_count else 0)
        yield Hunk(start=start, old=tuple(old), new=tuple(new))


def _hunk_lines(lines: "_Lines", old_count: int, new_count: int) -> tuple[list[bytes], list[bytes]]:
    old: list[bytes] = []
    new: list[bytes] = []
    while len(old) < old_count or len(new) < new_count:
        line = lines.take_hunk_line()
        kind, text = line[:1], line[1:] + b"\n"
        sides = {b" ": (old, new), b"": (old, new), b"-": (old,), b"+": (new,)}.get(kind)
        if sides is None:
            _refuse_diff(
                "a hunk holds a line that is no hunk line", "check the counts in its @@ line"
            )
        for side in sides:
            side.append(text)
        if (after := lines.peek()) is not None and after.startswith(_NO_NEWLINE[:2]):
            lines.take()
            for side in sides:
                side[-1] = text[:-1]
    if len(old) != old_count or len(new) != new_count:
        _refuse_diff("a hunk has more lines than it says", "check the counts in its @@ line")
    return old, new


def _split_lines(content: bytes) -> list[bytes]:
    lines = content.split(b"\n")
    ended_lines = [line + b"\n" for line in lines[:-1]]
    return [*ended_lines, lines[-1]] if lines[-1] else ended_lines


class _Lines:
    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        self._at = 0

    def peek(self) -> bytes | None:
        return self._lines[self._at] if self._at < len(self._lines) else None

    def take(self) -> bytes:
        self._at += 1
        return self._lines[self._at - 1]

    def take_hunk_line(self) -> bytes:
        if self._at >= len(self._lines) - 1:
            _refuse_diff("it ends in the middle of a hunk", "send the whole diff")
        return self.take()


def _refuse_diff(why: str, next_step: str) -> NoReturn:
    raise PatchRefused(f"the diff does not apply: {why}", next_step=next_step)
