r"""From terms to questions of FTS5: every term a phrase of its parts, the rarest ones count.

Nothing of a term reaches SQLite but letters and digits in quotation marks, so no question can be
turned into another one.

>>> quote_term("readTree_file")
'"read tree file"'
>>> quote_term('" *') is None
True
"""

import re
from collections.abc import Sequence
from typing import Any, Protocol

from astra.research.quotes import split_identifier
from astra.research.word_forms import SHORTEST_STEM, find_root, stem_word

MOST_RARE, MOST_RANKED = 4, 800
_MOST_FORMS, _MOST_LOOKED_AT, _BEHIND_LETTERS = 12, 5_000, "\uffff"
_PLAIN = re.compile(r"[\W_]+")
_SECOND_CAPITAL = re.compile(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")
"""What stands behind a `CASE_EDGE`: a letter to look for is four times as fast as an edge."""


class Asks(Protocol):
    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...


def split_text(text: str) -> str:
    """Split identifiers of a text at case; the tokenizer itself splits at underscores."""
    return _SECOND_CAPITAL.sub(lambda match: f" {match[0]}", text)


def quote_term(term: str) -> str | None:
    parts = [_PLAIN.sub(" ", part) for part in split_identifier(term)]
    tokens = " ".join(parts).split()
    return f'"{" ".join(tokens)}"' if tokens else None


def quote_terms(terms: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(quoted for term in terms if (quoted := quote_term(term))))


def choose_rarest(database: Asks, phrases: Sequence[str], words_table: str) -> list[str]:
    """Give the phrases that tell most: the rarest, while not too many places have to be ranked."""
    counts = [(_count_places(database, phrase, words_table), phrase) for phrase in phrases]
    ranked = sorted((count, phrase) for count, phrase in counts if count)
    rarest: list[str] = []
    places = 0
    for count, phrase in ranked[:MOST_RARE]:
        places += count
        if not rarest or places <= MOST_RANKED:
            rarest.append(phrase)
    return rarest


def widen_phrases(database: Asks, phrases: Sequence[str], words_table: str) -> list[str]:
    """Let every phrase that is one word stand for all forms of it that the index has."""
    return [_widen_phrase(database, phrase, words_table) for phrase in phrases]


def _widen_phrase(database: Asks, phrase: str, words_table: str) -> str:
    stem = stem_word(phrase.strip('"'))
    root = find_root(stem)
    if " " in phrase or len(root) < SHORTEST_STEM:
        return phrase
    rows = database.query(
        f"SELECT term FROM {words_table} WHERE term >= ? AND term < ? LIMIT ?",  # noqa: S608 - our tables
        (root, f"{root}{_BEHIND_LETTERS}", _MOST_LOOKED_AT),
    )
    forms = [f'"{word}"' for (word,) in rows if word.isalpha() and stem_word(word) == stem]
    widened = dict.fromkeys([phrase, *forms[:_MOST_FORMS]])
    return f"({' OR '.join(widened)})" if len(widened) > 1 else phrase


def _count_places(database: Asks, phrase: str, words_table: str) -> int:
    tokens = phrase.strip('"').split()
    marks = ", ".join("?" * len(tokens))
    rows = database.query(
        f"SELECT term, doc FROM {words_table} WHERE term IN ({marks})",  # noqa: S608 - our tables
        tokens,
    )
    counts = dict(rows)
    return min(int(counts.get(word, 0)) for word in tokens)
