r"""Settings files that say how tests run beside much else: which of their parts do.

A `pyproject.toml` names dependencies and the settings of pytest. Only where a part that decides
about tests is not what it was does the file count as one of the tests. A file that cannot be read
counts: it may say anything.

>>> configures_tests("pyproject.toml", b"[tool.pytest]\nx = 1\n", b"[tool.pytest]\nx = 2\n")
True
>>> configures_tests("pyproject.toml", b"[project]\nname = 'a'\n", b"[project]\nname = 'b'\n")
False
"""

import configparser
import json
import tomllib
from collections.abc import Callable
from typing import Any, cast

Parts = dict[str, Any]
_LARGEST = 1 << 20
_RUNNERS = frozenset(
    {"pytest", "tox", "nox", "coverage", "hatch", "pdm", "poe", "taskipy", "doit", "unittest"}
    | {"hypothesis", "mutmut", "pixi", "rye", "poetry-plugin-test"}
)
_PROJECT = ("entry-points", "scripts", "gui-scripts")
_SCRIPTS = frozenset(
    {"scripts", "jest", "vitest", "mocha", "ava", "nyc", "c8", "tap", "type", "playwright"}
)
_OTHERS = frozenset({"metadata", "options", "bdist_wheel", "egg_info", "flake8", "mypy", "isort"})


def may_configure_tests(path: str) -> bool:
    """Tell whether a file's name is one of those that `configures_tests` reads."""
    return path.rpartition("/")[2].lower() in _READERS


def configures_tests(path: str, old: bytes | None, new: bytes | None) -> bool:
    """Tell whether the parts of a file that decide about tests are not what they were."""
    reader = _READERS.get(path.rpartition("/")[2].lower())
    if reader is None:
        return False
    try:
        return _read_test_parts(reader, old) != _read_test_parts(reader, new)
    except (ValueError, RecursionError, configparser.Error, AttributeError):
        return True


def _read_test_parts(read: Callable[[str], Parts], data: bytes | None) -> Parts:
    if data is None:
        return {}
    if len(data) > _LARGEST:
        raise ValueError
    return {name: part for name, part in read(data.decode()).items() if part not in ({}, None)}


def _read_pyproject(text: str) -> Parts:
    document = tomllib.loads(text)
    tools = cast("Parts", document.get("tool", {}))
    project = cast("Parts", document.get("project", {}))
    test_parts = {f"tool.{name}": part for name, part in tools.items() if _is_runner(name)}
    test_parts |= {f"project.{name}": project.get(name) for name in _PROJECT}
    return test_parts


def _is_runner(name: str) -> bool:
    return name.lower() in _RUNNERS or name.lower().startswith(("pytest", "coverage"))


def _read_setup_cfg(text: str) -> Parts:
    """Read every section but those that are known to say nothing about tests."""
    reader = configparser.RawConfigParser(strict=False)
    reader.read_string(text)
    sections = {name: dict(reader.items(name)) for name in reader.sections()}
    return {name: part for name, part in sections.items() if name not in _OTHERS}


def _read_package_json(text: str) -> Parts:
    document = json.loads(text)
    return {name: part for name, part in document.items() if name in _SCRIPTS}


_READERS: dict[str, Callable[[str], Parts]] = {
    "pyproject.toml": _read_pyproject,
    "setup.cfg": _read_setup_cfg,
    "package.json": _read_package_json,
}
