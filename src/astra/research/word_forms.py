"""Forms of one word in English: a question about retries is answered by a text about retrying.

A light stemmer, not a grammar: it takes off the common endings and never makes a short word of a
long one. Two words whose stems are equal count as the same word.

>>> stem_word("retries") == stem_word("retry") == stem_word("retrying") == stem_word("retried")
True
>>> stem_word("stopped") == stem_word("stops"), stem_word("class"), stem_word("us")
(True, 'class', 'us')
"""

SHORTEST_STEM = 3
_ENDINGS = ("ies", "ied", "ings", "ing", "edly", "ed", "es", "s", "ly")
_KEEP_S = ("ss", "us", "is")
_VOWELS = frozenset("aeiouy")


def stem_word(word: str) -> str:
    """Give what the forms of a word have in common, in lower case."""
    folded = word.lower()
    if not (folded.isascii() and folded.isalpha()):
        return folded
    return _fold_end(_take_ending_off(folded))


def find_root(stem: str) -> str:
    """Give the letters with which every form of a stem begins."""
    return stem.removesuffix("i")


def _take_ending_off(word: str) -> str:
    if word.endswith(_KEEP_S):
        return word
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= SHORTEST_STEM and not _VOWELS.isdisjoint(stem):
            return _undouble(f"{stem}y") if ending in ("ies", "ied") else _undouble(stem)
    return word


def _undouble(stem: str) -> str:
    """Give `stop` of `stopp`; `class`, `fill` and `buzz` stay as they are."""
    is_double = stem[-1] == stem[-2] and stem[-1] not in "lsz" and stem[-1] not in _VOWELS
    return stem[:-1] if is_double else stem


def _fold_end(stem: str) -> str:
    """Let `retire` be as `retir`, and `retry` as `retri`."""
    if len(stem) > SHORTEST_STEM and stem.endswith("e"):
        return stem[:-1]
    return f"{stem[:-1]}i" if len(stem) > SHORTEST_STEM and stem.endswith("y") else stem
