"""The git directory of the agent's clone, writable in a box and still harmless on the host.

A box may write objects, refs, the index: whatever `git branch` and `git commit` need. It may not
write what makes git run a program or read other settings, should a person run git there:

| name              | why it stays as it is                                              |
|-------------------|--------------------------------------------------------------------|
| `config`          | names programs: fsmonitor, filters, editors, remotes               |
| `config.worktree` | the same, for a work tree                                          |
| `hooks`           | programs                                                           |
| `commondir`       | says that settings and hooks are in another folder                 |
| `modules`         | git directories of submodules, with settings of their own          |
| `worktrees`       | git directories of work trees, likewise                            |

Each is a mount of its own, and so is `.git`: in the box none of them can be replaced, renamed or
removed. What git does not have by itself is made here, in the form that changes nothing: empty, and
a `commondir` that names the folder itself. Where something else stands there, a box does not write
the git directory at all.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("hooks", "modules", "worktrees")
FILES = {"commondir": b".\n", "config.worktree": b""}
CONFIG = "config"
SEALED = (CONFIG, *FILES, *FOLDERS)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST = 4096


@dataclass(frozen=True, kw_only=True)
class GitGrants:
    """What a manifest names besides the clone, for its git directory to be writable."""

    write_paths: tuple[str, ...] = ()
    read_paths: tuple[str, ...] = ()


NOT_WRITABLE = GitGrants()


def grant_git_folder(clone: Path) -> GitGrants:
    """Make the sealed names of a clone's git directory sure; nothing where that cannot be."""
    place = clone / ".git"
    try:
        folder = os.open(place, _FOLDER)
    except OSError:
        return NOT_WRITABLE
    try:
        if not _seal_names(folder):
            return NOT_WRITABLE
    except OSError:
        return NOT_WRITABLE
    finally:
        os.close(folder)
    return GitGrants(
        write_paths=(str(place),), read_paths=tuple(str(place / name) for name in SEALED)
    )


def _seal_names(folder: int) -> bool:
    """Make what is missing; tells whether everything is as it has to be."""
    for name in FOLDERS:
        _make_folder(folder, name)
    for name, content in FILES.items():
        _make_file(folder, name, content)
    folders_are = all(stat.S_ISDIR(_read_mode(folder, name)) for name in FOLDERS)
    files_are = all(_read_file(folder, name) == content for name, content in FILES.items())
    return folders_are and files_are and stat.S_ISREG(_read_mode(folder, CONFIG))


def _make_folder(folder: int, name: str) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=folder)
    except FileExistsError:
        return


def _make_file(folder: int, name: str, content: bytes) -> None:
    try:
        descriptor = os.open(name, _MAKE, 0o644, dir_fd=folder)
    except FileExistsError:
        return
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)


def _read_mode(folder: int, name: str) -> int:
    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode


def _read_file(folder: int, name: str) -> bytes | None:
    descriptor = os.open(name, _READ, dir_fd=folder)
    try:
        is_plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.read(descriptor, _MOST) if is_plain else None
    finally:
        os.close(descriptor)
