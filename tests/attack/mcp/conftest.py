from collections.abc import Iterator

import pytest

from driver import Astra, make_repository


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def astra(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Astra]:
    made = Astra(tmp_path_factory.mktemp("mcp"))
    made.json("init", make_repository(made.folder / "target"), "--throwaway")
    yield made
    made.end()
