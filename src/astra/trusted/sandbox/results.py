"""Reads back what a box left behind, without trusting that it is what it looks like.

The path is resolved below the folder and through no link; the thing is looked at before it is
opened, so that a FIFO cannot block and a device cannot act; only a regular file of bounded size is
read, and never more than the bound, even if it grows.
"""

import errno
import os
import stat
from pathlib import Path

from astra.trusted.kernel.errors import NotFound, Refused
from astra.trusted.policy.manifest import MIB
from astra.trusted.sandbox import syscalls

LARGEST_RESULT = 16 * MIB
_INSIDE = syscalls.BENEATH | syscalls.NO_SYMLINKS | syscalls.NO_MAGIC_LINKS


class UnsafeResult(Refused):
    code = "unsafe_result"


def read_result(folder: Path, name: str, *, most: int = LARGEST_RESULT) -> bytes:
    """Read one file that a box wrote below `folder`."""
    top = _open_path(str(folder), resolve=syscalls.NO_SYMLINKS | syscalls.NO_MAGIC_LINKS)
    try:
        descriptor = _open_path(name, resolve=_INSIDE, folder=top)
    finally:
        os.close(top)
    try:
        _refuse_unless_plain(descriptor, name, most)
        return _read_content(descriptor, name, most)
    finally:
        os.close(descriptor)


def _open_path(path: str, *, resolve: int, folder: int = -100) -> int:
    try:
        return syscalls.openat2(path, os.O_PATH | os.O_NOFOLLOW, resolve=resolve, folder=folder)
    except FileNotFoundError:
        raise NotFound(f"there is no result {path}", next_step="read the run's output") from None
    except OSError as error:
        why = "leads out of its folder" if error.errno in {errno.ELOOP, errno.EXDEV} else "is odd"
        raise _unsafe_result_error(path, why) from None


def _refuse_unless_plain(held: int, name: str, most: int) -> None:
    facts = os.fstat(held)
    if not stat.S_ISREG(facts.st_mode):
        raise _unsafe_result_error(name, "is no regular file")
    if facts.st_size > most:
        raise _unsafe_result_error(name, f"is larger than {most:,} bytes")


def _read_content(held: int, name: str, most: int) -> bytes:
    """Open the very file that was looked at, by its descriptor."""
    descriptor = os.open(f"/proc/self/fd/{held}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise _unsafe_result_error(name, f"is larger than {most:,} bytes")
    return data


def _unsafe_result_error(name: str, why: str) -> UnsafeResult:
    return UnsafeResult(
        f"the result {name!r} {why}", next_step="have the run write a plain file", path=name
    )
