"""The picture of imports is what the code imports now."""

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[3]


def script() -> ModuleType:
    place = ROOT / "scripts" / "import_graph.py"
    spec = importlib.util.spec_from_file_location("import_graph", place)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_current() -> None:
    picture = (ROOT / "docs" / "imports.svg").read_text()
    assert picture == script().draw(), "run `make docs` and commit what it writes"
