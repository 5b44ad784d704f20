"""Files that take the place of the test runner, or of Python's own modules, by their name alone.

`python -m pytest` looks for modules in the target's folder first, and for plugins in everything
that looks like an installed package there.

>>> [finding.rule for finding in examine(Source(path="pytest.py", new="print('fine')"))]
['takes-a-name']
"""

import re
import sys
from collections.abc import Iterator

from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_ROOTS = frozenset({"", "src", "lib", "test", "tests", "python"})
"""Folders that are looked through for modules; deeper ones belong to packages."""
_RUNNER = frozenset(
    {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py", "exceptiongroup"}
    | {"tomli", "hypothesis", "coverage", "xdist", "execnet", "pytest_cov", "pytest_asyncio"}
    | {"freezegun", "mock", "nose", "tox", "attr", "attrs"}
)
_TAKEN = _RUNNER | (sys.stdlib_module_names - {"__main__", "this", "antigravity", "test"})
_INSTALLED = re.compile(r".+\.(?:dist|egg)-info|egg-info", re.IGNORECASE)
_PLUGIN = re.compile(r"\bpytest11\b")


def examine(source: Source) -> Iterator[Finding]:
    if source.new is None:
        return
    *folders, name = source.path.split("/")
    if any(_INSTALLED.fullmatch(folder) for folder in (*folders, name)):
        message = "looks like an installed package, which can bring plugins of the test runner"
        yield source.make_file_finding("test-hook", Severity.DANGER, 0, message)
    for number in sorted(source.added_numbers):
        if _PLUGIN.search(source.new_lines[number - 1][:2000]):
            message = "pytest11 names a plugin that the test runner loads by itself"
            yield source.make_finding("test-hook", Severity.DANGER, number, message)
    if source.old is None and (module_name := _find_shadowed_module(folders, name)):
        message = f"is found before the real {module_name}, and runs in its place"
        yield source.make_file_finding("takes-a-name", Severity.DANGER, 0, message)


def _find_shadowed_module(folders: list[str], name: str) -> str:
    """Name the module that a new file would be taken for, or nothing."""
    stem, _, extension = name.partition(".")
    is_module = extension in {"py", "pyc", "pyi"} or extension.endswith(("so", "pyd"))
    if not is_module:
        return ""
    module, folder = stem, "/".join(folders)
    if folders and (stem in {"__init__", "__main__"}):
        module, folder = folders[-1], "/".join(folders[:-1])
    return module if folder.lower() in _ROOTS and module in _TAKEN else ""
