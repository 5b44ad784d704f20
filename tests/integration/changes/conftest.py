from collections.abc import Iterator
from pathlib import Path

import pytest

from changing import ChangesHere


def the_index_knows_every_state(here: ChangesHere) -> None:
    """Whatever a test did: the index has each change in the state that its records fold to."""
    rows = here.root.ledger.query("SELECT id, state, approval FROM change")
    for identifier, state, approval in rows:
        change = here.get(identifier)
        assert (state, approval) == (change.state, change.approval)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[ChangesHere]:
    made = ChangesHere(tmp_path)
    yield made
    the_index_knows_every_state(made)
    made.close()
