"""Logs that do not grow without end: the file a process writes to is turned over.

A process is started with its log as standard error, so the file cannot simply be renamed: it is
copied to `NAME.1` and emptied. It has to be open for appending.
"""

import contextlib
import os
import shutil
import stat
from pathlib import Path

LARGEST, KEPT = 8 << 20, 3


def turn_over(path: Path, descriptor: int, *, largest: int = LARGEST) -> None:
    """Copy a log that is too large to `NAME.1`, what was there to `NAME.2`, and empty it."""
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode) or facts.st_size <= largest:
        return
    for number in range(KEPT - 1, 0, -1):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(f"{path.name}.{number}").replace(
                path.with_name(f"{path.name}.{number + 1}")
            )
    with contextlib.suppress(OSError):  # on a full disk the old lines are given up
        shutil.copyfile(path, path.with_name(f"{path.name}.1"))
    os.ftruncate(descriptor, 0)
