"""Filling a disk: to the last block, or to the last inode."""

import contextlib
import itertools
import os
import subprocess
from pathlib import Path


def fill(disk: Path, *, leave: int, name: str = "ballast") -> None:
    """Write until so much is left, at the end block by block."""
    with (disk / name).open("ab", buffering=0) as file:
        for size in (1 << 20, 4096):
            while free(disk) - leave >= size:
                try:
                    file.write(b"\0" * size)
                except OSError:
                    break


def free(disk: Path) -> int:
    facts = os.statvfs(disk)
    return facts.f_bavail * facts.f_frsize


def use_up_inodes(disk: Path) -> None:
    """Make empty files until there can be no more."""
    with contextlib.suppress(OSError):
        (disk / "many").mkdir(exist_ok=True)
        for number in itertools.count():
            (disk / "many" / f"{number}-{os.urandom(4).hex()}").touch()


def relieve(disk: Path) -> None:
    (disk / "ballast").unlink(missing_ok=True)
    subprocess.run(["rm", "-rf", disk / "many"], check=True)
