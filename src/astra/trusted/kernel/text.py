r"""Text from somewhere else, made safe to look at.

Terminal escapes, other control characters and characters that turn reading direction or hide are
shown as escapes, so that what a person sees is what is there.

>>> printable("a\x1b[2Jb\u202ec")
'a\\x1b[2Jb\\u202ec'
"""

import unicodedata

_KEPT = frozenset("\n\t")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char in _KEPT or unicodedata.category(char) not in _HIDDEN else _escaped(char)
        for char in text
    )


def one_line(text: str, width: int = 200) -> str:
    shown = printable(text).replace("\n", "\\n").replace("\t", " ")
    return shown if len(shown) <= width else f"{shown[: width - 1]}…"


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", errors="backslashreplace").decode()
