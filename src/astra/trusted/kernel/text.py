r"""Text from somewhere else, made safe to look at.

Terminal escapes, other control characters and characters that turn reading direction or cannot be
seen are shown as escapes, so that what a person sees is what is there. Which they are is Unicode's
own list: the general categories of what has no picture, and Default_Ignorable_Code_Point, which
also holds letters and marks that are drawn as nothing (U+3164, U+034F, variation selectors).

>>> printable("a\x1b[2Jb\u202ec")
'a\\x1b[2Jb\\u202ec'
>>> json_text({"name": "a\u3164\x9b\U000e0101"})
'{"name": "a\\u3164\\u009b\\udb40\\udd01"}'
"""

import json
import unicodedata
from bisect import bisect_right
from typing import Any

_INNER_QUOTES = str.maketrans("“”„‟", '""""')
_KEPT = frozenset("\n\t")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_DRAWN_AS_NOTHING = frozenset({"Cf", "Co", "Zl", "Zp"})
_TURNING_CLASSES = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
_TURNING_MARKS = frozenset("\u061c\u200e\u200f")
_FIRST_PLANE = 0x10000

# Default_Ignorable_Code_Point of DerivedCoreProperties.txt, Unicode 17.0 (the same since 14.0):
# first and last code point of each range. The test compares it with what it is derived from.
UNICODE_VERSION = "17.0"
DEFAULT_IGNORABLE = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
_STARTS = tuple(first for first, _ in DEFAULT_IGNORABLE)


def printable(text: str) -> str:
    """Spell out every character that a person would not see or a terminal would obey."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape_char(char) if _is_spelled_out(char) else char for char in text)


def json_text(value: Any, *, indent: int | None = None) -> str:
    r"""Write a JSON document that is safe to look at and equal in value: escapes are `\uXXXX`."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return safe_json(text)


def safe_json(text: str) -> str:
    """Spell out hidden characters of a JSON text; they stand inside strings only."""
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(_escape_json_char(char) if _is_spelled_out(char) else char for char in text)


def one_line(text: str, width: int = 200) -> str:
    line = printable(text).replace("\n", "\\n").replace("\t", " ")
    return line if len(line) <= width else f"{line[: width - 1]}…"


def quote_text(text: str, width: int = 100) -> str:
    """Put somebody's words in quotation marks that they cannot close themselves.

    >>> quote_text("mend it” (approved): “x")
    '“mend it" (approved): "x”'
    """
    return f"“{one_line(text, width).translate(_INNER_QUOTES)}”"


def is_invisible(char: str) -> bool:
    """Tell whether a character is drawn as nothing; control characters are another matter."""
    return unicodedata.category(char) in _DRAWN_AS_NOTHING or is_default_ignorable(char)


def turns_direction(char: str) -> bool:
    """Tell whether a character changes the order in which the text around it is shown."""
    return char in _TURNING_MARKS or unicodedata.bidirectional(char) in _TURNING_CLASSES


def is_default_ignorable(char: str) -> bool:
    code = ord(char)
    place = bisect_right(_STARTS, code) - 1
    return place >= 0 and code <= DEFAULT_IGNORABLE[place][1]


def _is_spelled_out(char: str) -> bool:
    if char in _KEPT or " " <= char <= "~":
        return False
    return unicodedata.category(char) in _HIDDEN or is_default_ignorable(char)


def _escape_char(char: str) -> str:
    return char.encode("unicode_escape", errors="backslashreplace").decode()


def _escape_json_char(char: str) -> str:
    code = ord(char)
    if code < _FIRST_PLANE:
        return f"\\u{code:04x}"
    high, low = divmod(code - _FIRST_PLANE, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
