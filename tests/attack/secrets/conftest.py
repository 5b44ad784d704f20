from collections.abc import Iterator

import pytest

from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.trusted.settings import environment
from driver import Astra
from secret_target import TOML, make_target


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Astra:
    folder = tmp_path_factory.mktemp("secrets")
    astra = Astra(folder)
    astra.json("init", make_target(folder / "target"), "--throwaway")
    (astra.root / "astra.toml").write_text(TOML)
    astra.json("config", "sign")
    astra.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    astra.run("down")
    return astra


@pytest.fixture(scope="module")
def runtime(made: Astra) -> Iterator[Runtime]:
    runtime = build_runtime(environment.load(made.environment))
    yield runtime
    runtime.close()
