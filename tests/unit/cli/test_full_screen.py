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
    describe_keys,
    fold_line,
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
        "columns": 160,
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
    assert "approve" not in " ".join(describe_keys(quiet))
    assert quiet.press("escape") is Action.QUIT


@pytest.mark.parametrize("columns", [60, 80, 110, 160])
def test_every_key_is_named_within_the_width_of_the_terminal(columns: int) -> None:
    rows = describe_keys(make_screen(columns=columns))
    assert max(map(len, rows)) <= columns
    names = " · ".join(rows).split(" · ")
    assert {"a approve", "d approve and deploy", "c request changes", "q quit"} < set(names)
    assert {"n next", "p previous", "Tab page", "j k space scroll"} < set(names)


def test_a_low_terminal_names_the_keys_that_decide() -> None:
    screen = make_screen(rows=10, columns=80)
    (row,) = describe_keys(screen)
    assert row.startswith("a approve · d approve and deploy · r reject")
    assert len(screen.visible_lines()) + 4 <= screen.rows


def test_a_folded_line_breaks_between_words() -> None:
    rows = fold_line(read_line("its health failed three times in a row: status 503"), 24)
    text = ["".join(span.text for span in row) for row in rows]
    assert text == ["its health failed three ", "» times in a row: ", "» status 503"]


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
        for span in (span for row in fold_line(line, columns) for span in row):
            assert not any(unicodedata.category(char) in {"Cc", "Cf", "Cs"} for char in span.text)


@pytest.mark.parametrize(
    ("text", "shown"), [("日本語", ["日本", "» 語"]), ("e\u0301abcd", ["e\u0301abcd"])]
)
def test_wide_characters_take_two_columns(text: str, shown: list[str]) -> None:
    assert [read_row(row) for row in fold_line((Span(text),), 5)] == shown


@given(st.text(), st.integers(min_value=0, max_value=40))
def test_nothing_of_a_line_lies_behind_the_edge(text: str, columns: int) -> None:
    for line in (read_line(text), *read_diff(text)):
        first, *more = map(read_row, fold_line(line, columns))
        assert all(row.startswith("» ") for row in more)
        assert first + "".join(row[2:] for row in more) == read_row(line)
        if line and columns > 3:
            assert max(len(row) for row in (first, *more)) <= columns + unmeasured(text)


def test_code_far_to_the_right_is_reached_by_scrolling() -> None:
    hidden = "+x = 1" + " " * 500 + "; steal()"
    pages = (Page(name="diff", lines=read_diff(hidden)),)
    screen = press(make_screen(pages=pages, rows=6, columns=80))
    rows = [read_row(row) for row in screen.visible_lines()]
    assert rows[0].startswith("+x = 1")
    assert "steal" not in "".join(rows)
    end = press(screen, "G")
    assert read_row(end.visible_lines()[-1]).endswith("; steal()")
    assert describe_keys(end)[-1].endswith("7/7")
    assert len(end.resize(6, 300).visible_lines()) == 2


def read_row(line: tuple[Span, ...]) -> str:
    return "".join(span.text for span in line)


def unmeasured(text: str) -> int:
    """Count the marks over other characters, which take no column."""
    return sum(unicodedata.combining(char) > 0 for char in text)
