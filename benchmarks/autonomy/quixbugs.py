"""QuixBugs as stories: forty small programs with a bug in one line each, and their tests.

The data is Koppel's (MIT) and no part of this repository: `QUIXBUGS` names a folder with a copy.
Each bug is put beside the example server as a file of its own, with its tests; the wish says which
function is wrong and nothing about the line.
"""

from collections.abc import Iterator
from pathlib import Path

from stories import Story

PROGRAMS, TESTS, CASES = "python_programs", "python_testcases", "json_testcases"
WISH = (
    "The function {name} in {path} gives wrong results: one line of it has a bug."
    " Correct that line and change nothing else."
)


def list_bugs(folder: Path) -> Iterator[Story]:
    for program in sorted((folder / PROGRAMS).glob("*.py")):
        if (folder / TESTS / f"test_{program.stem}.py").is_file():
            yield make_story(folder, program.stem)


def make_story(folder: Path, name: str) -> Story:
    path = f"{PROGRAMS}/{name}.py"
    needed = (
        "conftest.py",
        path,
        f"{TESTS}/test_{name}.py",
        f"{TESTS}/load_testdata.py",
        f"{TESTS}/node.py",
        f"{CASES}/{name}.json",
    )
    return Story(
        name=f"quixbugs-{name}",
        wish=WISH.format(name=name, path=path),
        files={item: (folder / item).read_text() for item in needed if (folder / item).is_file()},
        tests_folder=TESTS,
        may_touch=path,
        holds=lambda fetch, _send: '"status": "ok"' in fetch("/healthz")[1],
    )
