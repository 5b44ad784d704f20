"""A merge through the lane as the daemon runs it: approved, merged, and nothing failed on the way.

`execute` uses the approval up, which makes `merge` due, and merges by itself. Two workers that did
both at once recorded a failure for every merge.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.changes.edits import WholeFile
from astra.trusted.changes import model
from astra.trusted.changes.model import Change, State
from changing import ChangesHere
from deploying import until

MERGES = 50


@pytest.fixture
def working(tmp_path: Path) -> Iterator[ChangesHere]:
    here = ChangesHere(tmp_path)
    here.steps.start()
    yield here
    here.steps.stop()
    here.close()


def merged(here: ChangesHere, number: int) -> Change:
    """Propose a change, sign it when it waits, and come back once it is over."""
    change = here.propose(WholeFile(path=f"n{number}.py", content=b"x = 1\n"))
    waiting = until(lambda: _in_state(here, change.id, State.AWAITING))
    assert waiting.approval
    here.grant(waiting.approval)
    return until(lambda: _in_state(here, change.id, State.EXECUTED))


def _in_state(here: ChangesHere, identifier: str, state: State) -> Change | None:
    change = here.get(identifier)
    return (
        change if change.state is state and (state is State.EXECUTED or change.approval) else None
    )


@pytest.mark.timeout(600)
def test_fifty_merges_record_no_failed_step(working: ChangesHere) -> None:
    for number in range(MERGES):
        change = merged(working, number)
        assert working.repo.head() == change.commit
    until(lambda: not working.steps.is_needed())
    types = working.types()
    assert types.count("change_step_failed") == 0
    assert types.count(model.EXECUTED) == types.count(model.APPROVED) == MERGES
