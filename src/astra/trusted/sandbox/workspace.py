"""Puts the files of a commit before a box, ready in milliseconds and gone with the box.

The files of some commit lie on the disk once (`base`); what another commit has otherwise are
`edits`. As root the thread that launches mounts an overlay, the base below and a size-capped memory
file system above, and applies the edits to it. The base is never written, whatever the box does;
what the box wrote vanishes with the box's mount namespace, even if Astra is killed. Where that is
not possible (no root, no overlay in this kernel) the base is copied, with reflinks where the file
system has them.

Edits are applied through descriptors that follow no link.
"""

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.kernel.errors import Refused
from astra.trusted.kernel.text import one_line
from astra.trusted.sandbox import grants, machine, staging, syscalls
from astra.trusted.sandbox.machine import Identity
from astra.trusted.sandbox.ports import Edit, Workspace

_FOLDER_MODE = 0o755
_FILE_CLONE = 0x40049409
_INSIDE = syscalls.BENEATH | syscalls.NO_SYMLINKS | syscalls.NO_MAGIC_LINKS
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_READ_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class UnsafeTree(Refused):
    code = "unsafe_tree"


@dataclass(frozen=True, kw_only=True)
class Ready:
    """By which path or descriptor a workspace comes, and which folder on the disk it fills."""

    source: int | str
    filling: int | None = None


def set_up(workspace: Workspace, stack: contextlib.ExitStack) -> Ready:
    """Make the workspace, in this launch's own thread."""
    identity = machine.inspect_machine().identity
    if identity.dropped and not workspace.copied:
        with contextlib.suppress(OSError):
            return Ready(source=_mount_overlay(workspace, identity))
    return _copy_base(workspace, identity, stack)


def apply(top: int, edits: tuple[Edit, ...], identity: Identity) -> None:
    """Carry out the edits below an open folder: removals first, links last."""
    for edit in sorted(edits, key=lambda edit: edit.path, reverse=True):
        _remove_path(top, edit.path)
    for edit in sorted(edits, key=lambda edit: edit.link):
        if edit.data is not None or edit.folder:
            _create_entry(top, edit, identity)


def _mount_overlay(workspace: Workspace, identity: Identity) -> str:
    """Mount the overlay below the stage, which only this thread and its box can see."""
    stage = f"{staging.STAGE}/workspace"
    base, above, merged = (f"{stage}.{name}" for name in ("base", "above", "merged"))
    for folder in (base, above, merged):
        os.mkdir(folder)  # noqa: PTH102 - a path of this thread's own namespace
    base_descriptor = grants.open_grant(str(workspace.base))
    try:
        tree = syscalls.clone_mount(base_descriptor)
    finally:
        os.close(base_descriptor)
    try:
        syscalls.attach_mount(tree, base)
    finally:
        os.close(tree)
    syscalls.mount_memory(above, size=workspace.most_bytes, files=workspace.most_files)
    for folder in ("upper", "work"):
        os.mkdir(f"{above}/{folder}", _FOLDER_MODE)  # noqa: PTH102 - as above
    os.chown(f"{above}/upper", identity.uid, identity.gid)
    syscalls.mount_overlay(merged, below=base, above=f"{above}/upper", work=f"{above}/work")
    top = os.open(merged, _READ_FOLDER)
    try:
        apply(top, workspace.edits, identity)
    finally:
        os.close(top)
    return merged


def _copy_base(workspace: Workspace, identity: Identity, stack: contextlib.ExitStack) -> Ready:
    scratch = workspace.scratch
    scratch.mkdir(mode=0o700, parents=True)
    stack.callback(discard, scratch)
    shutil.copytree(
        workspace.base,
        scratch / "files",
        symlinks=True,
        copy_function=_clone_file,
        dirs_exist_ok=False,
    )
    staging.hand_over(scratch / "files", identity)
    top = os.open(scratch / "files", _READ_FOLDER)
    try:
        apply(top, workspace.edits, identity)
    finally:
        os.close(top)
    copy_descriptor = grants.open_grant(str(scratch / "files"))
    stack.callback(os.close, copy_descriptor)
    source = (
        staging.stage_one(copy_descriptor, "workspace.copy")
        if identity.dropped
        else copy_descriptor
    )
    return Ready(source=source, filling=copy_descriptor)


