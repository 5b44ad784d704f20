"""Where code can be changed, as a closed list: symbols, small files, ends of files, new files.

A model chooses from it instead of spelling paths and line numbers.
"""

import ast
import inspect
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from astra.plans.code.splicing import append_code, replace_symbol
from astra.plans.code.syntax import Symbol, find_syntax_error, list_symbols, parse_source
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import one_line

MOST_PLACES, _LEAST_PLACES = 10, 4
_FAR_BELOW = 0.25
"""What scores less than this share of the best is not worth reading."""
LARGEST_WHOLE_FILE = 6_000
_SMALL_FILE = 1_500
WHOLE_FILE, NEW_CODE, NEW_FILE = "(whole file)", "(new code at the end)", "(new file)"
_WORD = re.compile(r"[A-Za-z0-9]+")
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?")
_DEFINITION = re.compile(r"(?:async\s+)?(?:def|class)\s")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "an and as at be by for from has have if in instead into is it its may more must no not"
        " of on one or should so than that the then there this to two up which with",
    )
)
_NAME = re.compile(r"\w+")
_QUOTED = re.compile(r"""["'`“]([^"'`“”]{4,200})["'`”]""")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Unchanged(BadInput):
    code = "unchanged"


@dataclass(frozen=True, kw_only=True)
class Place:
    path: str
    what: str
    headline: str = ""
    symbol: Symbol | None = None
    hint: str = ""
    """A line of it that the instructions may speak of."""

    @property
    def name(self) -> str:
        return f"{self.path}::{self.what}"

    def describe(self) -> str:
        """Say in a line what stands there."""
        parts = (one_line(part, 100) for part in (self.headline, self.hint) if part)
        return "  ".join((self.name, *parts))

    def read_piece(self, text: str) -> str:
        """Give what stands there now."""
        if self.symbol is not None:
            return "\n".join(text.splitlines()[self.symbol.first : self.symbol.last + 1])
        return text if self.what in (WHOLE_FILE, NEW_CODE) else ""

    def write_piece(self, text: str, code: str) -> str:
        """Give the file with the piece rewritten, or raise what is wrong with it."""
        if self.symbol is not None:
            edited = replace_symbol(text, self.symbol, code)
        elif self.what == NEW_CODE:
            edited = append_code(text, code)
        else:
            edited = code.rstrip("\n") + "\n"
        refuse_bad_syntax(self.path, edited)
        if edited == text:
            raise Unchanged(
                f"nothing in {self.what} would change", next_step="change what was asked for"
            )
        return edited


def refuse_bad_syntax(path: str, text: str) -> None:
    if error := find_syntax_error(path, text):
        raise BadInput(f"{path} would not parse: {error}", next_step="write it again, correctly")


def list_places(
    files: Mapping[str, str], new_files: Sequence[str], instructions: str
) -> list[Place]:
    """List where these files can be changed, the likeliest first and no more than can be read."""
    places = [place for path, text in files.items() for place in _list_of_file(path, text)]
    places += [Place(path=path, what=NEW_FILE) for path in new_files]
    pieces = {place.name: place.read_piece(files.get(place.path, "")) for place in places}
    scores = _score_places(places, pieces, instructions)
    likely = _take_likely(sorted(places, key=lambda place: -scores[place.name]), scores)
    return [replace(place, hint=_find_line(pieces[place.name], instructions)) for place in likely]


def _take_likely(ranked: Sequence[Place], scores: Mapping[str, float]) -> list[Place]:
    """Take the first few, what is not far below the best, and where something new can go."""
    if not ranked:
        return []
    best = scores[ranked[0].name]
    least = best * _FAR_BELOW if best > 0 else -math.inf
    likely = [
        place
        for position, place in enumerate(ranked)
        if position < _LEAST_PLACES or scores[place.name] >= least
    ]
    home = f"{ranked[0].path}::{NEW_CODE}"
    new = [place for place in ranked if place.what == NEW_FILE or place.name == home]
    likeliest = [place for place in likely if place not in new][: max(1, MOST_PLACES - len(new))]
    return [*likeliest, *new][:MOST_PLACES]


