"""Lines around a diff, and remarks that stay with their line."""

import pytest

from astra.changes.edits import Delete, WholeFile
from astra.changes.lines import LONGEST_LINE, MOST_LINES, MOST_REMARKS, Remark
from astra.trusted.changes.model import State
from astra.trusted.kernel.errors import BadInput, NotFound
from changing import ChangesHere

BEFORE = "agent.py"


def remark(**more: object) -> Remark:
    wanted: dict[str, object] = {"path": BEFORE, "side": "new", "line": 2, "text": "why 42?"}
    return Remark(**{**wanted, **more})  # type: ignore[arg-type]


def test_lines_come_from_the_commit_of_their_side(here: ChangesHere) -> None:
    change = here.reviewed()
    new = here.changes.read_lines(change.id, path=BEFORE, side="new", start=1, end=9)
    old = here.changes.read_lines(change.id, path=BEFORE, side="old", start=2, end=2)
    assert (new["lines"], new["total"]) == (["def answer():", "    return 42"], 2)
    assert (old["lines"], old["commit"]) == (["    return 41"], change.base)


def test_behind_the_end_of_a_file_there_are_no_lines(here: ChangesHere) -> None:
    change = here.reviewed()
    assert (
        here.changes.read_lines(change.id, path=BEFORE, side="new", start=3, end=9)["lines"] == []
    )


@pytest.mark.parametrize(("start", "end"), [(0, 3), (5, 4), (1, MOST_LINES + 1)])
def test_a_reader_asks_for_a_bounded_range(here: ChangesHere, start: int, end: int) -> None:
    change = here.reviewed()
    with pytest.raises(BadInput):
        here.changes.read_lines(change.id, path=BEFORE, side="new", start=start, end=end)


def test_a_side_that_does_not_exist_says_so(here: ChangesHere) -> None:
    added = WholeFile(path="new.py", content=b"x = 1\n")
    change = here.reviewed(added, Delete(path=BEFORE))
    with pytest.raises(NotFound, match="before"):
        here.changes.read_lines(change.id, path="new.py", side="old", start=1, end=1)
    with pytest.raises(NotFound, match="after"):
        here.changes.read_lines(change.id, path=BEFORE, side="new", start=1, end=1)


def test_a_very_long_line_is_cut(here: ChangesHere) -> None:
    change = here.reviewed(WholeFile(path=BEFORE, content=b"x" * (LONGEST_LINE * 3)))
    (line,) = here.changes.read_lines(change.id, path=BEFORE, side="new", start=1, end=1)["lines"]
    assert line == "x" * LONGEST_LINE


def test_a_remark_is_kept_with_its_file_side_and_line(here: ChangesHere) -> None:
    change = here.reviewed()
    said = [remark(), remark(side="old", text="it was fine")]
    here.changes.remarks.request_changes(change.id, "", actor="operator", remarks=said)
    sent_back = here.get(change.id)
    assert (sent_back.state, sent_back.reason) == (State.REVISE, "see the remarks on its lines")
    (comment,) = here.changes.describe_change(change.id)["comments"]
    assert comment["commit"] == change.commit
    assert comment["remarks"] == [each.as_dict() for each in said]


def test_remarks_stay_with_the_commit_they_were_made_on(here: ChangesHere) -> None:
    change = here.reviewed()
    here.changes.remarks.comment(change.id, "", actor="operator", remarks=[remark()])
    here.commit_elsewhere("other.py", b"y = 1\n")
    here.approve(change)
    moved = here.get(change.id)
    assert moved.commit != change.commit
    assert moved.comments[0]["commit"] == change.commit


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"line": 3}, NotFound),
        ({"line": 0}, NotFound),
        ({"path": "elsewhere.py"}, NotFound),
        ({"text": "  "}, BadInput),
        ({"text": "x" * 2001}, BadInput),
    ],
)
def test_a_remark_on_nothing_is_refused_and_nothing_is_recorded(
    here: ChangesHere, wrong: dict[str, object], error: type[Exception]
) -> None:
    change = here.reviewed()
    before = here.types()
    with pytest.raises(error):
        here.changes.remarks.comment(change.id, "x", actor="op", remarks=[remark(**wrong)])
    assert here.types() == before


def test_there_are_bounds_to_what_is_said_at_once(here: ChangesHere) -> None:
    change = here.reviewed()
    many = [remark()] * (MOST_REMARKS + 1)
    with pytest.raises(BadInput):
        here.changes.remarks.comment(change.id, "", actor="operator", remarks=many)


def test_saying_nothing_at_all_is_refused(here: ChangesHere) -> None:
    change = here.reviewed()
    with pytest.raises(BadInput):
        here.changes.remarks.comment(change.id, " ", actor="operator")
