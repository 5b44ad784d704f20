"""Lists as tables: on a terminal with a header, coloured states and lines that fit its width.

In a pipe there is no header and nothing is cut, so that what reads it gets every row whole.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.text import one_line, printable

_GAP = "  "
_INDENT = "    "
_NARROWEST = 12
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_STATE_COLOURS = {
    **dict.fromkeys(("active", "live", "executed", "completed", "settled", "passed"), "green"),
    **dict.fromkeys(
        ("pending", "awaiting_approval", "awaiting_answers", "blocked", "paused", "stale"), "yellow"
    ),
    **dict.fromkeys(
        ("failed", "tests_failed", "rolled_back", "quarantined", "plan_failed", "conflict"), "red"
    ),
    **dict.fromkeys(("rejected", "replaced", "aborted", "expired", "revoked", "retired"), "dim"),
}


class Screen(Protocol):
    @property
    def width(self) -> int: ...

    @property
    def is_terminal(self) -> bool: ...

    def paint(self, text: str, colour: str) -> str: ...


def render_table(
    screen: Screen, titles: Sequence[str], rows: Sequence[Sequence[object]]
) -> list[str]:
    """Draw rows below their titles; the last column takes the room that the others leave.

    Where the screen is too narrow for a row, header and rows go on in an indented line below. A
    column called `state` gets the colour of what it says: green is well, yellow waits, red failed,
    dim is over.
    """
    table = [[one_line(str(cell), 10_000) for cell in row] for row in rows]
    header = [title.upper() for title in titles]
    measured = [header, *table] if screen.is_terminal else table
    widths = [max((len(row[i]) for row in measured), default=0) for i in range(len(titles))]
    layout = _lay_out(widths, screen.width) if screen.is_terminal else [range(len(titles))]
    if screen.is_terminal:
        widths[-1] = min(widths[-1], _room_for_last(screen.width, widths, layout))
    drawn = [
        line
        for row in table
        for line in _draw_lines(_paint_row(screen, titles, row, widths), layout)
    ]
    if not screen.is_terminal or not rows:
        return drawn
    header_lines = _draw_lines(_pad(header, widths), layout)
    return [*(screen.paint(line, "dim") for line in header_lines), *drawn]


def render_fields(document: Mapping[str, Any]) -> list[str]:
    """Give a line for each member that says something, as the command line says such things.

    >>> render_fields({"goal": None, "made_at": "2026-03-01T11:59:00.123456Z", "part": 0.51234})
    ['  made at  2026-03-01 11:59:00Z', '  part     0.51']
    """
    fields = {name: value for name, value in document.items() if value not in (None, "", [])}
    width = max(map(len, fields), default=0)
    return [
        f"  {name.replace('_', ' '):{width}}  {_render_value(value)}"
        for name, value in fields.items()
    ]


def _render_value(value: object) -> str:
    if isinstance(value, str):
        return show_time(value) if _TIME.fullmatch(value) else printable(value)
    if isinstance(value, float):
        return f"{value:.2f}"
    return printable(json.dumps(value, ensure_ascii=False))


def explain_empty(nothing: str, none_fits: str, filters: Iterable[object]) -> str:
    """Say why a list is empty: nothing is there, or nothing fits what was asked for.

    >>> explain_empty("there are no plans", "no plan fits", [None, False])
    'there are no plans'
    >>> explain_empty("there are no plans", "no plan fits", ["paused"])
    'no plan fits these options'
    """
    is_filtered = any(value is not None and value is not False for value in filters)
    return f"{none_fits} these options" if is_filtered else nothing


def _lay_out(widths: list[int], columns: int) -> list[range]:
    """Say which cells stand in which line, so that none is wider than the screen where it can be.

    >>> _lay_out([20, 20, 40], 80), _lay_out([30, 30, 40], 70)
    ([range(0, 3)], [range(0, 2), range(2, 3)])
    """
    needed = [*widths[:-1], min(widths[-1], _NARROWEST)]
    first, used, layout = 0, 0, list[range]()
    for number, width in enumerate(needed):
        if number > first and used + len(_GAP) + width > columns:
            layout.append(range(first, number))
            first, used = number, len(_INDENT) + width
        else:
            used += width + (len(_GAP) if number > first else 0)
    return [*layout, range(first, len(widths))]


def _room_for_last(columns: int, widths: list[int], layout: list[range]) -> int:
    beside = [widths[number] for number in layout[-1]][:-1]
    indent = len(_INDENT) if len(layout) > 1 else 0
    return max(columns - indent - sum(beside) - len(_GAP) * len(beside), _NARROWEST)


def _paint_row(
    screen: Screen, titles: Sequence[str], row: list[str], widths: list[int]
) -> list[str]:
    fitted_row = [*row[:-1], one_line(row[-1], max(widths[-1], 1))]
    return [
        screen.paint(cell, _STATE_COLOURS[cell.strip()])
        if title == "state" and cell.strip() in _STATE_COLOURS
        else cell
        for title, cell in zip(titles, _pad(fitted_row, widths), strict=True)
    ]


def _pad(cells: list[str], widths: list[int]) -> list[str]:
    return [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]


def _draw_lines(cells: list[str], layout: list[range]) -> list[str]:
    lines = (_GAP.join(cells[number] for number in numbers).rstrip() for numbers in layout)
    return [f"{_INDENT if number else ''}{line}" for number, line in enumerate(lines)]
