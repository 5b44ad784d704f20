"""Open a path below an open folder, through no symlink, however fast somebody swaps one in.

On Linux 5.6 and later the kernel itself refuses (`openat2` with RESOLVE_BENEATH, NO_SYMLINKS and
NO_MAGICLINKS). Elsewhere, or where a filter forbids that call, each folder on the way is opened by
name with O_NOFOLLOW from the one before, which follows no symlink either. Both answer ELOOP or
ENOTDIR for a symlink; callers treat these alike.
"""

import ctypes
import errno
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from astra.trusted.policy.paths import RelativePath

_OPENAT2 = 437  # the same number on every Linux architecture
_RESOLVE_STRICTLY = 0x02 | 0x04 | 0x08  # NO_MAGICLINKS, NO_SYMLINKS, BENEATH
_MOST_TRIES = 256
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_beneath(folder: int, path: RelativePath, flags: int) -> int:
    """Open without following anything; raises the kernel's own OSError."""
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NOCTTY
    if not path.text:
        return os.open(".", flags, dir_fd=folder)
    if has_openat2():
        return open_with_openat2(folder, path, flags)
    return open_step_by_step(folder, path, flags)


def open_with_openat2(folder: int, path: RelativePath, flags: int) -> int:
    """Ask the kernel; it answers EAGAIN when a rename raced it and it could not be sure."""
    code = errno.EAGAIN
    for _ in range(_MOST_TRIES):
        descriptor, code = _try_openat2(folder, path.text, flags)
        if descriptor >= 0:
            return descriptor
        if code not in {errno.EAGAIN, errno.EINTR}:
            break
    raise OSError(code, os.strerror(code), path.text)


def open_step_by_step(folder: int, path: RelativePath, flags: int) -> int:
    *parents, name = path.parts
    current = os.dup(folder)
    try:
        for parent in parents:
            current = step_into(current, parent)
        return os.open(name, flags, dir_fd=current)
    finally:
        os.close(current)


def step_into(current: int, name: str) -> int:
    """Exchange an open folder for one inside it."""
    inner = os.open(name, _FOLDER, dir_fd=current)
    os.close(current)
    return inner


@cache
def has_openat2() -> bool:
    """Try it once, on the root: an old kernel says ENOSYS, some filters EPERM."""
    root = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        descriptor, _ = _try_openat2(root, ".", os.O_PATH | os.O_CLOEXEC)
    finally:
        os.close(root)
    if descriptor < 0:
        return False
    with suppress(OSError):
        os.close(descriptor)
    return True


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


@cache
def _load_syscall() -> Callable[..., int]:
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    return call


def _try_openat2(folder: int, path: str, flags: int) -> tuple[int, int]:
    how = _OpenHow(flags, 0, _RESOLVE_STRICTLY)
    descriptor = _load_syscall()(
        ctypes.c_long(_OPENAT2),
        ctypes.c_int(folder),
        ctypes.c_char_p(path.encode()),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    return descriptor, ctypes.get_errno()
