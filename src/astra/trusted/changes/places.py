"""What a path says about a file: its language, and whether it belongs to the tests.

>>> language_of("src/app.tsx"), language_of("bin/run", "#!/usr/bin/env bash")
('tsx', 'shell')
>>> is_test("tests/data.csv", ("tests/",)), is_test("src/pkg/test_x.py", ()), is_test("a.py", ())
(True, True, False)
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.globs import Glob, parse_glob

_LANGUAGES = {
    **dict.fromkeys(("py", "pyi", "pyw"), "python"),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), "javascript"),
    **dict.fromkeys(("ts", "mts", "cts"), "typescript"),
    "tsx": "tsx",
    **dict.fromkeys(("json", "webmanifest"), "json"),
    "toml": "toml",
    **dict.fromkeys(("yaml", "yml"), "yaml"),
    **dict.fromkeys(("sh", "bash"), "shell"),
}
_NAMED = {"pipfile": "toml", "package-lock.json": "json", ".babelrc": "json"}
# Files of these names are read with comments by the programs they belong to.
COMMENTED_JSON = re.compile(r"(?:[tj]sconfig.*|\.eslintrc|.*\.code-workspace|devcontainer)\.json")
_FIRST_LINE = (
    (re.compile(r"#!.*\bpython"), "python"),
    (re.compile(r"#!.*\b(?:ba|da|k|a)?sh\b"), "shell"),
    (re.compile(r"#!.*\b(?:node|deno|bun)\b"), "javascript"),
)
_TEST_NAME = re.compile(
    r"test_.+\.py|.+_test\.py|tests?\.py|conftest\.py|.+\.(?:test|spec)\.[cm]?[jt]sx?|.+_test\.go"
)
_RUNNER_NAME = re.compile(
    r"\.?pytest\.(?:ini|toml)|tox\.(?:ini|toml)|noxfile\.py|\.coveragerc|(?:site|user)customize\.py"
    r"|.+\.pth|(?:.+[_-])?pytest[_-]?plugins?\.py|(?:jest|vitest|karma|playwright|cypress|ava)"
    r"\.(?:config|conf|workspace|setup)\.[cm]?[jt]s(?:on)?|\.mocharc(?:\..+)?|entry_points\.txt"
)
_TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "__snapshots__", "testing"})
_SURE_FOLDERS = frozenset({"test", "tests", "__tests__", "__snapshots__"})


def language_of(path: str, text: str = "") -> str:
    name = path.rpartition("/")[2].lower()
    if name in _NAMED:
        return _NAMED[name]
    stem, dot, extension = name.rpartition(".")
    if dot and stem and extension in _LANGUAGES:
        return _LANGUAGES[extension]
    first = text[:200].partition("\n")[0]
    return next((language for shape, language in _FIRST_LINE if shape.match(first)), "")


def is_test(path: str, test_paths: Sequence[str]) -> bool:
    """Tell whether a path is one of the named places, or is named as tests are."""
    *folders, name = path.split("/")
    return (
        is_in_places(path, test_paths)
        or _TEST_NAME.fullmatch(name) is not None
        or not _TEST_FOLDERS.isdisjoint(folders)
    )


def belongs_to_tests(path: str, test_paths: Sequence[str]) -> bool:
    """Tell whether a file decides what the tests of the target are: for flags, and for runs.

    Folders that only sound like tests are left to `test_paths`: some ship their `testing` package.

    >>> [belongs_to_tests(path, ()) for path in ("Conftest.py", "src/testing/a.py")]
    [True, False]
    """
    *folders, name = path.lower().split("/")
    return (
        is_in_places(path, test_paths)
        or _TEST_NAME.fullmatch(name) is not None
        or _RUNNER_NAME.fullmatch(name) is not None
        or not _SURE_FOLDERS.isdisjoint(folders)
    )


def is_in_places(path: str, places: Sequence[str]) -> bool:
    """Tell whether a path is in one of the places: folders, files, or globs.

    >>> is_in_places("tests/unit/a.py", ("tests/",))
    True
    >>> is_in_places("src/a_test.go", ("**/*_test.go",))
    True
    """
    return any(_is_in(path, place) for place in places)


def _is_in(path: str, place: str) -> bool:
    if "*" in place or "?" in place:
        glob = _try_parse_glob(place)
        return glob is not None and glob.matches(path)
    folder = place.removeprefix("./").strip("/")
    return path == folder or path.startswith(f"{folder}/") or folder in {"", "."}


@lru_cache(maxsize=256)
def _try_parse_glob(text: str) -> Glob | None:
    try:
        return parse_glob(text)
    except Refused:
        return None
