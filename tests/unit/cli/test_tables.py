"""Lists on a terminal fit its width and have a header; in a pipe every row is whole."""

import re
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from astra.interfaces.cli.tables import render_table


@dataclass(frozen=True)
class Paper:
    """A screen of a width; colours are written as marks."""

    width: int
    is_terminal: bool

    def paint(self, text: str, colour: str) -> str:
        return f"<{colour}>{text}</>"


ROWS = [("chg_1", "failed", "a short reason"), ("chg_22", "merged", "a reason " * 20)]
TITLES = ("change", "state", "reason")


def test_a_pipe_gets_no_header_and_whole_rows() -> None:
    lines = render_table(Paper(0, is_terminal=False), TITLES, ROWS)
    assert len(lines) == 2
    assert lines[1].endswith(("a reason " * 20).rstrip())


def test_a_terminal_gets_a_header_and_coloured_states() -> None:
    header, failed, merged = render_table(Paper(60, is_terminal=True), TITLES, ROWS)
    assert header.startswith("<dim>CHANGE  STATE   REASON")
    assert "<red>failed</>" in failed
    assert "merged" in merged
    assert merged.endswith("…")


def test_nothing_has_no_header() -> None:
    assert render_table(Paper(60, is_terminal=True), TITLES, []) == []


@given(
    rows=st.lists(st.tuples(st.text(max_size=8), st.text(max_size=90)), min_size=1, max_size=5),
    width=st.integers(min_value=120, max_value=200),
)
def test_no_line_is_wider_than_the_terminal_whatever_an_agent_wrote(
    rows: list[tuple[str, str]], width: int
) -> None:
    header, *lines = render_table(Paper(width, is_terminal=True), ("id", "text"), rows)
    assert len(lines) == len(rows)
    assert all(len(line) <= width and "\n" not in line and "\x1b" not in line for line in lines)
    assert header


def test_a_row_that_does_not_fit_goes_on_in_lines_below() -> None:
    titles = ("schedule", "tier", "state", "next", "cron", "tool", "name")
    row = ("sch_45fea21e", "0", "active", "2026-03-01 12:00:00Z", "0 9 * * 1-5", "x" * 24, "a name")
    for width in (40, 64, 80, 100):
        painted = render_table(Paper(width, is_terminal=True), titles, [row])
        lines = [re.sub(r"<\w*/?>", "", line.replace("</>", "")) for line in painted]
        assert max(map(len, lines)) <= width
        assert " ".join(lines).split() == [*map(str.upper, titles), *" ".join(row).split()]
        header, body = lines[: len(lines) // 2], lines[len(lines) // 2 :]
        for part in (header, body):
            assert [line.startswith("    ") for line in part] == [False] + [True] * (len(part) - 1)
    assert len(render_table(Paper(120, is_terminal=True), titles, [row])) == 2
