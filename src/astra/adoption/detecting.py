"""From the files of a repository to how it is tested and run.

>>> from astra.adoption.repository_files import RepositoryFiles
>>> files = RepositoryFiles(paths=frozenset({"go.mod", "main.go", "main_test.go"}))
>>> detect(files).test_command
'go test ./...'
"""

import re
from dataclasses import replace

from astra.adoption import node, python
from astra.adoption.apps import read_procfile
from astra.adoption.corrections import NO_CORRECTIONS, Corrections, correct
from astra.adoption.detected import NOTHING, Detected
from astra.adoption.other_locks import find_lock
from astra.adoption.repository_files import RepositoryFiles

_MAKE_TEST = re.compile(r"^(test|check|tests)\s*:(?!=)", re.MULTILINE)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_EXIT_CODE_ONLY = frozenset({"tox", "nox", "make", "npm", "go", "cargo"})
_TEST_FOLDERS = ("tests", "test", "__tests__", "spec")


def detect(files: RepositoryFiles, corrections: Corrections = NO_CORRECTIONS) -> Detected:
    """Look at every language in turn; the first that knows its tests wins, then `make test`."""
    candidates = [look(files) for look in (python.detect, node.detect, _detect_go, _detect_rust)]
    recognised = [candidate for candidate in candidates if candidate is not None]
    best = next((c for c in recognised if c.test_command), recognised[0] if recognised else NOTHING)
    best = _with_make(best, files)
    best = correct(replace(best, app=read_procfile(files) or best.app), corrections)
    return replace(
        best,
        test_paths=_find_test_paths(files),
        other_lock=find_lock(files),
        missing=(*best.missing, *_list_missing(best, has_app=best.app is not None)),
    )


def _with_make(detected: Detected, files: RepositoryFiles) -> Detected:
    if detected.test_command:
        return detected
    for name in _MAKEFILES:
        if match := _MAKE_TEST.search(files.read_text(name)):
            because = (*detected.because, f"{name} has the target {match[1]}")
            return replace(
                detected, runner="make", test_command=f"make {match[1]}", because=because
            )
    return detected


def _detect_go(files: RepositoryFiles) -> Detected | None:
    if not files.has("go.mod"):
        return None
    version = re.search(r"^go\s+(\d[\w.]*)", files.read_text("go.mod"), re.MULTILINE)
    has_tests = bool(files.find(r".*_test\.go"))
    return Detected(
        language="go",
        versions=version[1] if version else "",
        runner="go",
        test_command="go test ./..." if has_tests else "",
        because=("go.mod",),
    )


def _detect_rust(files: RepositoryFiles) -> Detected | None:
    if not files.has("Cargo.toml"):
        return None
    package = files.read_table("Cargo.toml").get("package")
    version = package.get("rust-version") if isinstance(package, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return Detected(
        language="rust",
        versions=version if isinstance(version, str) else "",
        runner="cargo",
        test_command="cargo test --offline",
        because=("Cargo.toml",),
    )


def _find_test_paths(files: RepositoryFiles) -> tuple[str, ...]:
    tops = {path.partition("/")[0] for path in files.paths if "/" in path}
    return tuple(f"{name}/" for name in _TEST_FOLDERS if name in tops)


def _list_missing(detected: Detected, *, has_app: bool) -> tuple[str, ...]:
    notes: list[str] = []
    if not detected.test_command:
        notes.append("no tests were recognised: set test_command")
    if detected.runner in _EXIT_CODE_ONLY and detected.test_command:
        notes.append(
            f"of {detected.runner} only the exit code is read, so the best outcome is unknown: have"
            " it write a JUnit report to {junit}, or name the runner that it starts"
        )
    if not has_app:
        notes.append("no server was recognised: set [app] command if there is one")
    return tuple(notes)
