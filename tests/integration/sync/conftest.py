from collections.abc import Iterator
from pathlib import Path

import pytest

from changing import ChangesHere
from syncing import UpstreamHere


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[UpstreamHere]:
    here = ChangesHere(tmp_path)
    made = UpstreamHere(here)
    yield made
    made.close()
    here.close()
