"""A module that is also a program defines everything before it starts: tests import it, warm."""

import ast
from pathlib import Path

import pytest

import astra

SOURCE = Path(astra.__file__).parent
PROGRAMS = sorted(
    path for path in SOURCE.rglob("*.py") if '__name__ == "__main__"' in path.read_text()
)


def test_there_are_programs() -> None:
    assert SOURCE / "interfaces" / "daemon" / "server.py" in PROGRAMS


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_nothing_is_defined_behind_the_start(path: Path) -> None:
    body = ast.parse(path.read_text()).body
    starts = [node for node in body if isinstance(node, ast.If) and is_start(node)]
    assert not starts or starts[-1] is body[-1], f"{path}: move what is behind the start above it"


def is_start(node: ast.If) -> bool:
    return "__name__ == '__main__'" in ast.unparse(node.test)
