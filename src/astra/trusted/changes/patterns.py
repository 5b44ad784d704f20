"""Paths as `astra.toml` names them: a folder with a slash at its end, a glob, or a path.

A path without a wildcard means that file, or everything below it where it is a folder.

>>> Patterns(("tests/", "*.lock")).find_first("tests/unit/test_a.py")
'tests/'
>>> Patterns(("tests/", "*.lock")).find_first("web/yarn.lock")
'*.lock'
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from astra.trusted.policy import globs, paths

Matches = Callable[[str], bool]


@dataclass(frozen=True)
class Patterns:
    """`loose` compares whatever the case and the Unicode spelling: for forbidding, not allowing."""

    texts: tuple[str, ...]
    loose: bool = False

    def find_first(self, path: str) -> str | None:
        """Name the first pattern that covers a path."""
        compared_path = paths.fold(path) if self.loose else path
        return next((text for text, matches in self._compiled if matches(compared_path)), None)

    @cached_property
    def _compiled(self) -> list[tuple[str, Matches]]:
        return [
            (text, _compile_pattern(paths.fold(text) if self.loose else text))
            for text in self.texts
        ]


def _compile_pattern(text: str) -> Matches:
    if globs.has_wildcard(text):
        return globs.parse_relative_glob(
            text.rstrip("/") + ("/**" if text.endswith("/") else "")
        ).matches
    exact_path = text.rstrip("/").removeprefix("./")
    below = f"{exact_path}/"
    return lambda path: path == exact_path or path.startswith(below)
