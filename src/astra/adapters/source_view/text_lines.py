r"""Bytes shown as text: encoding, line endings, line ranges; honest about what was guessed.

Bytes with a NUL and no byte-order mark are binary and have no text. A byte-order mark decides; then
UTF-8, if every byte fits; then the encoding a source file declares in its first two lines; and
last Latin-1, which always fits and is marked as a guess. Lines end at `\n` and nowhere else.

>>> decode("naïve\r\n".encode("latin-1"))
Decoded(text='naïve\r\n', encoding='latin-1', certain=False)
"""

import codecs
import re
from dataclasses import dataclass

from astra.trusted.kernel.errors import BadInput

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"^[ \t\f]*(?:#|//|/\*|\"|<!--).{0,80}?coding[:=][ \t]*([-\w.]{1,40})")
_PLAIN_ENCODINGS = re.compile(
    r"(?:iso-?8859-|latin-?|cp|windows-?|koi8-|euc-|big5|gb|shift-?jis|sjis|mac-?|ascii).{0,20}"
)
_LOOKED_AT = 8000


class RangeOutsideFile(BadInput):
    code = "range_outside_file"


@dataclass(frozen=True)
class Decoded:
    text: str
    encoding: str
    certain: bool


@dataclass(frozen=True, kw_only=True)
class LineRange:
    """Some lines of a text; `cut` says that the last one was too long to show whole.

    `next` is where the text goes on, as `line` or `line:column`; none at its end.
    """

    text: str
    start: int
    end: int
    total: int
    cut: bool
    next: str | None = None


def decode(raw: bytes) -> Decoded | None:
    """Return the text, or None for binary content."""
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return _decode_strictly(raw, encoding) or _decode_latin1(raw)
    if b"\0" in raw[:_LOOKED_AT]:
        return None
    declared = _declared_encoding(raw)
    return (
        _decode_strictly(raw, "utf-8")
        or (declared and _decode_strictly(raw, declared))
        or _decode_latin1(raw)
    )


def detect_line_endings(text: str) -> str:
    windows = text.count("\r\n")
    plain = text.count("\n") - windows
    if windows and plain:
        return "mixed"
    return "crlf" if windows else "lf"


def split_lines(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def take_lines(
    text: str,
    *,
    start: int,
    end: int | None,
    numbered: bool,
    most_characters: int,
    column: int = 0,
) -> LineRange:
    """Take lines `start` to `end`, both included, as many as fit; the first one from `column` on.

    >>> take_lines("a long line", start=1, end=1, numbered=False, most_characters=6).next
    '1:6'
    """
    lines = split_lines(text)
    _check_range(start, end, len(lines))
    if column and lines:
        lines[start - 1] = lines[start - 1][column:]
    last = len(lines) if end is None else min(end, len(lines))
    shown_lines: list[str] = []
    remaining_characters = most_characters
    for number in range(start, last + 1):
        line = _format_line(lines[number - 1], number, numbered=numbered)
        if len(line) + 1 > remaining_characters:
            break
        shown_lines.append(line)
        remaining_characters -= len(line) + 1
    is_cut = not shown_lines and start <= last
    following = f"{start + len(shown_lines)}" if start + len(shown_lines) <= len(lines) else None
    if is_cut:
        part = lines[start - 1][:most_characters]
        shown_lines = [_format_line(part, start, numbered=numbered)]
        following = f"{start}:{column + len(part)}"
    ends_file = start + len(shown_lines) > len(lines) and text.endswith("\n")
    return LineRange(
        text="\n".join(shown_lines) + ("\n" if shown_lines and not is_cut and ends_file else ""),
        start=start,
        end=start + len(shown_lines) - 1,
        total=len(lines),
        cut=is_cut,
        next=following,
    )


def parse_place(text: str) -> tuple[int, int]:
    """Read where a text goes on.

    >>> parse_place("12:400")
    (12, 400)
    """
    line, _, column = text.partition(":")
    if not (line.isascii() and line.isdigit() and (not column or column.isdigit())):
        raise RangeOutsideFile(
            f"{text[:40]!r} is not a place in a file",
            next_step="give `next` of the answer before, as it is",
        )
    return int(line), int(column or 0)


def _format_line(line: str, number: int, *, numbered: bool) -> str:
    return f"{number:>6}\t{line.removesuffix(chr(13))}" if numbered else line


def _check_range(start: int, end: int | None, total: int) -> None:
    if start < 1 or (end is not None and end < start):
        raise RangeOutsideFile(
            f"lines {start} to {end} are not a range",
            next_step="count from 1, with the first line before the last",
        )
    if start > max(total, 1):
        raise RangeOutsideFile(
            f"the file has {total} lines, so there is no line {start}",
            next_step=f"ask for lines 1 to {total}",
            total_lines=total,
        )


def _decode_strictly(raw: bytes, encoding: str) -> Decoded | None:
    try:
        return Decoded(raw.decode(encoding), encoding, certain=True)
    except (UnicodeDecodeError, LookupError):
        return None


def _decode_latin1(raw: bytes) -> Decoded:
    return Decoded(raw.decode("latin-1"), "latin-1", certain=False)


def _declared_encoding(raw: bytes) -> str | None:
    """Find an encoding declared as PEP 263 and its cousins do, if it is a plain character set."""
    for line in raw[:_LOOKED_AT].split(b"\n")[:2]:
        if declaration := _DECLARED.match(line):
            name = declaration[1].decode("ascii", errors="ignore").lower().replace("_", "-")
            return name if _PLAIN_ENCODINGS.fullmatch(name) else None
    return None
