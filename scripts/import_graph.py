"""Draws which package imports which, from the code itself, into docs/imports.svg.

Rows are the layers of `.importlinter`, high to low; a line goes from a package to one it imports,
thicker where more modules do. Every package imports the trusted core; that is said, not drawn. Run
by `make docs`; a test fails when the picture is not current.
"""

import configparser
import sys
from collections import Counter
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "imports.svg"
WIDTH, ROW, BOX_WIDTH, BOX_HEIGHT = 1080, 78, 132, 34
FRAME_LABEL = 22
WIDTHS = ((5, 0.7), (20, 1.6), (1 << 30, 2.8))
"""How thick a line is for at most so many imports; few steps, so that the picture is stable."""
HIDDEN = frozenset({"testing", "testing_plans"})


def main() -> int:
    PICTURE.write_text(draw(), encoding="utf-8")
    return 0


def draw() -> str:
    graph = grimp.build_graph("astra")
    rows = read_layers() + trusted_rows(graph)
    places = place(rows)
    edges = count_edges(graph, set(places))
    height = len(rows) * ROW + 40
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
            ' font-family="system-ui, sans-serif" font-size="13">'
        ),
        "<title>Which package imports which</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        draw_frame(len(read_layers()), len(rows)),
        *(draw_edge(places[start], places[end], n) for (start, end), n in sorted(edges.items())),
        draw_summary(len(read_layers())),
        *(draw_box(name, spot) for name, spot in places.items()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def read_layers() -> list[list[str]]:
    """Give the rows above the trusted core, as the import contract has them."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    lines = contracts["importlinter:contract:layers"]["layers"].split("\n")
    names = [line.strip(" ()") for line in lines if line.strip()]
    return [[name] for name in names if name not in HIDDEN and name != "trusted"]


def trusted_rows(graph: grimp.ImportGraph) -> list[list[str]]:
    """Order the parts of the trusted core: each row imports only rows below it."""
    parts = {module.split(".")[2] for module in graph.find_children("astra.trusted")}
    needs = {
        part: {other for other in parts - {part} if imports(graph, f"trusted.{part}", other)}
        for part in parts
    }
    rows: list[list[str]] = []
    while needs:
        free = sorted(part for part, below in needs.items() if not below) or sorted(needs)
        rows.insert(0, [f"trusted.{part}" for part in free])
        needs = {part: below - set(free) for part, below in needs.items() if part not in set(free)}
    return rows


def imports(graph: grimp.ImportGraph, part: str, other: str) -> bool:
    return any(
        module.startswith(f"astra.{part}")
        for child in graph.find_descendants(f"astra.trusted.{other}") | {f"astra.trusted.{other}"}
        for module in graph.find_modules_that_directly_import(child)
    )


def package_of(module: str, names: set[str]) -> str | None:
    words = module.split(".")[1:]
    for length in (2, 1):
        if ".".join(words[:length]) in names:
            return ".".join(words[:length])
    return None


def count_edges(graph: grimp.ImportGraph, names: set[str]) -> Counter[tuple[str, str]]:
    edges: Counter[tuple[str, str]] = Counter()
    for module in graph.modules:
        start = package_of(module, names)
        for other in graph.find_modules_directly_imported_by(module):
            end = package_of(other, names)
            if start and end and start != end and is_inside(start) == is_inside(end):
                edges[start, end] += 1
    return edges


def is_inside(package: str) -> bool:
    return package.startswith("trusted.")


def draw_summary(first: int) -> str:
    """Say once that everything above imports the core; lines for it would hide the others."""
    top = first * ROW + 8 + FRAME_LABEL
    return (
        f'<text x="{WIDTH - 26}" y="{top}" text-anchor="end" fill="#1d5338">'
        "every package above imports it; it imports none of them</text>"
    )


def place(rows: list[list[str]]) -> dict[str, tuple[float, float]]:
    """Put each row in a zigzag, so that lines between single boxes do not lie on each other."""
    places: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(rows):
        gap = WIDTH / (len(row) + 1)
        shift = (-1) ** number * 150 * (number % 4 > 0) if len(row) == 1 else 0
        for column, name in enumerate(row, start=1):
            places[name] = (gap * column + shift, number * ROW + 40)
    return places


def draw_frame(first: int, last: int) -> str:
    top, height = first * ROW + 8, (last - first) * ROW - 2
    return (
        f'<rect x="12" y="{top}" width="{WIDTH - 24}" height="{height}" rx="10" fill="#eef6f1"'
        f' stroke="#2f7d55"/><text x="26" y="{top + FRAME_LABEL}" fill="#1d5338"'
        ' font-weight="600">trusted</text>'
    )


def draw_edge(start: tuple[float, float], end: tuple[float, float], count: int) -> str:
    (x1, y1), (x2, y2) = start, end
    middle = (y1 + y2) / 2
    width = next(width for most, width in WIDTHS if count <= most)
    return (
        f'<path d="M{x1:.0f},{y1 + BOX_HEIGHT / 2:.0f} C{x1:.0f},{middle:.0f} {x2:.0f},'
        f'{middle:.0f} {x2:.0f},{y2 - BOX_HEIGHT / 2:.0f}" fill="none" stroke="#5b6b7a"'
        f' stroke-opacity="0.35" stroke-width="{width}"/>'
    )


def draw_box(name: str, spot: tuple[float, float]) -> str:
    x, y = spot
    return (
        f'<rect x="{x - BOX_WIDTH / 2:.0f}" y="{y - BOX_HEIGHT / 2:.0f}" width="{BOX_WIDTH}"'
        f' height="{BOX_HEIGHT}" rx="6" fill="#ffffff" stroke="#33414d"/><text x="{x:.0f}"'
        f' y="{y + 5:.0f}" text-anchor="middle" fill="#17212b">'
        f"{name.removeprefix('trusted.')}</text>"
    )


if __name__ == "__main__":
    sys.exit(main())
