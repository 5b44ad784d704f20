r"""What an agent proposes, applied to the files of a commit: bytes in, bytes out, nothing guessed.

Whole files, searches that must match exactly once, deletions and unified diffs. Line ends,
encodings and missing last newlines stay what they are: a search for `a\nb` does not find `a\r\nb`,
and says so.

>>> base = {"a.py": FileState(content=b"x = 1\n")}
>>> apply([Replace(path="a.py", search=b"1", replace=b"2")], base.get)
{'a.py': FileState(content=b'x = 2\n', mode='100644')}
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from astra.changes import patches
from astra.trusted.changes.files import EXECUTABLE, REGULAR, FileState, Result
from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy.paths import parse_relative, quote


class EditRefused(BadInput):
    code = "edit_refused"


@dataclass(frozen=True, kw_only=True)
class WholeFile:
    """A file as it shall be; `executable` left out keeps what it is."""

    path: str
    content: bytes
    executable: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Replace:
    path: str
    search: bytes
    replace: bytes
    every: bool = False


@dataclass(frozen=True, kw_only=True)
class Delete:
    path: str


@dataclass(frozen=True, kw_only=True)
class Patch:
    text: bytes


Edit = WholeFile | Replace | Delete | Patch
Find = Callable[[str], FileState | None]
"""The new state of each path that an edit named; None is a file that is gone."""


def apply(edits: Sequence[Edit], base: Find) -> Result:
    """Work out what the files become, or refuse with what does not fit."""
    result: Result = {}
    for edit in edits:
        if isinstance(edit, Patch):
            _apply_patch(edit, base, result)
        else:
            path = parse_relative(edit.path).text
            result[path] = _apply_edit(edit, path, base, result)
    return result


def _apply_edit(
    edit: WholeFile | Replace | Delete, path: str, base: Find, result: Result
) -> FileState | None:
    match edit:
        case Replace():
            return _apply_replace(edit, path, result[path] if path in result else base(path))
        case WholeFile():
            _refuse_twice(path, result)
            before = base(path)
            mode = before.mode if before and before.mode == EXECUTABLE else REGULAR
            if edit.executable is not None:
                mode = EXECUTABLE if edit.executable else REGULAR
            return FileState(content=edit.content, mode=mode)
        case Delete():
            _refuse_twice(path, result)
            _require_file(path, base(path))
            return None


def _apply_replace(edit: Replace, path: str, before: FileState | None) -> FileState:
    file_state = _require_file(path, before)
    count = file_state.content.count(edit.search) if edit.search else 0
    if count == 0:
        raise EditRefused(
            f"{quote(path)}: the text to replace is not in it{_line_ends(edit, file_state)}",
            next_step="read the file with read_source_code and copy the text exactly",
            path=path,
        )
    if count > 1 and not edit.every:
        raise EditRefused(
            f"{quote(path)}: the text to replace is in it {count} times",
            next_step="search for more of the text around it, or set `every`",
            path=path,
        )
    return replace(file_state, content=file_state.content.replace(edit.search, edit.replace))


def _line_ends(edit: Replace, found: FileState) -> str:
    if b"\r\n" in found.content and edit.search.replace(b"\n", b"\r\n") in found.content:
        return "; its lines end in CRLF, those of the search in LF"
    return ""


def _apply_patch(edit: Patch, base: Find, result: Result) -> None:
    for part in patches.parse(edit.text):
        before = None
        if part.old_path is not None:
            before = _require_file(part.old_path, base(part.old_path))
        if part.old_path is not None and part.old_path != part.new_path and not part.copied:
            _refuse_twice(part.old_path, result)
            result[part.old_path] = None
        if part.new_path is None:
            patches.apply(part, before.content if before else b"", whole=True)
            continue
        _refuse_twice(part.new_path, result)
        if part.old_path is None and base(part.new_path) is not None:
            raise EditRefused(
                f"{quote(part.new_path)}: the diff makes a file that is there already",
                next_step="make the diff against the commit that was named",
                path=part.new_path,
            )
        content = patches.apply(part, before.content if before else b"")
        mode = part.new_mode or (before.mode if before else REGULAR)
        result[part.new_path] = FileState(content=content, mode=mode)


def _require_file(path: str, before: FileState | None) -> FileState:
    if before is None:
        raise EditRefused(
            f"{quote(path)}: there is no such file to edit",
            next_step="list the files with list_source_files; a new file is given whole",
            path=path,
        )
    return before


def _refuse_twice(path: str, result: Result) -> None:
    if path in result:
        raise EditRefused(
            f"{quote(path)} is edited twice",
            next_step="give each file once; only searches may follow each other",
            path=path,
        )
