r"""Search and replace, as models write it: found where white space differs, with a near miss named.

A block is the path of a file, `<<<<<<< SEARCH`, the lines as they are, `=======`, the lines as they
should be, and a closing mark with `REPLACE`.

A unified diff is read into the same blocks: what it removes with its context is searched for.

>>> apply_block("a\n  b = 1\n", Block(path="x", search="b = 1", replace="b = 2"))
'a\n  b = 2\n'
"""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import one_line

MOST_BLOCKS = 30
_BLOCK = re.compile(
    r"(?P<path>[^\n]*)\n(?:```[^\n]*\n)?<{5,9} ?SEARCH[^\n]*\n(?P<search>.*?)\n?={5,9}[^\n]*\n"
    r"(?P<replace>.*?)\n?>{5,9} ?REPLACE",
    re.DOTALL,
)
_HUNK = re.compile(r"^@@.*@@.*$", re.MULTILINE)
_FILE = re.compile(r"^--- (?:a/)?(?P<old>\S+).*\n\+\+\+ (?:b/)?(?P<new>\S+).*$", re.MULTILINE)
_CLOSE_ENOUGH = 0.6


class NotThere(BadInput):
    code = "search_not_found"


@dataclass(frozen=True, kw_only=True)
class Block:
    path: str
    search: str
    replace: str


def read_blocks(text: str) -> list[Block]:
    return [
        Block(
            path=match["path"].strip().strip("`#*: "),
            search=match["search"],
            replace=match["replace"],
        )
        for match in _BLOCK.finditer(text)
    ][:MOST_BLOCKS]


def read_diff(text: str) -> list[Block]:
    """Read the hunks of a unified diff as blocks; line numbers are not believed."""
    files = list(_FILE.finditer(text))
    blocks: list[Block] = []
    for place, match in enumerate(files):
        end = files[place + 1].start() if place + 1 < len(files) else len(text)
        path = match["new"] if match["new"] != "/dev/null" else match["old"]
        hunks = _HUNK.split(text[match.end() : end])[1:]
        blocks += [_block_from_hunk(path, hunk) for hunk in hunks]
    return blocks[:MOST_BLOCKS]


def apply_blocks(files: Mapping[str, str], blocks: Iterable[Block]) -> dict[str, str]:
    """Give the files that change, each with all of its blocks applied."""
    changed: dict[str, str] = {}
    for block in blocks:
        path = _match_path(block.path, files)
        changed[path] = apply_block(changed.get(path, files.get(path, "")), block)
    return changed


def apply_block(text: str, block: Block) -> str:
    """Replace the one place that a block means; white space at the ends of lines is forgiven."""
    lines, search_lines = text.splitlines(), block.search.splitlines()
    if not block.search.strip():
        return text if text.strip() else block.replace.rstrip("\n") + "\n"
    for key in (str, str.rstrip, str.strip):
        places = _find_places(lines, search_lines, key)
        if len(places) == 1:
            return _put_in(lines, places[0], len(search_lines), block)
        if places:
            raise NotThere(
                f"the lines to search for are in {block.path} {len(places)} times",
                next_step="search for more lines around them",
            )
    raise _make_not_there(lines, search_lines, block.path)


def _find_places(lines: list[str], wanted: list[str], key: Callable[[str], str]) -> list[int]:
    have, want = [key(line) for line in lines], [key(line) for line in wanted]
    return [
        start
        for start in range(len(have) - len(want) + 1)
        if have[start : start + len(want)] == want
    ]


def _put_in(lines: list[str], start: int, count: int, block: Block) -> str:
    found_indent = _indent_of(lines[start])
    searched_indent = _indent_of(block.search.splitlines()[0])
    shift = len(found_indent) - len(searched_indent)
    replacement = [_shift_line(line, shift) for line in block.replace.splitlines()]
    return "\n".join([*lines[:start], *replacement, *lines[start + count :]]) + "\n"


def _shift_line(line: str, shift: int) -> str:
    if shift >= 0:
        return " " * shift + line if line.strip() else line
    spaces = min(-shift, len(_indent_of(line)))
    return line[spaces:]


def _indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _make_not_there(lines: list[str], wanted: list[str], path: str) -> NotThere:
    first = next((line.strip() for line in wanted if line.strip()), "")
    stripped = [line.strip() for line in lines]
    close = difflib.get_close_matches(first, stripped, n=1, cutoff=_CLOSE_ENOUGH)
    hint = f"; did you mean {one_line(close[0], 120)!r}?" if close else ""
    return NotThere(
        f"{one_line(first, 120)!r} is not in {path}{hint}",
        next_step="copy the lines to search for exactly as the file has them",
    )


def _match_path(path: str, files: Mapping[str, str]) -> str:
    if path in files or not path:
        return path or (next(iter(files)) if len(files) == 1 else path)
    same_end = [name for name in files if name.endswith(path) or path.endswith(name)]
    return same_end[0] if len(same_end) == 1 else path


def _block_from_hunk(path: str, hunk: str) -> Block:
    lines = [line for line in hunk.strip("\n").splitlines() if line[:1] in ("", " ", "+", "-")]
    before = [line[1:] for line in lines if not line.startswith("+")]
    after = [line[1:] for line in lines if not line.startswith("-")]
    return Block(path=path, search="\n".join(before), replace="\n".join(after))
