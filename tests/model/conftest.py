"""These tests need a real model: `make test-model` brings one, `make test` leaves them out."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from driver import Astra, make_repository

MODEL_PYTHON = os.environ.get("LOCAL_MODEL_PYTHON", "")
collect_ignore_glob = [] if MODEL_PYTHON else ["test_*.py"]


@pytest.fixture(scope="session")
def model_url() -> Iterator[str]:
    script = Path(__file__).parents[2] / "scripts" / "local_model.py"
    with subprocess.Popen(
        [MODEL_PYTHON, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as serving:
        assert serving.stdin is not None
        assert serving.stdout is not None
        yield serving.stdout.readline().strip()
        serving.stdin.close()


@pytest.fixture
def astra(tmp_path: Path, model_url: str) -> Iterator[Astra]:
    made = Astra(tmp_path)
    made.json("init", make_repository(tmp_path / "target"), "--throwaway")
    made.run("down")
    made.extra |= {"ASTRA_MODEL": "smollm2", "ASTRA_MODEL_BASE_URL": model_url}
    yield made
    made.run("down")
