"""Results for people: a table of the measures, the machine's facts, and a plot of growth."""

import os
import platform
import re
import sqlite3
from datetime import UTC, datetime
from html import escape
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

Measure = dict[str, Any]
Series = dict[str, list[tuple[int, float]]]

WIDTH, HEIGHT, MARGIN = 720, 420, 64
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df")
_GROWTH = re.compile(r"(.+), at ([\d,]+)")


def write(folder: Path, measures: list[Measure]) -> None:
    (folder / "growth.svg").write_text(plot(growth(measures)), encoding="utf-8")
    (folder / "RESULTS.md").write_text(page(measures), encoding="utf-8")


def page(measures: list[Measure]) -> str:
    rows = [_row(measure) for measure in measures]
    return "\n".join(
        [
            "# Results",
            "",
            "Written by `make bench`. Each measure and its reference took turns in one run; the",
            "best round of each counts. Ratio is value to reference.",
            "",
            *_machine(),
            "",
            "| measure | value | reference | ratio | target | met |",
            "|---|---:|---:|---:|---|---|",
            *rows,
            "",
            "![growth from a thousand to a million records](growth.svg)",
            "",
        ]
    )


def growth(measures: list[Measure]) -> Series:
    """Find the measures that were taken at several sizes; nothing has no place on the scale."""
    found: Series = {}
    for measure in measures:
        match = _GROWTH.fullmatch(measure["name"])
        if match and measure["value"]:
            size = int(match[2].replace(",", ""))
            found.setdefault(match[1], []).append((size, measure["value"]))
    return found


def plot(series: Series) -> str:
    """Draw values against sizes, both logarithmic: a flat line does not mind growing."""
    points = [point for line in series.values() for point in line] or [(1, 1.0)]
    x = _Axis([size for size, _ in points], MARGIN, WIDTH - MARGIN)
    y = _Axis([value for _, value in points], HEIGHT - MARGIN, MARGIN)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">',
        "<style>text { font: 12px sans-serif }</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *_grid(x, y),
    ]
    for place, (name, line) in enumerate(series.items()):
        parts += _line(name, line, x, y, place)
    return "\n".join([*parts, "</svg>", ""])


class _Axis:
    """Powers of ten that enclose the values, spread from one pixel to another."""

    def __init__(self, values: list[float] | list[int], start: float, end: float) -> None:
        self._low = floor(log10(min(values)))
        self._high = max(ceil(log10(max(values))), self._low + 1)
        self._start, self._end = start, end

    def place(self, value: float) -> float:
        share = (log10(value) - self._low) / (self._high - self._low)
        return round(self._start + share * (self._end - self._start), 1)

    def ticks(self) -> list[int]:
        return [10**power for power in range(self._low, self._high + 1)]


def _grid(x: _Axis, y: _Axis) -> list[str]:
    left, right, top, bottom = MARGIN, WIDTH - MARGIN, MARGIN, HEIGHT - MARGIN
    parts = []
    for tick in x.ticks():
        at = x.place(tick)
        parts += [
            f'<line x1="{at}" y1="{top}" x2="{at}" y2="{bottom}" stroke="#d0d7de"/>',
            f'<text x="{at}" y="{bottom + 18}" text-anchor="middle">{tick:,}</text>',
        ]
    for tick in y.ticks():
        at = y.place(tick)
        parts += [
            f'<line x1="{left}" y1="{at}" x2="{right}" y2="{at}" stroke="#d0d7de"/>',
            f'<text x="{left - 6}" y="{at + 4}" text-anchor="end">{tick:,}</text>',
        ]
    caption = f'<text x="{WIDTH / 2}" y="{HEIGHT - 20}" text-anchor="middle">records there</text>'
    return [*parts, caption]


def _line(name: str, line: list[tuple[int, float]], x: _Axis, y: _Axis, place: int) -> list[str]:
    colour = COLOURS[place % len(COLOURS)]
    path = " ".join(f"{x.place(size)},{y.place(value)}" for size, value in line)
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *(
            f'<circle cx="{x.place(size)}" cy="{y.place(value)}" r="4" fill="{colour}"/>'
            for size, value in line
        ),
        f'<text x="{MARGIN}" y="{20 + 18 * place}" fill="{colour}">{escape(name)}</text>',
    ]


def _row(measure: Measure) -> str:
    met = {True: "yes", False: "**no**", None: ""}[measure["ok"]]
    cells = [
        measure["name"],
        _number(measure["value"]),
        _number(measure["reference"]),
        _number(measure["ratio"]),
        measure["target"] or "",
        met,
    ]
    return f"| {' | '.join(cells)} |"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,}"


def _machine() -> list[str]:
    return [
        f"- {datetime.now(UTC):%Y-%m-%d}",
        f"- {os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[0]:.1f} at the end",
        f"- Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
        f"- {platform.system()} {platform.release()}",
    ]
