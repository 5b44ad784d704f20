"""Puts granted places where bwrap can take them, when Astra runs as root and the box must not.

bwrap starts as an ordinary uid, which cannot walk into folders such as /root, not even by
descriptor. So the calling thread takes a mount namespace of its own, and binds each place onto a
scratch folder that only this namespace has. Nothing of it is visible to the rest of the machine,
and it vanishes with the last process of the box. Call it in a thread made for one launch: the
namespace stays with the thread.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from astra.trusted.sandbox import syscalls
from astra.trusted.sandbox.machine import Identity, SandboxUnavailable, no_such_user_error

# No grant lies below /sys and bwrap needs nothing from it, so covering it hides nothing.
STAGE = "/sys"


def take_own_mounts() -> None:
    """Give the calling thread its own mounts; descriptors opened afterwards can be staged."""
    try:
        syscalls.unshare(syscalls.NEW_MOUNTS)
        syscalls.make_mounts_private()
    except PermissionError:
        raise SandboxUnavailable(
            "Astra runs as root but may not make a mount namespace to drop to another uid",
            next_step="run Astra as an ordinary user, or give the container CAP_SYS_ADMIN",
        ) from None


def stage(opened: Mapping[str, int]) -> dict[str, str]:
    """Bind every opened place below the stage and say where each one is."""
    trees = {path: syscalls.clone_mount(descriptor) for path, descriptor in opened.items()}
    syscalls.mount_scratch(STAGE)
    staged = {path: f"{STAGE}/{number}" for number, path in enumerate(trees)}
    for path, tree in trees.items():
        _make_target(staged[path], folder=stat.S_ISDIR(os.fstat(tree).st_mode))
        syscalls.attach_mount(tree, staged[path])
        os.close(tree)
    return staged


def stage_one(descriptor: int, name: str) -> str:
    """Bind one more folder below the stage, once that is there."""
    tree = syscalls.clone_mount(descriptor)
    try:
        _make_target(f"{STAGE}/{name}", folder=True)
        syscalls.attach_mount(tree, f"{STAGE}/{name}")
    finally:
        os.close(tree)
    return f"{STAGE}/{name}"


def hand_over(path: Path, identity: Identity) -> None:
    """Give a folder and what is in it to the uid of the boxes; nothing to do unless root.

    For folders that Astra made for the agent. No link is followed, and a file with a second name
    is left alone: it may be somebody else's.
    """
    if not identity.dropped:
        return
    try:
        os.chown(path, identity.uid, identity.gid, follow_symlinks=False)
    except OSError as error:
        raise no_such_user_error(identity, error) from None
    for _root, folders, files, folder in os.fwalk(path, follow_symlinks=False):
        for name in (*folders, *files):
            _chown_entry(name, folder, identity)


def _chown_entry(name: str, folder: int, identity: Identity) -> None:
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        facts = os.fstat(descriptor)
        if stat.S_ISDIR(facts.st_mode) or (stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1):
            os.chown(f"/proc/self/fd/{descriptor}", identity.uid, identity.gid)
    finally:
        os.close(descriptor)


def _make_target(path: str, *, folder: bool) -> None:
    if folder:
        os.mkdir(path)  # noqa: PTH102 - a path of this thread's own namespace
    else:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))
