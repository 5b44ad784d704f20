"""The few system calls that Python does not wrap.

Each raises OSError like its siblings in `os`. `unshare`, `enter` and the mount calls act on the
calling thread only, which is how a launch gets a mount namespace without a process in between.
"""

import ctypes
import os
import struct

NO_MAGIC_LINKS, NO_SYMLINKS, BENEATH = 0x02, 0x04, 0x08
NEW_MOUNTS, NEW_USERS, NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000
_OPENAT2, _OPEN_TREE, _MOVE_MOUNT = 437, 428, 429
_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_CLONE_TREE, _CLOSE_ON_EXEC = 0x1, 0x80000
_FROM_EMPTY_PATH = 0x4
_PRIVATE_EVERYWHERE = 0x40000 | 0x4000
_NO_SUID_DEV_EXEC = 0x2 | 0x4 | 0x8
_NO_SUID_DEV = 0x2 | 0x4

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def openat2(path: str, flags: int, *, resolve: int, folder: int = _AT_FDCWD, mode: int = 0) -> int:
    """Open with rules for every component of the path, which `open` cannot give."""
    how = struct.pack("<QQQ", flags | os.O_CLOEXEC, mode, resolve)
    return _invoke_syscall(
        _OPENAT2, ctypes.c_int(folder), os.fsencode(path), how, ctypes.c_size_t(len(how)), of=path
    )


def unshare(flags: int) -> None:
    _check_result(_libc.unshare(ctypes.c_int(flags)))


def enter(namespace: int, flags: int) -> None:
    _check_result(_libc.setns(ctypes.c_int(namespace), ctypes.c_int(flags)))


def make_mounts_private() -> None:
    _check_result(_libc.mount(b"none", b"/", None, ctypes.c_ulong(_PRIVATE_EVERYWHERE), None))


def mount_scratch(path: str) -> None:
    options = b"mode=0755,size=1m"
    flags = ctypes.c_ulong(_NO_SUID_DEV_EXEC)
    _check_result(_libc.mount(b"astra", os.fsencode(path), b"tmpfs", flags, options), of=path)


def mount_memory(path: str, *, size: int, files: int) -> None:
    """Mount a file system in memory that can hold so much and no more."""
    options = f"mode=0700,size={size},nr_inodes={files}".encode()
    flags = ctypes.c_ulong(_NO_SUID_DEV)
    _check_result(_libc.mount(b"astra", os.fsencode(path), b"tmpfs", flags, options), of=path)


def mount_overlay(path: str, *, below: str, above: str, work: str) -> None:
    """Show one folder above another; the names are ours and hold no comma or colon."""
    options = f"lowerdir={below},upperdir={above},workdir={work},index=off,metacopy=off".encode()
    flags = ctypes.c_ulong(_NO_SUID_DEV)
    _check_result(_libc.mount(b"astra", os.fsencode(path), b"overlay", flags, options), of=path)


def clone_mount(descriptor: int) -> int:
    """Make a detached mount of what the descriptor names, with everything mounted below it."""
    flags = _CLONE_TREE | _CLOSE_ON_EXEC | _AT_EMPTY_PATH | _AT_RECURSIVE
    return _invoke_syscall(_OPEN_TREE, ctypes.c_int(descriptor), b"", ctypes.c_uint(flags))


def attach_mount(tree: int, path: str) -> None:
    _invoke_syscall(
        _MOVE_MOUNT,
        ctypes.c_int(tree),
        b"",
        ctypes.c_int(_AT_FDCWD),
        os.fsencode(path),
        ctypes.c_uint(_FROM_EMPTY_PATH),
        of=path,
    )


def call(number: int, *words: int) -> int:
    return _invoke_syscall(number, *(ctypes.c_long(word) for word in words))


def _invoke_syscall(number: int, *arguments: object, of: str | None = None) -> int:
    return _check_result(_libc.syscall(ctypes.c_long(number), *arguments), of=of)


def _check_result(answer: int, *, of: str | None = None) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), of)
    return answer
