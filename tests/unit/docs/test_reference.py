"""The reference says what the code does: all of it, and nothing else."""

import ast
import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from astra.bootstrap.events import EVENTS
from astra.interfaces.cli import main as cli
from astra.kernel.errors import AstraError
from astra.settings import environment

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src"


def generator() -> ModuleType:
    """Load `scripts/reference.py`, which belongs to no package."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = generator()
PAGES = REFERENCE.pages()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_is_what_the_code_says_now(name: str) -> None:
    kept = (ROOT / "docs" / "reference" / name).read_text()
    assert kept == PAGES[name], "run `make docs` and commit what it writes"


def test_every_command_is_there() -> None:
    for command in cli.COMMANDS:
        assert f"`astra {command}`" in PAGES["cli.md"]


def test_every_setting_is_there() -> None:
    for name in environment.names():
        assert f"`{name}`" in PAGES["settings.md"]


def test_every_error_is_there() -> None:
    for kind in AstraError.__subclasses__():
        assert f"`{kind.code}`" in PAGES["errors.md"]


def test_settings_of_astra_toml_are_marked_as_used_once_something_reads_them() -> None:
    readers = [
        path
        for path in SOURCE.rglob("*.py")
        if re.search(r"\bin_force\(", path.read_text()) and path.name != "contract.py"
    ]
    assert not readers or REFERENCE.CONFIGURATION_IN_USE, (
        f"{readers[0]} reads the configuration: name the keys in CONFIGURATION_IN_USE"
    )


def test_every_event_that_is_recorded_is_registered_and_the_other_way_round() -> None:
    assert recorded() == set(EVENTS)


def recorded() -> set[str]:
    """Find the type of every `Event(type=…)` in the source."""
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Event":
                found |= {
                    name for word in call.keywords if word.arg == "type"
                    for name in value(word.value, path.relative_to(SOURCE))
                }  # fmt: skip
    return found


def value(expression: ast.expr, path: Path) -> set[str]:
    """Work out a constant; copying the type of another event names none."""
    written = ast.unparse(expression)
    if written == "event.type":
        return set()
    module = importlib.import_module(".".join(path.with_suffix("").parts))
    return {eval(written, vars(module))}
