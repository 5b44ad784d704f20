"""P10, second half: a test workspace ready on a repository of 5,000 files, against a work tree.

Ready means: a box runs on the files of a commit. The time is that of the whole run of `true` on a
change near a checkout that exists; the bare launch of a box is shown beside it. The first checkout,
made once for each place in history that is worked on, is shown too and has no target.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import measuring
from astra.adapters.workspaces import Workspaces
from astra.trusted.sandbox.launch import Box, run

FILES, ROUNDS = 5_000, 15
NAMES = ("-c", "user.name=a", "-c", "user.email=a@b")


def main() -> None:
    quick = measuring.is_quick()
    count, rounds = (50, 2) if quick else (FILES, ROUNDS)
    with measuring.folder() as folder:
        first, second = _repository(folder / "work", count)
        git_dir = folder / "var" / "git"
        _git(folder, "clone", "-q", "--bare", str(folder / "work"), str(git_dir))
        spaces = Workspaces(git_dir, folder / "var" / "workspaces")
        cold = measuring.seconds(lambda: spaces.warm(first))
        copies = Workspaces(git_dir, folder / "var" / "copies", copied=True)
        copies.warm(first)
        best = measuring.best_rounds(
            {
                "ours": lambda: measuring.seconds(lambda: _ready(spaces, second, folder)),
                "copy": lambda: measuring.seconds(lambda: _ready(copies, second, folder)),
                "box": lambda: measuring.seconds(lambda: _bare(folder)),
                "git": lambda: _work_tree(git_dir, second),
            },
            rounds,
        )
        spaces.close()
        copies.close()
    what = f"{count} files, s"
    target = measuring.at_most_times(0.1)
    measuring.report(f"P10 workspace ready, {what}", best["ours"], best["git"], target)
    measuring.report(f"P10 … of which a box alone, {what}", best["box"], best["git"])
    measuring.report(f"P10 … by copy where there is no overlay, {what}", best["copy"], best["git"])
    measuring.report(f"P10 first checkout, {what}", cold, best["git"])


def _repository(work: Path, count: int) -> tuple[str, str]:
    work.mkdir()
    _git(work, "init", "-q", "-b", "main")
    for number in range(count):
        path = work / f"package{number % 100}" / f"module{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"VALUE = {number}\n" * 40)
    return _commit(work), _change(work)


def _change(work: Path) -> str:
    (work / "package0" / "module0.py").write_text("VALUE = -1\n")
    (work / "new.py").write_text("x = 1\n")
    (work / "package1" / "module1.py").unlink()
    return _commit(work)


def _commit(work: Path) -> str:
    _git(work, "add", "--all")
    _git(work, "commit", "-q", "-m", "a step")
    return _git(work, "rev-parse", "HEAD").strip()


def _ready(spaces: Workspaces, commit: str, data_root: Path) -> None:
    with spaces.open(commit) as files:
        outcome = run(Box(command=("/usr/bin/true",), workspace=files), data_root=data_root)
    if not outcome.succeeded:
        raise SystemExit(outcome.reason)


def _bare(data_root: Path) -> None:
    run(Box(command=("/usr/bin/true",)), data_root=data_root)


def _work_tree(git_dir: Path, commit: str) -> float:
    with tempfile.TemporaryDirectory(dir=git_dir.parent) as name:
        place = Path(name) / "tree"
        taken = measuring.seconds(
            lambda: _git(git_dir, "worktree", "add", "-q", "--detach", str(place), commit)
        )
        shutil.rmtree(place)
        _git(git_dir, "worktree", "prune")
    return taken


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *NAMES, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
