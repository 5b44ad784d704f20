from collections.abc import Iterator
from pathlib import Path

import pytest

from changing import ChangesHere


@pytest.fixture
def here(tmp_path: Path) -> Iterator[ChangesHere]:
    made = ChangesHere(tmp_path)
    yield made
    made.close()
