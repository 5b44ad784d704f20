from collections.abc import Iterator
from pathlib import Path

import pytest

from driver import Astra, copy, make_repository
from model_server import ModelServer


@pytest.fixture(scope="session")
def initialised(tmp_path_factory: pytest.TempPathFactory) -> Astra:
    """Make what `astra init` makes, once: tests copy it, as anybody may move a data root."""
    made = Astra(tmp_path_factory.mktemp("initialised"))
    made.json("init", make_repository(made.folder / "target"), "--throwaway")
    return made


@pytest.fixture
def target(tmp_path: Path, initialised: Astra) -> Path:
    copy(initialised.folder / "target", tmp_path)
    return tmp_path / "target"


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Astra]:
    """Astra without a data root yet."""
    made = Astra(tmp_path)
    yield made
    made.end()


@pytest.fixture
def astra(empty: Astra, initialised: Astra) -> Astra:
    return initialised.copied_to(empty)


@pytest.fixture(scope="module")
def shared(initialised: Astra, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Astra]:
    """One data root for the tests of a module that leave nothing behind but records."""
    made = initialised.copied_to(Astra(tmp_path_factory.mktemp("shared")))
    yield made
    made.end()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer(lambda _request: {"kind": "done", "output": "done"})
    yield made
    made.close()


@pytest.fixture
def night(astra: Astra, server: ModelServer) -> Astra:
    """Astra with a model on loopback."""
    astra.extra |= {"ASTRA_MODEL": "scripted", "ASTRA_MODEL_BASE_URL": server.url}
    return astra
