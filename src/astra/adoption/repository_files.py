"""The files of a repository as data: every path, and the text of the few that describe the project.

The repository is hostile input. A text that is too large, not UTF-8, or no TOML or JSON although it
is named so, counts as absent: it tells nothing, and nothing breaks.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

LARGEST_TEXT = 256 * 1024
MOST_TEXTS = 200
_DESCRIPTIONS = re.compile(
    r"pyproject\.toml|setup\.(?:py|cfg)|(?:dev-|test-)?requirements[^/]*\.(?:txt|in)|pipfile"
    r"|requirements/[^/]+\.(?:txt|in)|tox\.ini|noxfile\.py|pytest\.ini|\.pytest\.ini|manage\.py"
    r"|\.python-version|runtime\.txt|package\.json|\.nvmrc|\.node-version|\.mocharc\.\w+"
    r"|(?:vitest|vite|jest)\.config\.[cm]?[jt]s|go\.mod|cargo\.toml|(?:gnu)?makefile|procfile"
    r"|[^/]+\.py|[^/]+\.[cm]?js|(?:src|app|server|lib)/[^/]+\.(?:py|[cm]?js)|[^/]+/wsgi\.py"
    r"|(?:src/)?[^/]+/(?:cli|main|__main__|server|app)\.py"
)
_TEST_FILE = re.compile(
    r"(?:tests?|[^/]+/tests?)/(?:[^/]+/)?test_[^/]+\.py|test_[^/]+\.py"
    r"|(?:tests?|__tests__)/[^/]+\.[cm]?[jt]s|[^/]+\.test\.[cm]?[jt]s"
)


@dataclass(frozen=True, kw_only=True)
class RepositoryFiles:
    paths: frozenset[str]
    texts: Mapping[str, str] = field(default_factory=dict[str, str])

    def has(self, *names: str) -> bool:
        return any(name in self.paths for name in names)

    def read_text(self, path: str) -> str:
        text = self.texts.get(path, "")
        return text if len(text) <= LARGEST_TEXT else ""

    def read_table(self, path: str) -> dict[str, Any]:
        """Read a TOML or JSON file; one that cannot be read is empty."""
        text = self.read_text(path)
        try:
            document = json.loads(text) if path.endswith(".json") else tomllib.loads(text)
        except (ValueError, RecursionError):
            return {}
        return cast("dict[str, Any]", document) if isinstance(document, dict) else {}

    def find(self, pattern: str) -> tuple[str, ...]:
        """Name the paths that a pattern covers whole, in order."""
        shape = re.compile(pattern)
        return tuple(path for path in self._sorted_paths if shape.fullmatch(path))

    @cached_property
    def _sorted_paths(self) -> tuple[str, ...]:
        return tuple(sorted(self.paths))


def is_description(path: str) -> bool:
    """Tell whether a file may say how a project is tested or run.

    >>> is_description("pyproject.toml"), is_description("src/deep/inside/app.py")
    (True, False)
    """
    return _DESCRIPTIONS.fullmatch(path.lower()) is not None


def is_sample_test(path: str) -> bool:
    """Tell whether a file is a test near the top, whose imports name its runner."""
    return _TEST_FILE.fullmatch(path) is not None


def get_section(table: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Go down a table that somebody else wrote; what is no table there is an empty one.

    >>> get_section({"tool": {"uv": 3}}, "tool", "uv")
    {}
    """
    section: Any = table
    for name in names:
        section = cast("dict[str, Any]", section).get(name) if isinstance(section, dict) else None
    return cast("dict[str, Any]", section) if isinstance(section, dict) else {}


def list_texts(value: object) -> tuple[str, ...]:
    """Give the texts of a list that somebody else wrote."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, str))
