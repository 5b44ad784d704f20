"""Which interpreter of a machine a repository's own words allow."""

from pathlib import Path

import pytest

from astra.adoption.python_versions import Interpreter, allows_version, choose_interpreter


@pytest.mark.parametrize(
    ("text", "version", "allowed"),
    [
        (">=3.12", (3, 12, 1), True),
        (">= 3.12", (3, 11, 7), False),
        (">=3.9,<3.12", (3, 12, 0), False),
        (">=3.9,<3.12", (3, 11, 9), True),
        ("~=3.11", (3, 13, 0), True),
        ("~=3.11.2", (3, 12, 0), False),
        ("==3.12.*", (3, 12, 4), True),
        ("!=3.12.*,>=3.10", (3, 12, 4), False),
        ("^3.11", (3, 13, 0), True),
        ("^3.11", (3, 10, 0), False),
        (">3.11", (3, 12, 0), True),
        ("3.12", (3, 12, 9), True),
        ("3.12", (3, 11, 9), False),
        ("python-3.10.13", (3, 10, 2), True),
        ("", (3, 11, 0), True),
        ("whatever it takes", (3, 11, 0), True),
        (">=three", (3, 11, 0), True),
    ],
)
def test_a_version_is_held_against_what_the_repository_asks_for(
    text: str, version: tuple[int, int, int], *, allowed: bool
) -> None:
    assert allows_version(text, version) is allowed


def interpreter(*version: int) -> Interpreter:
    name = ".".join(map(str, version))
    return Interpreter(path=Path(f"/opt/{name}/bin/python3"), version=(version[0], version[1], 0))


def test_the_oldest_interpreter_that_is_allowed_is_chosen() -> None:
    machine = [interpreter(3, 13), interpreter(3, 9), interpreter(3, 12)]
    assert choose_interpreter(">=3.12", machine) == interpreter(3, 12)
    assert choose_interpreter(">=3.14", machine) is None
