"""The same world as the unit tests of schedules have."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

_PATH = Path(__file__).parents[2] / "unit" / "schedules" / "conftest.py"


@pytest.fixture
def world() -> Any:
    spec = importlib.util.spec_from_file_location("schedule_world", _PATH)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.World()
