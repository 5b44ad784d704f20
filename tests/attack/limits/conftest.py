from collections.abc import Iterator

import pytest

from driver import Astra, make_repository
from http_driver import Served, served


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Astra]:
    made = Astra(tmp_path_factory.mktemp("limits"))
    made.json("init", make_repository(made.folder / "target"), "--throwaway")
    yield made
    made.end()


@pytest.fixture(scope="module")
def site(root: Astra) -> Iterator[Served]:
    with served(root) as found:
        yield found
