"""Places that a plan may write and that are not there yet: made before its box is.

A box has only what exists. Whoever granted a new folder meant it to be there. It is made only below
the agent's own folders, and through no symlink: the agent can put one on the way.
"""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from astra.trusted.files.open_beneath import step_into
from astra.trusted.policy import globs
from astra.trusted.policy.manifest import is_within

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def can_be_made(path: str, own_folders: Iterable[Path]) -> bool:
    """Tell whether a missing place would be made: a plain path below a folder of the agent."""
    names = path.split("/")[1:]
    is_plain = not globs.has_wildcard(path) and not {"", ".", ".."} & set(names)
    return is_plain and any(is_within(path, str(folder)) for folder in own_folders)


def make_missing(path: str, own_folders: Iterable[Path]) -> None:
    """Make a folder, or an empty file where the name has an ending; what is there stays."""
    if os.path.lexists(path):
        return
    for folder in own_folders:
        if can_be_made(path, [folder]):
            with contextlib.suppress(OSError):  # it stays missing, and the review says so
                _make_place(folder, path.removeprefix(f"{folder}/").split("/"))


def _make_place(root: Path, names: list[str]) -> None:
    *folders, last = names
    current = os.open(root, _FOLDER)
    try:
        for name in folders:
            current = _enter_folder(current, name)
        if Path(last).suffix:
            os.close(os.open(last, _NEW_FILE, 0o644, dir_fd=current))
        else:
            current = _enter_folder(current, last)
    finally:
        os.close(current)


def _enter_folder(current: int, name: str) -> int:
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=current)
    return step_into(current, name)
