"""Quotes are found where they stand, white space aside, and never where they do not."""

from hypothesis import given
from hypothesis import strategies as st

from astra.research.model import SHORTEST_QUOTE
from astra.research.quotes import (
    choose_quote,
    find_terms,
    locate_quote,
    split_identifier,
    squeeze,
)
from astra.research.texts import render_body

TEXT = "one two\nthree four five six\n\nseven eight nine ten eleven\n"
LINES = st.lists(st.text(st.characters(codec="utf-8"), max_size=60), max_size=30)


def test_a_quote_may_be_broken_over_lines_and_spaced_otherwise() -> None:
    assert locate_quote(TEXT, "four  five six seven\teight nine") == (2, 4)


def test_a_quote_of_less_than_twenty_characters_is_not_one() -> None:
    assert locate_quote(TEXT, "three four five six") is None
    assert locate_quote(TEXT, "three   four    five    six") is None


def test_a_quote_that_leaves_something_out_is_not_there() -> None:
    assert locate_quote(TEXT, "three four … seven eight nine") is None


def test_of_several_places_the_one_at_the_passage_counts() -> None:
    line = "a line that is there more than once\n"
    assert locate_quote(line * 9, line, near=5) == (5, 5)
    assert locate_quote(line + "x\n" * 9, line, near=5) == (1, 1)


@given(lines=LINES, start=st.integers(0, 500), size=st.integers(SHORTEST_QUOTE, 200))
def test_every_piece_of_a_text_is_found_in_lines_that_hold_it(
    lines: list[str], start: int, size: int
) -> None:
    text = "\n".join(lines)
    quote = squeeze(text)[start : start + size]
    place = locate_quote(text, quote)
    if len(quote) < SHORTEST_QUOTE:
        assert place is None
    else:
        assert place is not None
        held = squeeze("\n".join(text.split("\n")[place[0] - 1 : place[1]]))
        assert quote in held


@given(text=st.text(max_size=400), terms=st.lists(st.text(max_size=20), max_size=4))
def test_a_chosen_quote_is_always_found_again(text: str, terms: list[str]) -> None:
    quote = choose_quote(text, terms)
    assert quote == "" or locate_quote(text, quote) is not None


def test_identifiers_are_split_at_case_and_underscore() -> None:
    assert split_identifier("parseHTTPHeader_line") == ("parse", "http", "header", "line")


def test_common_words_are_not_searched_for_unless_there_are_no_others() -> None:
    assert find_terms("How does the EgressProxy decide?") == ("EgressProxy", "decide")
    assert find_terms("what is it") == ("what", "is", "it")


@given(st.binary(max_size=2000))
def test_any_body_has_a_text(body: bytes) -> None:
    assert isinstance(render_body(b"<html>" + body), str)