def discard(folder: Path) -> None:
    """Remove a folder that a box wrote: closed folders are opened first, and no link is followed.

    The system's own programs do it, because a box can nest folders deeper than Python can follow.
    """
    for command in (("chmod", "-R", "u+rwX"), ("rm", "-rf", "--one-file-system")):
        subprocess.run(
            [*command, "--", str(folder)],
            env={"PATH": machine.SYSTEM_PATH, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )


def _remove_path(top: int, path: bytes) -> None:
    try:
        parent = _open_folder(top, os.path.dirname(path))  # noqa: PTH120 - bytes
    except OSError:
        return  # nothing is there, or a link that is removed by its own name
    name = os.path.basename(path)  # noqa: PTH119 - bytes
    try:
        if stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            os.rmdir(name, dir_fd=parent)
        else:
            os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise
    finally:
        os.close(parent)
    _prune_empty_folders(top, os.path.dirname(path))  # noqa: PTH120 - bytes


def _prune_empty_folders(top: int, folder: bytes) -> None:
    """Remove folders that became empty: git knows no empty ones."""
    while folder:
        parent = _open_folder(top, os.path.dirname(folder))  # noqa: PTH120 - bytes
        try:
            os.rmdir(os.path.basename(folder), dir_fd=parent)  # noqa: PTH119 - bytes
        except OSError:
            return
        finally:
            os.close(parent)
        folder = os.path.dirname(folder)  # noqa: PTH120 - bytes


def _create_entry(top: int, edit: Edit, identity: Identity) -> None:
    parent = _make_folders(top, os.path.dirname(edit.path), identity)  # noqa: PTH120 - bytes
    name = os.path.basename(edit.path)  # noqa: PTH119 - bytes
    try:
        if edit.folder:
            os.mkdir(name, _FOLDER_MODE, dir_fd=parent)
        elif edit.link:
            os.symlink(edit.data or b"", name, dir_fd=parent)
        else:
            _write_file(parent, name, edit)
        if identity.dropped:
            os.chown(name, identity.uid, identity.gid, dir_fd=parent, follow_symlinks=False)
    except FileExistsError:
        raise _path_clash_error(edit.path) from None
    finally:
        os.close(parent)


def _write_file(parent: int, name: bytes, edit: Edit) -> None:
    with os.fdopen(os.open(name, _NEW | os.O_CLOEXEC, 0o600, dir_fd=parent), "wb") as file:
        file.write(edit.data or b"")
        os.fchmod(file.fileno(), edit.mode)


def _make_folders(top: int, path: bytes, identity: Identity) -> int:
    """Open a folder below the top, making what is missing on the way."""
    try:
        return _open_folder(top, path)
    except FileNotFoundError:
        pass
    except OSError:
        raise _path_clash_error(path) from None
    parent = _make_folders(top, os.path.dirname(path), identity)  # noqa: PTH120 - bytes
    name = os.path.basename(path)  # noqa: PTH119 - bytes
    try:
        os.mkdir(name, _FOLDER_MODE, dir_fd=parent)
        if identity.dropped:
            os.chown(name, identity.uid, identity.gid, dir_fd=parent, follow_symlinks=False)
    finally:
        os.close(parent)
    return _open_folder(top, path)


def _open_folder(top: int, path: bytes) -> int:
    if not path:
        return os.open(".", _READ_FOLDER, dir_fd=top)
    return syscalls.openat2(os.fsdecode(path), _READ_FOLDER, resolve=_INSIDE, folder=top)


def _clone_file(source: str, target: str) -> str:
    """Share the blocks where the file system can; write them again where it cannot."""
    with Path(source).open("rb") as old, Path(target).open("wb") as new:
        try:
            fcntl.ioctl(new.fileno(), _FILE_CLONE, old.fileno())
        except OSError:
            shutil.copyfileobj(old, new)
        os.fchmod(new.fileno(), stat.S_IMODE(os.fstat(old.fileno()).st_mode))
    return target


def _path_clash_error(path: bytes) -> UnsafeTree:
    path_text = one_line(path.decode("utf-8", "replace"))
    return UnsafeTree(
        f"the tree has something else where {path_text} belongs",
        next_step="propose a change without that path",
    )
