"""The page about the trusted core names every part of it, and what it imports."""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
CORE = ROOT / "src" / "astra" / "trusted"
PAGE = (ROOT / "docs" / "explanation" / "trusted-core.md").read_text()
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
