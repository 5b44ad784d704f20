r"""Words and quotes: what a question asks for, and where in a text a quote stands.

Identifiers are split at case and underscore. A quote is compared without any white space, and its
length counts without it.

>>> split_identifier("readTree_file2HTTP")
('read', 'tree', 'file2', 'http')
>>> locate_quote("def f():\n    return  first + second_value\n", "return first + second_value")
(2, 2)
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from astra.research.model import LONGEST_QUOTE, SHORTEST_QUOTE
from astra.research.word_forms import stem_word

CASE_EDGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_SPACE = re.compile(r"\s+")
MOST_TERMS, LONGEST_TERM = 12, 64
_LONGEST_LINE = 300
_COMMON_WORDS = (
    "a about all an and any are as at be been but by can could did do does each for from"
    " get had has have how i if in into is it its made many may me more most must my no not"
    " of on once one only or other our out over say see shall she should so some such than"
    " that the their them then there these they this those to under up use used uses using"
    " was we were what when where which while who whose why will with without would you your"
)
_COMMON = frozenset(_COMMON_WORDS.split(" "))


def split_identifier(name: str) -> tuple[str, ...]:
    return tuple(part.lower() for word in name.split("_") for part in CASE_EDGE.split(word) if part)


def find_terms(question: str) -> tuple[str, ...]:
    """Give what to search for: words as they were written, without the most common ones."""
    all_terms = list(dict.fromkeys(word[:LONGEST_TERM] for word in _WORD.findall(question)))
    terms = [word for word in all_terms if word.lower() not in _COMMON and len(word) > 1]
    return tuple((terms or all_terms)[:MOST_TERMS])


def count_terms(text: str, terms: Sequence[str]) -> int:
    """Count how many of the terms a text has, whatever their case, underscores and form."""
    squeezed = squeeze(text).lower().replace("_", "")
    absent_terms = [term for term in terms if "".join(split_identifier(term)) not in squeezed]
    if not absent_terms:
        return len(terms)
    stems = {stem_word(word) for word in _WORD.findall(text)}
    return len(terms) - sum(stem_word(term) not in stems for term in absent_terms)


def squeeze(text: str) -> str:
    """Take out all white space."""
    return _SPACE.sub("", text)


def is_long_enough(quote: str) -> bool:
    return len(squeeze(quote)) >= SHORTEST_QUOTE and len(quote) <= LONGEST_QUOTE


def locate_quote(text: str, quote: str, *, near: int = 1) -> tuple[int, int] | None:
    """Find the lines in which a quote stands, white space aside; None: it is not there.

    Of several places, the first from line `near` on counts.
    """
    if not is_long_enough(quote):
        return None
    squeezed, starts = _squeeze_lines(text)
    begin = squeezed.find(squeeze(quote), starts[min(near, len(starts)) - 1])
    if begin < 0:
        begin = squeezed.find(squeeze(quote))
    if begin < 0:
        return None
    last = begin + len(squeeze(quote)) - 1
    return _find_line(starts, begin), _find_line(starts, last)


def _squeeze_lines(text: str) -> tuple[str, list[int]]:
    """Give a text without white space, and where in it each line begins."""
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    for line in text.split("\n"):
        starts.append(length)
        part = squeeze(line)
        parts.append(part)
        length += len(part)
    return "".join(parts), starts


def _find_line(starts: list[int], offset: int) -> int:
    return bisect_right(starts, offset)


def choose_quote(text: str, terms: Sequence[str], *, from_start: bool = False) -> str:
    """Take the lines of a passage that have most of the terms; nothing where all are too short."""
    lines = [line[:_LONGEST_LINE] for line in text.split("\n")]
    if from_start and is_long_enough(quote := _extend_quote(lines, 0)):
        return quote
    order = sorted(range(len(lines)), key=lambda n: (-count_terms(lines[n], terms), n))
    for number in order[:5]:
        quote = _extend_quote(lines, number)
        if is_long_enough(quote):
            return quote
    return ""


def _extend_quote(lines: Sequence[str], first: int) -> str:
    """Take a line, and those behind it until the quote is long enough."""
    quote = lines[first].strip()
    for line in lines[first + 1 :]:
        if len(squeeze(quote)) >= SHORTEST_QUOTE:
            break
        quote = f"{quote}\n{line.rstrip()}"
    return quote[:LONGEST_QUOTE]
