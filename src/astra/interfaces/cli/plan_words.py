"""Lines that fit a terminal, for what a plan did.

Everything here shows text of a model's or a tool's making. It is escaped, and stays behind a label
or an indentation of ours on every line, so that no text can pass for something that Astra says.
"""

import shutil
import textwrap
from collections.abc import Iterator

from astra.trusted.kernel.text import printable

_NARROWEST, _WIDEST = 60, 100
_LABEL = 11


def find_width() -> int:
    return min(max(shutil.get_terminal_size((_WIDEST, 24)).columns, _NARROWEST), _WIDEST)


def label_text(label: str, text: str, *, most: int = 600) -> Iterator[str]:
    """Give a text behind its label, folded to the terminal; says how much was left out."""
    return fold_text(f"  {label:{_LABEL}}", text, most=most)


def fold_text(start: str, text: str, *, most: int = 600) -> Iterator[str]:
    """Fold a text behind a start of ours; the lines that follow are indented as far."""
    short_text = printable(text).replace("\t", " ").replace("\n", " ⏎ ")
    if len(short_text) > most:
        short_text = f"{short_text[:most]}… ({len(short_text) - most} more characters, see --json)"
    lines = textwrap.wrap(short_text, find_width() - len(start), break_on_hyphens=False) or [""]
    yield f"{start}{lines[0]}".rstrip()
    yield from (f"{' ' * len(start)}{line}" for line in lines[1:])
