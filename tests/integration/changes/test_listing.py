"""Listing changes by their state: from an index, a page at a time."""

import pytest

from astra.changes.edits import WholeFile
from astra.trusted.changes.model import State
from astra.trusted.kernel.errors import BadInput
from changing import ChangesHere


@pytest.fixture
def five(here: ChangesHere) -> list[str]:
    """Give five changes, oldest first; the second and the fourth are rejected."""
    made = [here.propose(WholeFile(path=f"{n}.py", content=b"x = 1\n")).id for n in range(5)]
    for identifier in (made[1], made[3]):
        here.changes.remarks.reject(identifier, "no", actor="operator")
    return made


def listed(here: ChangesHere, state: State, **page: object) -> tuple[list[str], str | None]:
    found, cursor = here.changes.book.list_page(state=state, **page)  # type: ignore[arg-type]
    return [change.id for change in found], cursor


def test_changes_are_listed_by_state_newest_first(here: ChangesHere, five: list[str]) -> None:
    assert listed(here, State.REJECTED) == ([five[3], five[1]], None)
    assert listed(here, State.GATHERING) == ([five[4], five[2], five[0]], None)
    assert listed(here, State.EXECUTED) == ([], None)


def test_a_state_has_pages_too(here: ChangesHere, five: list[str]) -> None:
    first, cursor = listed(here, State.GATHERING, limit=2)
    assert first == [five[4], five[2]]
    assert listed(here, State.GATHERING, limit=2, cursor=cursor) == ([five[0]], None)


def test_an_index_finds_what_is_in_a_state(here: ChangesHere) -> None:
    plan = here.root.ledger.query(
        "EXPLAIN QUERY PLAN SELECT id FROM change WHERE state = ? AND sequence < ?"
        " ORDER BY sequence DESC LIMIT ?",
        ["rejected", 99, 2],
    )
    assert [row[-1] for row in plan] == [
        "SEARCH change USING COVERING INDEX change_state (state=? AND sequence<?)"
    ]


def test_a_state_that_does_not_exist_is_refused_with_those_that_do(here: ChangesHere) -> None:
    with pytest.raises(BadInput) as refusal:
        here.changes.book.list_page(state="lost")
    assert "awaiting_approval" in refusal.value.next_step
