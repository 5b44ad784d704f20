"""Paths as `astra.toml` names them: a folder with a slash at its end, a glob, or a path.

A path without a wildcard means that file, or everything below it where it is a folder.

>>> Patterns(("tests/", "*.lock")).first("tests/unit/test_a.py")
'tests/'
>>> Patterns(("tests/", "*.lock")).first("web/yarn.lock")
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

    def first(self, path: str) -> str | None:
        """Name the first pattern that covers a path."""
        asked = paths.fold(path) if self.loose else path
        return next((text for text, matches in self._compiled if matches(asked)), None)

    @cached_property
    def _compiled(self) -> list[tuple[str, Matches]]:
        return [(text, _matcher(paths.fold(text) if self.loose else text)) for text in self.texts]


def _matcher(text: str) -> Matches:
    if globs.has_wildcard(text):
        return globs.parse_relative_glob(
            text.rstrip("/") + ("/**" if text.endswith("/") else "")
        ).matches
    whole = text.rstrip("/").removeprefix("./")
    below = f"{whole}/"
    return lambda path: path == whole or path.startswith(below)
