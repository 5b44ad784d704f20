"""Search in text that is already fit to be shown: masked, and free of secret files.

Because the text is masked before it is matched, a search cannot be used to guess a secret letter by
letter. Plain text is searched here. A regular expression can take forever, and Python cannot
interrupt one, so it runs in a process of its own with a deadline, limits on processor time and
memory, an empty environment, and nothing on its command line that came from an agent.
"""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from astra.adapters.source_view import regex_worker
from astra.trusted.git.bounded_process import BoundedCommand, Finished, ProgramTimedOut, run_bounded
from astra.trusted.kernel.errors import BadInput, Refused
from astra.trusted.policy.paths import quote

LONGEST_PATTERN = 1000
LONGEST_LINE = 400
_BEFORE_MATCH = 120
_WORKER_MEGABYTES = 1024
_WORKER_OUTPUT = 4 * 1024 * 1024


class BadPattern(BadInput):
    code = "bad_pattern"


class SearchTimedOut(Refused):
    code = "search_timed_out"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pattern:
    text: str
    regex: bool = False
    ignore_case: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    path: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    path: str
    line: int
    column: int
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    document: int
    line: int
    column: int


def search(
    pattern: Pattern, documents: Sequence[Document], *, context: int, limit: int, seconds: float
) -> list[Match]:
    """Return the first `limit` matching lines, in the order of the documents."""
    _refuse_bad_pattern(pattern)
    if pattern.regex:
        places = _find_regex(pattern, documents, limit, seconds)
    else:
        places = _find_text(pattern, documents, limit)
    return [_make_match(place, documents[place.document], context) for place in places]


def _refuse_bad_pattern(pattern: Pattern) -> None:
    if not pattern.text or len(pattern.text) > LONGEST_PATTERN or "\n" in pattern.text:
        raise BadPattern(
            f"the pattern {quote(pattern.text)} is empty, spans lines, "
            f"or is longer than {LONGEST_PATTERN} characters",
            next_step="search for one line of text",
        )


def _find_text(pattern: Pattern, documents: Sequence[Document], limit: int) -> list[_Place]:
    needle = pattern.text.casefold() if pattern.ignore_case else pattern.text
    places: list[_Place] = []
    for number, document in enumerate(documents):
        text = document.text.casefold() if pattern.ignore_case else document.text
        places += _places_in(text, needle, number, limit - len(places))
        if len(places) >= limit:
            break
    return places


def _places_in(text: str, needle: str, document: int, limit: int) -> list[_Place]:
    """Jump from match to match, so that a file without one costs a single scan."""
    places: list[_Place] = []
    line, counted_to = 1, 0
    position = text.find(needle)
    while position >= 0 and len(places) < limit:
        line += text.count("\n", counted_to, position)
        counted_to = position
        line_start = text.rfind("\n", 0, position) + 1
        places.append(_Place(document, line, position - line_start))
        line_end = text.find("\n", position)
        position = text.find(needle, line_end) if line_end >= 0 else -1
    return places


def _find_regex(
    pattern: Pattern, documents: Sequence[Document], limit: int, seconds: float
) -> list[_Place]:
    command = worker_command(pattern, documents, limit=limit, seconds=seconds)
    try:
        finished = run_bounded(command)
    except ProgramTimedOut:
        raise _timed_out(pattern, seconds) from None
    return [_Place(*place) for place in _read_places(finished, pattern, seconds)]


def worker_command(
    pattern: Pattern, documents: Sequence[Document], *, limit: int, seconds: float
) -> BoundedCommand:
    """Describe the worker's run; the pattern travels on standard input, never as an argument."""
    bodies = [document.text.encode(errors="replace") for document in documents]
    order = {
        "pattern": pattern.text,
        "ignore_case": pattern.ignore_case,
        "limit": limit,
        "seconds": math.ceil(seconds) + 1,
        "megabytes": _WORKER_MEGABYTES,
        "lengths": [len(body) for body in bodies],
    }
    return BoundedCommand(
        arguments=(sys.executable, "-I", "-S", "-B", str(Path(regex_worker.__file__))),
        input=json.dumps(order).encode() + b"\n" + b"".join(bodies),
        timeout=seconds,
        output_limit=_WORKER_OUTPUT,
    )


def _read_places(finished: Finished, pattern: Pattern, seconds: float) -> list[list[int]]:
    if finished.exit_code < 0:
        raise _timed_out(pattern, seconds)
    answer = json.loads(finished.output) if finished.exit_code == 0 else {"error": "no answer"}
    if "error" in answer:
        raise BadPattern(
            f"{quote(pattern.text)} is not a usable regular expression: {answer['error']}",
            next_step="use Python's syntax, or search for plain text",
        )
    return cast("list[list[int]]", answer["found"])


def _timed_out(pattern: Pattern, seconds: float) -> SearchTimedOut:
    return SearchTimedOut(
        f"the search for {quote(pattern.text)} was ended after {seconds:g} seconds",
        next_step="use a simpler pattern, plain text, or a narrower folder or glob",
    )


def _make_match(place: _Place, document: Document, context: int) -> Match:
    lines = document.text.split("\n")
    index = place.line - 1
    return Match(
        path=document.path,
        line=place.line,
        column=place.column + 1,
        text=_cut_line(lines[index], place.column),
        before=tuple(_cut_line(line, 0) for line in lines[max(0, index - context) : index]),
        after=tuple(_cut_line(line, 0) for line in lines[index + 1 : index + 1 + context]),
    )


def _cut_line(line: str, column: int) -> str:
    """Show a long line around the match."""
    line = line.removesuffix("\r")
    if len(line) <= LONGEST_LINE:
        return line
    start = max(0, column - _BEFORE_MATCH)
    return ("…" if start else "") + line[start : start + LONGEST_LINE] + "…"
