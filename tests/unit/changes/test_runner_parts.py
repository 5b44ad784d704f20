"""Which files decide about tests: by their name, or by the part of them that changed."""

import pytest

from astra.trusted.changes import admission
from astra.trusted.changes.admission import Rules
from astra.trusted.changes.files import REGULAR, ChangedFile
from astra.trusted.settings.configuration import Target

DECIDE = {
    "conftest": ("conftest.py", "", "x = 1\n"),
    "a package of tests": ("tests/__init__.py", None, "x = 1\n"),
    "pytest.ini": ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = -k foo\n"),
    "hidden pytest.toml": (".pytest.toml", None, "[pytest]\n"),
    "pyproject": (
        "pyproject.toml",
        "[tool.pytest.ini_options]\n",
        "[tool.pytest.ini_options]\na=1\n",
    ),
    "a plugin's own table": ("pyproject.toml", "", "[tool.pytest-enabler]\na = 1\n"),
    "a plugin's entry point": ("pyproject.toml", "", "[project.entry-points.pytest11]\na = 'b'\n"),
    "coverage": ("pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n", ""),
    "a pyproject nobody can read": ("pyproject.toml", "", "[tool.pytest\n"),
    "setup.cfg": ("setup.cfg", "[tool:pytest]\n", "[tool:pytest]\naddopts = -k foo\n"),
    "tox.ini": ("tox.ini", "", "[pytest]\n"),
    "noxfile": ("noxfile.py", None, "x = 1\n"),
    "scripts of a package": ("package.json", '{"scripts": {"test": "vitest"}}', '{"scripts": {}}'),
    "jest in a package": ("web/package.json", "{}", '{"jest": {"testMatch": []}}'),
    "vitest": ("vitest.config.ts", None, "export default {}\n"),
    "sitecustomize": ("src/sitecustomize.py", None, "x = 1\n"),
    "a path file": ("src/a.pth", None, "import x\n"),
    "a plugin": ("src/shop/pytest_plugin.py", None, "x = 1\n"),
    "the report's settings": (".coveragerc", None, "[report]\n"),
}
OTHER = {
    "a version": ("pyproject.toml", "[project]\nversion = '1'\n", "[project]\nversion = '2'\n"),
    "a linter": ("pyproject.toml", "", "[tool.ruff]\nline-length = 90\n"),
    "metadata": ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n"),
    "a dependency": ("package.json", "{}", '{"dependencies": {"left-pad": "1"}}'),
    "code": ("src/shop.py", "", "x = 1\n"),
}


def find_touched_tests(path: str, old: str | None, new: str) -> tuple[str, ...]:
    file = ChangedFile(
        path=path,
        old=None if old is None else old.encode(),
        new=new.encode(),
        old_mode=None if old is None else REGULAR,
        new_mode=REGULAR,
    )
    return admission.admit([file], rules=Rules(target=Target()), base_paths=()).tests


@pytest.mark.parametrize("what", DECIDE)
def test_a_change_to_what_decides_about_tests_touches_tests(what: str) -> None:
    path, old, new = DECIDE[what]
    assert find_touched_tests(path, old, new) == (path,)


@pytest.mark.parametrize("what", OTHER)
def test_other_parts_of_shared_files_do_not(what: str) -> None:
    assert find_touched_tests(*OTHER[what]) == ()
