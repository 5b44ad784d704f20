from collections.abc import Iterator
from pathlib import Path

import pytest

from driver import Astra, make_repository
from model_server import ModelServer


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


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer(lambda _request: {"kind": "done", "output": "done"})
    yield made
    made.close()


@pytest.fixture
def night(astra: Astra, server: ModelServer) -> Iterator[Astra]:
    """Astra with a model on loopback."""
    astra.run("down")
    astra.extra |= {"ASTRA_MODEL": "scripted", "ASTRA_MODEL_BASE_URL": server.url}
    yield astra
    astra.run("down")
