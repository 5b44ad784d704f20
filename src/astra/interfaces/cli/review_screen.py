"""The full-screen review as values: what is on the screen, and what a key does to it.

Nothing here touches a terminal. A screen is a request with its pages (what it is, findings,
evidence, diff), one of them open and scrolled to a row; a key gives the next screen, or an action
for the command to do. Every text is escaped before it is a `Span`, and every line is folded to the
screen's width, so that nothing of what is signed lies out of sight.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import groupby

from astra.trusted.kernel.text import printable

_MARK = re.compile(r"\x01([a-z]+)\x02(.*?)\x03")
_HEAD_ROWS = 3
"""Title, tabs and a blank row; the keys stand below."""
_ROWS_FOR_A_ROW_OF_KEYS = 8
"""How high a screen is for each row of keys on it: a low one leaves the last keys out."""
_LINE_COUNT_COLUMNS = 12
_LEAST_COLUMNS_FOR_WORDS = 8
_WIDE = frozenset("WF")
_FOLDED = "» "


class Action(StrEnum):
    APPROVE = "approve"
    DEPLOY = "deploy"
    REJECT = "reject"
    REQUEST_CHANGES = "request-changes"
    NEXT = "next"
    PREVIOUS = "previous"
    QUIT = "quit"


@dataclass(frozen=True)
class Span:
    text: str
    colour: str = ""


Line = tuple[Span, ...]


@dataclass(frozen=True, kw_only=True)
class Page:
    name: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, kw_only=True)
class Screen:
    title: str
    pages: tuple[Page, ...]
    actions: frozenset[Action]
    rows: int
    columns: int
    open_page: int = 0
    top: int = 0

    @property
    def room(self) -> int:
        return max(self.rows - _HEAD_ROWS - len(self.rows_of_keys), 1)

    @property
    def rows_of_keys(self) -> tuple[str, ...]:
        """Name the keys that do something, those that decide first, in as many rows as it takes."""
        names = [text for text, action in _KEY_WORDS if action in self.actions]
        rows = _fold_names([*names, *_KEYS_OF_PAGES], self.columns - _LINE_COUNT_COLUMNS)
        return rows[: max(self.rows // _ROWS_FOR_A_ROW_OF_KEYS, 1)]

    @property
    def page(self) -> Page:
        return self.pages[self.open_page]

    @property
    def rows_of_page(self) -> tuple[Line, ...]:
        return fold_page(self.page, self.columns)

    @property
    def last_top(self) -> int:
        return max(len(self.rows_of_page) - self.room, 0)

    def visible_lines(self) -> tuple[Line, ...]:
        return self.rows_of_page[self.top : self.top + self.room]

    def press(self, key: str) -> "Screen | Action":
        """Give what a key leads to: another screen, or something to do. Unknown keys do nothing."""
        if key in _ACTIONS:
            action = _ACTIONS[key]
            return action if action in self.actions else self
        if key in _SCROLLS:
            return self._scroll(_SCROLLS[key])
        if key in {"tab", "right", "left"} or key.isdecimal():
            return self._turn_page(key)
        return self

    def resize(self, rows: int, columns: int) -> "Screen":
        resized = replace(self, rows=rows, columns=columns)
        return replace(resized, top=min(self.top, resized.last_top))

    def _scroll(self, pages: float) -> "Screen":
        step = {0.0: 0, _LINE: 1, -_LINE: -1}.get(pages)
        distance = int(pages * self.room) if step is None else step
        return replace(self, top=min(max(self.top + distance, 0), self.last_top))

    def _turn_page(self, key: str) -> "Screen":
        count = len(self.pages)
        neighbours = {
            "tab": self.open_page + 1,
            "right": self.open_page + 1,
            "left": self.open_page - 1,
        }
        page_number = neighbours[key] % count if key in neighbours else int(key) - 1
        return replace(self, open_page=page_number, top=0) if 0 <= page_number < count else self


_LINE = 0.001
_SCROLLS = {
    "j": _LINE,
    "down": _LINE,
    "k": -_LINE,
    "up": -_LINE,
    "space": 1.0,
    "page_down": 1.0,
    "page_up": -1.0,
    "g": -1e6,
    "G": 1e6,
    "home": -1e6,
    "end": 1e6,
}
_ACTIONS = {
    "a": Action.APPROVE,
    "d": Action.DEPLOY,
    "r": Action.REJECT,
    "c": Action.REQUEST_CHANGES,
    "n": Action.NEXT,
    "p": Action.PREVIOUS,
    "q": Action.QUIT,
    "escape": Action.QUIT,
}
_KEY_WORDS = (
    ("a approve", Action.APPROVE),
    ("d approve and deploy", Action.DEPLOY),
    ("r reject", Action.REJECT),
    ("c request changes", Action.REQUEST_CHANGES),
    ("q quit", Action.QUIT),
    ("n next", Action.NEXT),
    ("p previous", Action.PREVIOUS),
)
_KEYS_OF_PAGES = ("Tab page", "j k space scroll")


def describe_keys(screen: Screen) -> tuple[str, ...]:
    """Name the keys of this screen, row by row, and how far the page is read."""
    count = len(screen.rows_of_page)
    line_count = f"{min(screen.top + screen.room, count)}/{count}"
    *rows, last_row = screen.rows_of_keys
    return (*rows, f"{last_row} · {line_count}")


def _fold_names(names: Iterable[str], columns: int) -> tuple[str, ...]:
    rows = list[str]()
    for name in names:
        longer_row = f"{rows[-1]} · {name}" if rows else name
        rows[-1:] = [longer_row] if len(longer_row) <= columns else [*rows[-1:], name]
    return tuple(rows)


def mark_colour(text: str, colour: str) -> str:
    """Paint for `render_screen`: `read_line` turns the marks into spans."""
    return f"\x01{colour}\x02{printable(text)}\x03"


def read_line(text: str) -> Line:
    """Read a line with marks into spans; whatever else is in it is escaped."""
    spans: list[Span] = []
    position = 0
    for match in _MARK.finditer(text):
        spans += [Span(_show_plain(text[position : match.start()]))]
        spans += [Span(_show_plain(match[2]), match[1])]
        position = match.end()
    spans.append(Span(_show_plain(text[position:])))
    return tuple(span for span in spans if span.text)


def read_lines(texts: Iterable[str]) -> tuple[Line, ...]:
    return tuple(read_line(row) for text in texts for row in text.split("\n"))


def read_diff(text: str) -> tuple[Line, ...]:
    colours = {"+": "green", "-": "red", "@": "dim"}
    return tuple((Span(_show_plain(row), colours.get(row[:1], "")),) for row in text.split("\n"))


@lru_cache(maxsize=16)
def fold_page(page: Page, columns: int) -> tuple[Line, ...]:
    """Give the rows of a page on a screen of so many columns: nothing lies behind its edge."""
    return tuple(row for line in page.lines for row in fold_line(line, columns))


def fold_line(line: Line, columns: int) -> tuple[Line, ...]:
    """Fold a line into rows; each but the first begins with a mark that no line begins with.

    Words stay whole where they can. Wide characters take two columns, marks over others none.
    """
    rows, row = list[Line](), list[tuple[str, str]]()
    used = least = 0
    for char, colour in ((char, span.colour) for span in line for char in span.text):
        width = _char_width(char)
        if used + width > columns and used > least:
            word = _take_last_word(row, columns)
            rows.append(_join_spans(row))
            row, least = [(_FOLDED, "dim"), *word], len(_FOLDED)
            used = least + _measure(word)
        row.append((char, colour))
        used += width
    return (*rows, _join_spans(row))


def _take_last_word(row: list[tuple[str, str]], columns: int) -> list[tuple[str, str]]:
    """Take the word that a row breaks off it, unless it is long or begins the row."""
    if columns < _LEAST_COLUMNS_FOR_WORDS:
        return []
    spaces = [at for at, (text, _) in enumerate(row) if text == " "]
    word = row[spaces[-1] + 1 :] if spaces else []
    if not 0 < _measure(word) <= columns // 2:
        return []
    del row[spaces[-1] + 1 :]
    return word


def _measure(pieces: list[tuple[str, str]]) -> int:
    return sum(_char_width(text) for text, _ in pieces)


def _join_spans(pieces: list[tuple[str, str]]) -> Line:
    return tuple(
        Span("".join(text for text, _ in same_colour), colour)
        for colour, same_colour in groupby(pieces, key=lambda piece: piece[1])
    )


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in _WIDE else 1


def _show_plain(text: str) -> str:
    return printable(text.replace("\t", "    ")).replace("\n", "\\n")
