from collections.abc import Iterator
from pathlib import Path

import pytest

from driver import Astra, make_repository


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "target")


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Astra]:
    """Astra without a data root yet."""
    made = Astra(tmp_path)
    yield made
    if (made.root / "var").exists():
        made.run("down")


@pytest.fixture
def astra(empty: Astra, target: Path) -> Astra:
    empty.json("init", target, "--throwaway")
    return empty
