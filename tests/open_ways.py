"""Lets other users of this machine reach the checkout and the interpreter, in a mount namespace."""

import subprocess
from collections.abc import Sequence
from pathlib import Path


def open_ways(paths: Sequence[Path], keep: Path) -> None:
    """Let other users reach folders whose parents are closed to them: show only those folders."""
    kept_paths, closed_parents = dict[Path, Path](), set[Path]()
    for path in paths:
        closed = [parent for parent in reversed(path.parents) if not parent.stat().st_mode & 0o001]
        if closed:
            kept_paths[path] = keep / str(len(kept_paths))
            kept_paths[path].mkdir()
            _mount("--bind", path, kept_paths[path])
            closed_parents.add(closed[0])
    for parent in closed_parents:
        _mount("-t", "tmpfs", "-o", "mode=0755", "tmpfs", parent)
    for path, kept_path in kept_paths.items():
        path.mkdir(parents=True)
        _mount("--bind", kept_path, path)


def _mount(*words: str | Path) -> None:
    subprocess.run(["mount", *words], check=True)
