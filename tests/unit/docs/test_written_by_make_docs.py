"""What `make docs` draws and looks up is what the code says now."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_of_imports_is_current() -> None:
    picture = (ROOT / "docs" / "imports.svg").read_text()
    assert picture == load_script("import_graph").draw(), "run `make docs`"


def test_every_question_leads_to_its_file_and_line() -> None:
    page = (ROOT / "docs" / "where-do-i.md").read_text()
    assert page == load_script("where").render(), "run `make docs`"


def test_a_question_about_what_is_gone_is_an_error() -> None:
    path = ROOT / "src" / "astra" / "bootstrap" / "build.py"
    with pytest.raises(LookupError, match="no_such_thing"):
        load_script("where").find_line(path, "no_such_thing")
