"""P10, first half: a change admitted and committed, on 5,000 files, against `git worktree add`.

Prints one JSON object a line. Admitted means everything before the answer: the edits applied, the
rules checked, the commit made with a temporary index, the diff taken, the change and its task
recorded, the branch placed. The two take turns in the same run, so that a busy machine slows both.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measuring

FILES = 5_000
ROUNDS = 15


def main() -> None:
    quick = measuring.is_quick()
    files, rounds = (200, 2) if quick else (FILES, ROUNDS)
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from changing import ChangesHere, make_bare

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        content = {
            f"package{number % 50}/module{number}.py": b"x = %d\n" % number * 100
            for number in range(files)
        }
        make_bare(folder / "git", content)
        here = ChangesHere(folder)
        ours, theirs = [], []
        for number in range(rounds + 1):
            theirs.append(_worktree(folder / "git", folder / "work"))
            ours.append(_admitted(here, number))
        here.close()
    value, against = statistics.median(ours[1:]), statistics.median(theirs[1:])
    limit = measuring.at_most_times(0.05)
    measuring.report("P10 change admitted, 5,000 files (ms)", value * 1000, against * 1000, limit)


def _admitted(here: "object", number: int) -> float:
    from astra.changes.edits import Replace, WholeFile

    edits = (
        Replace(path="package1/module1.py", search=b"x = 1\n" * 100, replace=b"y = %d\n" % number),
        WholeFile(path=f"new/module{number}.py", content=b"z = 1\n"),
    )
    began = time.perf_counter()
    here.propose(*edits)  # type: ignore[attr-defined]
    return time.perf_counter() - began


def _worktree(repository: Path, place: Path) -> float:
    command = ["git", "--git-dir", str(repository), "worktree"]
    began = time.perf_counter()
    subprocess.run(
        [*command, "add", "--quiet", "--detach", str(place), "main"],
        check=True,
        capture_output=True,
    )
    seconds = time.perf_counter() - began
    shutil.rmtree(place)
    subprocess.run([*command, "prune"], check=True)
    return seconds


if __name__ == "__main__":
    main()
