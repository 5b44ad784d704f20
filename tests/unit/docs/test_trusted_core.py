"""The page about the trusted core names every part of it, and what it imports."""

import ast
import configparser
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[3]
CORE = ROOT / "src" / "astra" / "trusted"
PAGE = (ROOT / "docs" / "explanation" / "trusted-core.md").read_text()
LARGEST_READING = 10_000
LIBRARIES = {"cryptography", "fido2", "pydantic", "starlette"}


def test_every_folder_of_the_core_has_its_promise() -> None:
    folders = {path.parent.name for path in CORE.glob("*/__init__.py")}
    assert {row[0] for row in rows()} == folders


def test_every_file_and_test_it_names_exists() -> None:
    for folder, _promise, files, tests in rows():
        for name in re.findall(r"`([\w.]+)`", files):
            assert (CORE / folder / name).exists(), f"{folder}/{name}"
        paths = re.findall(r"`([\w./]+)`", tests)
        assert paths, folder
        for path in paths:
            assert (ROOT / path).exists(), path


def test_it_imports_no_other_library_than_those_it_names() -> None:
    imported = {
        name.split(".")[0]
        for path in CORE.rglob("*.py")
        for name in imports(ast.parse(path.read_text()))
    }
    outside = imported - sys.stdlib_module_names - {"astra"}
    assert outside == LIBRARIES
    assert all(f"`{name}`" in PAGE for name in LIBRARIES)


def test_each_promise_can_be_read_in_a_day() -> None:
    promises = load_measures().measure_promises()
    assert [promise.folder for promise in promises] == [row[0] for row in rows()]
    too_long = {p.folder: p.reading for p in promises if p.reading > LARGEST_READING}
    assert not too_long, "cut the import that is there for one small thing (ADR 230)"


def test_the_page_has_the_folders_in_the_order_in_which_they_import() -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    layers = contracts["importlinter:contract:trusted-folders"]["layers"].split()
    assert [row[0] for row in rows()] == layers[::-1]


def test_its_contract_forbids_every_other_package() -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    forbidden = contracts["importlinter:contract:trusted-core"]["forbidden_modules"].split()
    packages = {path.stem for path in CORE.parent.iterdir() if path.suffix in {"", ".py"}}
    assert set(forbidden) == {
        f"astra.{name}" for name in packages - {"trusted", "__init__", "__pycache__"}
    }


def load_measures() -> ModuleType:
    script = ROOT / "scripts" / "measure_code.py"
    spec = importlib.util.spec_from_file_location("measure_code", script)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["measure_code"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def imports(tree: ast.Module) -> list[str]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return names


def rows() -> list[tuple[str, str, str, str]]:
    table = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|$", PAGE, re.MULTILINE)
    assert table
    return table
