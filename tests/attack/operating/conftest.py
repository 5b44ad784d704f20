from collections.abc import Iterator
from pathlib import Path

import pytest

from driver import Astra, make_repository


@pytest.fixture
def astra(tmp_path: Path) -> Iterator[Astra]:
    driver = Astra(tmp_path)
    driver.json("init", make_repository(driver.folder / "target"), "--throwaway")
    yield driver
    driver.end()
