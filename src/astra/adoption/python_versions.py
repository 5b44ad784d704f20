"""Which interpreter a repository asks for, by its own words: `requires-python` and its relatives.

What cannot be read allows every version: a guess must not keep anybody from trying.

>>> allows_version(">=3.12", (3, 11, 7)), allows_version("^3.11", (3, 13, 0))
(False, True)
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

Version = tuple[int, int, int]
_CLAUSE = re.compile(r"(===?|!=|<=?|>=?|~=|\^|~)?\s*v?(\d+(?:\.\d+){0,2})(?:\.\*)?")
_RUNTIME = "python-"


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    path: Path
    version: Version


def choose_interpreter(text: str, interpreters: Iterable[Interpreter]) -> Interpreter | None:
    """Choose the oldest minor version that is allowed, which most packages still support."""
    candidates = [python for python in interpreters if allows_version(text, python.version)]
    return min(
        candidates, key=lambda python: (python.version[:2], -python.version[2]), default=None
    )


def allows_version(text: str, version: Version) -> bool:
    clauses = [clause.strip() for clause in text.removeprefix(_RUNTIME).split(",")]
    return all(_clause_allows(clause, version) for clause in clauses if clause)


def _clause_allows(clause: str, version: Version) -> bool:
    match = _CLAUSE.fullmatch(clause)
    if match is None:
        return True
    sign, bound = match[1] or "", tuple(map(int, match[2].split(".")))
    begins_alike = version[: len(bound)] == bound
    if sign in {"", "==", "==="}:
        return version[: min(len(bound), 2)] == bound[:2] if not sign else begins_alike
    if sign == "!=":
        return not begins_alike
    return _compare_versions(sign, version, bound)


def _compare_versions(sign: str, version: Version, bound: tuple[int, ...]) -> bool:
    is_compatible = version[: max(len(bound) - 1, 1)] == bound[: max(len(bound) - 1, 1)]
    outcomes = {
        ">=": version >= bound,
        ">": version[: len(bound)] > bound,
        "<": version < bound,
        "<=": version[: len(bound)] <= bound,
        "~=": version >= bound and is_compatible,
        "~": version >= bound and version[:2] == bound[:2],
        "^": version >= bound and version[0] == bound[0],
    }
    return outcomes[sign]
