"""The reference says what the code does: all of it, and nothing else."""

import ast
import dataclasses
import importlib
import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from astra.bootstrap.events import EVENTS
from astra.interfaces.cli import main as cli
from astra.trusted.kernel.errors import AstraError
from astra.trusted.settings import configuration, environment

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src"
pytestmark = pytest.mark.xdist_group("reference")


def generator() -> ModuleType:
    """Load `scripts/reference.py`, which belongs to no package."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = generator()


@cache
def pages() -> dict[str, str]:
    """Make the pages when a test wants them: it takes seconds, and every worker collects."""
    return REFERENCE.pages()


def test_every_page_is_what_the_code_says_now() -> None:
    for name, page in pages().items():
        kept = (ROOT / "docs" / "reference" / name).read_text()
        assert kept == page, f"{name}: run `make docs` and commit what it writes"


def test_every_command_is_there() -> None:
    for command in cli.COMMANDS:
        assert f"`astra {command}`" in pages()["cli.md"]


def test_every_setting_is_there() -> None:
    names = environment.list_setting_names()
    assert set(REFERENCE.ENVIRONMENT) == names - set(environment.FLAGS)
    for name in names:
        assert f"`{name}`" in pages()["settings.md"]


def test_every_key_of_the_configuration_says_what_it_means() -> None:
    keys = set(list_keys(configuration.Configuration()))
    assert set(REFERENCE.MEANINGS) == keys
    page = pages()["settings.md"]
    assert all(f"| {meaning} |" in page for meaning in REFERENCE.MEANINGS.values())


def list_keys(table: Any, where: str = "") -> Iterator[str]:
    for field in dataclasses.fields(table):
        value = getattr(table, field.name)
        if dataclasses.is_dataclass(value):
            yield from list_keys(value, f"{where}{field.name}.")
        else:
            yield f"{where}{field.name}"


def test_no_argument_shows_a_value_of_python() -> None:
    for line in pages()["cli.md"].splitlines():
        assert not re.search(r"default (\[|\(|None)|%%|\('", line), line


def test_every_error_is_there() -> None:
    for kind in AstraError.__subclasses__():
        assert f"`{kind.code}`" in pages()["errors.md"]


def test_settings_of_astra_toml_that_are_said_to_be_notes_are_read_nowhere() -> None:
    notes = [key for key, meaning in REFERENCE.MEANINGS.items() if "; a note, " in meaning]
    assert notes == ["target.repo", "target.branch"]
    for key in notes:
        for path in SOURCE.rglob("*.py"):
            assert not re.search(rf"\b{re.escape(key)}\b", path.read_text()), f"{path}: {key}"


def test_every_event_that_is_recorded_is_registered_and_the_other_way_round() -> None:
    assert recorded() == set(EVENTS)


def recorded() -> set[str]:
    """Find the type of every `Event(type=…)` in the source."""
    return {
        name
        for path in SOURCE.rglob("*.py")
        for tree in [ast.parse(path.read_text())]
        for function in functions(tree)
        for call in calls(function, "Event")
        for expression in argument(call, "type", None)
        for name in values(expression, function, tree, path)
    }


def values(
    expression: ast.expr, function: ast.FunctionDef, tree: ast.Module, path: Path
) -> Iterator[str]:
    """Work out what an expression can be: a constant, or what callers give for a parameter."""
    written = ast.unparse(expression)
    parameters = [each.arg for each in function.args.args if each.arg != "self"]
    if written in parameters:
        for place, caller in callers(function.name, tree, path):
            for call in calls(caller, function.name):
                for given in argument(call, written, parameters.index(written)):
                    yield constant(given, place)
    elif written != "event.type":  # a copy of another event
        yield constant(expression, path)


def callers(name: str, tree: ast.Module, path: Path) -> Iterator[tuple[Path, ast.Module]]:
    """Give the module that has a function, and every other one that imports it."""
    yield path, tree
    module = ".".join(("astra", *path.relative_to(SOURCE / "astra").with_suffix("").parts))
    for other in SOURCE.rglob("*.py"):
        if f"from {module} import" in (text := other.read_text()):
            imported = ast.parse(text)
            names = [
                alias.name
                for node in ast.walk(imported)
                if isinstance(node, ast.ImportFrom) and node.module == module
                for alias in node.names
            ]
            if name in names:
                yield other, imported


def constant(expression: ast.expr, path: Path) -> str:
    """Read a name as its module knows it."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    module = importlib.import_module(".".join(parts))
    try:
        return str(eval(ast.unparse(expression), vars(module)))
    except NameError:
        pytest.fail(f"{path}: the type of this event is not a constant: {ast.unparse(expression)}")


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def calls(tree: ast.AST, name: str) -> list[ast.Call]:
    return [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and is_named(node.func, name)
    ]


def is_named(expression: ast.expr, name: str) -> bool:
    """Tell whether it is written as the name, or as that of `self`."""
    if isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Name):
        return expression.attr == name and expression.value.id == "self"
    return isinstance(expression, ast.Name) and expression.id == name


def argument(call: ast.Call, name: str, position: int | None) -> list[ast.expr]:
    named = [keyword.value for keyword in call.keywords if keyword.arg == name]
    if named or position is None:
        return named
    return call.args[position : position + 1]
