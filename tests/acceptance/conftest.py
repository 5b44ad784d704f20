import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from driver import Astra, make_repository
from model_server import ModelServer


@pytest.fixture(scope="session")
def initialised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make what `astra init` makes, once: tests copy it, as anybody may move a data root."""
    made = Astra(tmp_path_factory.mktemp("initialised"))
    made.json("init", make_repository(made.folder / "target"), "--throwaway")
    return made.folder


@pytest.fixture
def target(tmp_path: Path, initialised: Path) -> Path:
    copy(initialised / "target", tmp_path)
    return tmp_path / "target"


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Astra]:
    """Astra without a data root yet."""
    made = Astra(tmp_path)
    yield made
    if (made.root / "var").exists():
        made.run("down")


@pytest.fixture
def astra(empty: Astra, target: Path, initialised: Path) -> Astra:
    copy(initialised / "data", target.parent)
    copy(initialised / "config", target.parent)
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


def copy(folder: Path, into: Path) -> None:
    """Copy a folder with its owners and modes."""
    subprocess.run(["cp", "--archive", str(folder), str(into)], check=True)
