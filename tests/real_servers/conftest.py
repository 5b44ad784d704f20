"""These tests need servers from the registries: `make test-servers` brings them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from servers_world import ServersWorld

SERVERS = os.environ.get("REAL_SERVERS", "")
collect_ignore_glob = [] if SERVERS else ["test_*.py"]


@pytest.fixture
def programs() -> Path:
    return Path(SERVERS)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ServersWorld]:
    world = ServersWorld(tmp_path)
    try:
        yield world
    finally:
        world.close()
