from collections.abc import Iterator
from pathlib import Path

import pytest

from research_world import ResearchWorld


@pytest.fixture
def here(tmp_path: Path) -> Iterator[ResearchWorld]:
    world = ResearchWorld(tmp_path)
    yield world
    world.close()
