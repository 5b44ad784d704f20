"""The full-screen review as values: pages, scrolling, keys, and text of an agent."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.interfaces.cli.review_screen import (
    Action,
    Page,
    Screen,
    Span,
    cut_line,
    describe_keys,
    mark_colour,
    read_diff,
    read_line,
)

DIFF = Page(name="diff", lines=read_diff("\n".join(f"+line {n}" for n in range(100))))
WHAT = Page(name="change", lines=(read_line("why"),))
EVERYTHING = frozenset(Action)


def make_screen(**more: object) -> Screen:
    fields: dict[str, object] = {
        "title": "1 of 1",
        "pages": (WHAT, DIFF),
        "actions": EVERYTHING,
        "rows": 24,
        "columns": 80,
        **more,
    }
    return Screen(**fields)  # type: ignore[arg-type]


def press(screen: Screen, *keys: str) -> Screen:
    for key in keys:
        outcome = screen.press(key)
        assert isinstance(outcome, Screen)
        screen = outcome
    return screen


def test_tab_and_numbers_turn_pages_and_begin_at_the_top() -> None:
    screen = press(make_screen(), "tab", "space")
    assert (screen.page.name, screen.top) == ("diff", 20)
    assert press(screen, "left").page.name == "change"
    assert press(screen, "1", "2").top == 0
    assert press(screen, "9") == screen


def test_scrolling_stops_at_both_ends() -> None:
    screen = press(make_screen(), "2")
    assert press(screen, "k").top == 0
    assert press(screen, "j", "j", "k").top == 1
    assert press(screen, "G").top == 80
    assert press(screen, "G", "space", "j").top == 80
    assert press(screen, "G", "g").top == 0


def test_keys_are_actions_only_where_they_are_offered() -> None:
    assert make_screen().press("a") is Action.APPROVE
    quiet = make_screen(actions=frozenset({Action.QUIT}))
    assert quiet.press("a") == quiet
    assert "approve" not in describe_keys(quiet)
    assert quiet.press("escape") is Action.QUIT


def test_a_smaller_terminal_keeps_the_end_in_reach() -> None:
    screen = press(make_screen(rows=90), "2", "G")
    assert screen.resize(10, 40).last_top == 94
    assert len(screen.resize(1, 5).visible_lines()) == 1


def test_marks_become_colours() -> None:
    line = read_line(f"a {mark_colour('red one', 'red')} b")
    assert line == (Span("a "), Span("red one", "red"), Span(" b"))


@given(st.text(), st.integers(min_value=0, max_value=40))
def test_nothing_that_an_agent_wrote_reaches_the_terminal_raw(text: str, columns: int) -> None:
    for line in (read_line(text), read_line(mark_colour(text, "red")), *read_diff(text)):
        for span in cut_line(line, columns):
            assert not any(unicodedata.category(char) in {"Cc", "Cf", "Cs"} for char in span.text)


@pytest.mark.parametrize(("text", "shown"), [("日本語", "日本"), ("e\u0301abcd", "e\u0301abc")])
def test_wide_characters_take_two_columns(text: str, shown: str) -> None:
    assert cut_line((Span(text),), 4 + (text == "日本語")) == (Span(shown),)
