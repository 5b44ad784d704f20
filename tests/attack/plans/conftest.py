from collections.abc import Iterator
from pathlib import Path

import pytest

from driver import Astra, make_repository


@pytest.fixture
def astra(tmp_path: Path) -> Iterator[Astra]:
    made = Astra(tmp_path)
    made.json("init", make_repository(tmp_path / "target"), "--throwaway")
    yield made
    made.end()
