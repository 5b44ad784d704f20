"""A world with one hostile server in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from servers_world import ServersWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ServersWorld]:
    world = ServersWorld(tmp_path)
    try:
        yield world
    finally:
        world.close()