def find_named_place(places: Sequence[Place], instructions: str) -> Place | None:
    """Give the place whose file and symbol the instructions name; None where that is not one."""
    mentioned_names = set(_NAME.findall(instructions))
    named_places = [
        place
        for place in places
        if place.symbol is not None
        and place.symbol.short_name in mentioned_names
        and place.path in instructions
    ]
    return named_places[0] if len(named_places) == 1 else None


def describe_context(place: Place, text: str, instructions: str) -> tuple[str, str]:
    """Give what the file says about a piece, and names in it that the instructions speak of.

    Nothing else: what stands beside a piece is what small models copy or build upon.
    """
    tree = parse_source(text) if place.symbol is not None else None
    if tree is None or place.symbol is None:
        return "", ""
    name = place.symbol.short_name
    remarks = [remark for remark in _list_remarks(tree) if name in _NAME.findall(remark)]
    mentioned = set(_NAME.findall(instructions)) - {name}
    in_file = (*_list_imported(tree), *(symbol.short_name for symbol in list_symbols(text)))
    return "\n".join(remarks), ", ".join(item for item in in_file if item in mentioned)


def _list_remarks(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield inspect.cleandoc(value.value)


def _list_imported(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def _list_of_file(path: str, text: str) -> Iterator[Place]:
    symbols = list_symbols(text) if path.endswith(".py") else []
    for symbol in symbols:
        yield Place(path=path, what=symbol.name, headline=symbol.headline, symbol=symbol)
    if symbols or path.endswith(".py"):
        yield Place(path=path, what=NEW_CODE)
    if len(text) <= (_SMALL_FILE if symbols else LARGEST_WHOLE_FILE):
        yield Place(path=path, what=WHOLE_FILE)


def _score_places(
    places: Sequence[Place], pieces: Mapping[str, str], instructions: str
) -> dict[str, float]:
    """Score by the words that a place shares with the instructions; rare ones count for more."""
    task_words = set(_split_words(instructions))
    words_by_place = {
        place.name: set(_split_words(f"{place.what} {place.path} {pieces[place.name]}"))
        for place in places
    }
    frequency = Counter(
        word for place_words in words_by_place.values() for word in place_words & task_words
    )
    numbers = {float(number) for number in _NUMBER.findall(instructions)}
    quotations = _QUOTED.findall(instructions)

    def score(place: Place) -> float:
        place_words, piece = words_by_place[place.name], pieces[place.name]
        shared = sum(1 / frequency[word] for word in place_words & task_words)
        quoted = sum(10 for text in quotations if text in piece)
        quoted += 5 * _has_value(place, piece, numbers)
        is_named = place.symbol is not None and place.symbol.short_name in instructions
        size = max(1.0, len(piece) / 1_000)
        return (shared + quoted) / size + 5 * is_named + 3 * (place.path in instructions)

    return {place.name: score(place) - _penalty(place, task_words) for place in places}


def _has_value(place: Place, piece: str, numbers: set[float]) -> bool:
    """Tell a constant that is set to a number of the instructions."""
    is_constant = place.symbol is not None and not _DEFINITION.match(place.headline)
    _name, _, value = piece.partition("=")
    return is_constant and bool(_NUMBER.fullmatch(value.strip())) and float(value) in numbers


def _penalty(place: Place, wanted: set[str]) -> float:
    """Set back what is rarely meant: tests nobody asked for, whole files, classes with methods."""
    is_test = "test" in place.path and "test" not in wanted
    is_broad = place.symbol is None or place.headline.startswith("class ")
    return 20.0 * is_test + 1.0 * is_broad


def _find_line(piece: str, instructions: str) -> str:
    """Give the line of a piece that shares most with the instructions, to tell places apart."""
    task_words = set(_split_words(instructions))
    lines = [line.strip() for line in piece.splitlines()[1:] if line.strip()]
    best = max(lines, key=lambda line: len(task_words & set(_split_words(line))), default="")
    return best if task_words & set(_split_words(best)) else ""


def _split_words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        parts = (part.lower() for part in _HUMP.split(word) if len(part) > 1)
        yield from (part.removesuffix("s") for part in parts if part not in _COMMON)
