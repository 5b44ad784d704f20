"""Files below one folder of the real file system, safe against whoever else writes there.

Nothing outside the folder is ever opened: paths are clean values, and every open goes through
`open_beneath`, which follows no symlink. Only regular files are read (opened without blocking, then
checked on the descriptor), so a FIFO, device or socket cannot stall anything, and no file of a
kernel file system passes for one. A file with a second hard link is refused, because its other name
may be somewhere else entirely. Writes are whole or not at all: a temporary file in the same folder,
synced, then renamed over the name, which replaces a link instead of writing through it.
"""

import errno
import heapq
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from astra.trusted.files.open_beneath import open_beneath, step_into
from astra.trusted.kernel.errors import NotFound, Refused
from astra.trusted.policy.paths import PathRefused, RelativePath, quote

TEMPORARY_PREFIX = ".astra-writing-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_CHUNK = 1 << 20


class FileProblem(StrEnum):
    SYMLINK = "file_behind_symlink"
    NOT_REGULAR = "file_not_regular"
    IS_FOLDER = "file_is_folder"
    HARD_LINKED = "file_hard_linked"
    TOO_LARGE = "file_too_large"
    UNAVAILABLE = "file_unavailable"


class FileRefused(Refused):
    """A file that is not touched; `problem` says why, from a closed list."""

    def __init__(self, problem: FileProblem, detail: str, *, next_step: str) -> None:
        super().__init__(detail, next_step=next_step, code=problem.value)
        self.problem = problem


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderItem:
    name: str
    kind: str
    size: int | None


@dataclass(frozen=True, kw_only=True)
class FolderPage:
    items: tuple[FolderItem, ...]
    next: str | None
    unaddressable: int


class GuardedFolder:
    """An open folder; it stays the same folder even when its name is given to another one."""

    def __init__(self, root: Path) -> None:
        try:
            self._root = os.open(root, _FOLDER | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise FileRefused(
                FileProblem.UNAVAILABLE,
                f"the folder {quote(str(root))} cannot be opened: {os.strerror(error.errno or 0)}",
                next_step="make it a folder of its own, not a link, that Astra may read",
            ) from None

    def read(self, path: RelativePath, *, most_bytes: int) -> bytes:
        with _open_file(self._root, path) as descriptor:
            size = _check_file(os.fstat(descriptor), path)
            if size > most_bytes:
                _refuse_file(
                    FileProblem.TOO_LARGE, path, f"has {size} bytes, more than {most_bytes}"
                )
            content = _read_up_to(descriptor, most_bytes + 1)
        if len(content) > most_bytes:
            _refuse_file(FileProblem.TOO_LARGE, path, f"grew beyond {most_bytes} bytes")
        return content

    def write(self, path: RelativePath, content: bytes) -> bool:
        """Put the content in place whole; return whether the file is new."""
        with _kernel_answers(path), _open_parent(self._root, path, make=True) as parent:
            existing = _read_status(parent, path.name)
            if existing is not None:
                _check_file(existing, path)
            _replace_file(parent, path.name, content)
        return existing is None

    def delete(self, path: RelativePath) -> None:
        """Remove a name; a link is removed and what it points to stays."""
        with _kernel_answers(path), _open_parent(self._root, path, make=False) as parent:
            existing = _read_status(parent, path.name)
            if existing is None:
                raise _not_found(path)
            if not stat.S_ISLNK(existing.st_mode):
                _check_regular(existing, path)
            os.unlink(path.name, dir_fd=parent)
            os.fsync(parent)

    def list(self, folder: RelativePath, *, after: str = "", count: int = 1000) -> FolderPage:
        """List one folder in order of names; nothing below it, nothing behind links."""
        with (
            _kernel_answers(folder),
            _closing_descriptor(open_beneath(self._root, folder, _FOLDER)) as inner,
        ):
            names = _list_names(inner)
            clean = [name for name in names if _is_clean(name)]
            page = heapq.nsmallest(count + 1, (name for name in clean if name > after))
            items = [item for name in page[:count] if (item := _read_item(inner, name))]
        return FolderPage(
            items=tuple(items),
            next=page[count - 1] if len(page) > count else None,
            unaddressable=len(names) - len(clean),
        )

    def measure_usage(self, *, most_names: int) -> tuple[int, int]:
        """Count the names (files and folders) and the bytes here; stops soon after so many names.

        Nothing behind a link is counted, and nothing that has a name nobody could ask for.
        """
        names = size = 0
        folders = [RelativePath("")]
        while folders and names <= most_names:
            folder = folders.pop()
            with (
                suppress(OSError),
                _closing_descriptor(open_beneath(self._root, folder, _FOLDER)) as inner,
            ):
                for item in [
                    item for name in _list_names(inner) if (item := _read_item(inner, name))
                ]:
                    names, size = names + 1, size + (item.size or 0)
                    if item.kind == "folder" and _is_clean(item.name):
                        with suppress(PathRefused):
                            folders.append(_join_path(folder, item.name))
        return names, size

    def close(self) -> None:
        if self._root >= 0:
            os.close(self._root)
            self._root = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@contextmanager
def _open_file(root: int, path: RelativePath) -> Generator[int]:
    with _kernel_answers(path):
        descriptor = open_beneath(root, path, os.O_RDONLY | os.O_NONBLOCK)
    with _closing_descriptor(descriptor):
        yield descriptor


@contextmanager
def _open_parent(root: int, path: RelativePath, *, make: bool) -> Generator[int]:
    """Open the folder a file lies in, step by step, making folders on the way when asked to."""
    current = os.dup(root)
    try:
        for name in path.parts[:-1]:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=current)
            current = step_into(current, name)
        parent = os.open(".", _FOLDER | os.O_CLOEXEC, dir_fd=current)
    finally:
        os.close(current)
    with _closing_descriptor(parent):
        yield parent


@contextmanager
def _closing_descriptor(descriptor: int) -> Generator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _replace_file(parent: int, name: str, content: bytes) -> None:
    temporary = TEMPORARY_PREFIX + secrets.token_hex(8)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o644, dir_fd=parent)
    try:
        with _closing_descriptor(descriptor):
            _write_all(descriptor, content)
            os.fsync(descriptor)
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=parent)
        raise
    os.fsync(parent)


def _write_all(descriptor: int, content: bytes) -> None:
    unwritten = memoryview(content)
    while unwritten:
        unwritten = unwritten[os.write(descriptor, unwritten[:_CHUNK]) :]


def _read_up_to(descriptor: int, count: int) -> bytes:
    chunks: list[bytes] = []
    while count > 0 and (chunk := os.read(descriptor, min(count, _CHUNK))):
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)


def _read_status(parent: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _check_file(status: os.stat_result, path: RelativePath) -> int:
    _check_regular(status, path)
    if status.st_nlink > 1:
        _refuse_file(FileProblem.HARD_LINKED, path, "has another name (a hard link)")
    return status.st_size


def _check_regular(status: os.stat_result, path: RelativePath) -> None:
    if stat.S_ISLNK(status.st_mode):
        _refuse_file(FileProblem.SYMLINK, path, "is a symlink")
    if stat.S_ISDIR(status.st_mode):
        _refuse_file(FileProblem.IS_FOLDER, path, "is a folder")
    if not stat.S_ISREG(status.st_mode) or status.st_dev in _kernel_devices():
        _refuse_file(FileProblem.NOT_REGULAR, path, "is not a regular file")


@cache
def _kernel_devices() -> frozenset[int]:
    """Find the file systems whose files are windows into the kernel, wherever they are mounted."""
    devices: set[int] = set()
    for place in ("/proc", "/sys"):
        with suppress(OSError):
            devices.add(os.stat(place).st_dev)  # noqa: PTH116 - a number is all we need
    return frozenset(devices)


def _join_path(folder: RelativePath, name: str) -> RelativePath:
    return RelativePath(f"{folder.text}/{name}" if folder.text else name)


def _list_names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [e.name for e in entries if not e.name.startswith(TEMPORARY_PREFIX)]


def _is_clean(name: str) -> bool:
    try:
        return RelativePath(name).text != ""
    except PathRefused:
        return False


def _read_item(folder: int, name: str) -> FolderItem | None:
    status = _read_status(folder, name)
    if status is None:
        return None
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "symlink"}
    kind = kinds.get(stat.S_IFMT(status.st_mode), "other")
    return FolderItem(name=name, kind=kind, size=status.st_size if kind == "file" else None)


@contextmanager
def _kernel_answers(path: RelativePath) -> Generator[None]:
    """Turn the kernel's error numbers into our errors."""
    try:
        yield
    except FileNotFoundError:
        raise _not_found(path) from None
    except OSError as error:
        _refuse_os_error(error, path)


def _refuse_os_error(error: OSError, path: RelativePath) -> NoReturn:
    if error.errno in {errno.ELOOP, errno.EXDEV, errno.ENOTDIR}:
        _refuse_file(
            FileProblem.SYMLINK, path, "leads through a symlink or something that is no folder"
        )
    if error.errno == errno.EISDIR:
        _refuse_file(FileProblem.IS_FOLDER, path, "is a folder")
    if error.errno in {errno.ENXIO, errno.ENODEV}:
        _refuse_file(FileProblem.NOT_REGULAR, path, "is not a regular file")
    _refuse_file(FileProblem.UNAVAILABLE, path, f"cannot be used: {os.strerror(error.errno or 0)}")


_NEXT_STEPS = {
    FileProblem.SYMLINK: "name the real file; symlinks are not followed here",
    FileProblem.NOT_REGULAR: "use ordinary files only",
    FileProblem.IS_FOLDER: "list the folder, or name a file in it",
    FileProblem.HARD_LINKED: "make a copy (cp) and use that",
    FileProblem.TOO_LARGE: "split it into smaller files",
    FileProblem.UNAVAILABLE: "check permissions and free space, then try again",
}


def _refuse_file(problem: FileProblem, path: RelativePath, said: str) -> NoReturn:
    raise FileRefused(problem, f"{quote(path.text)} {said}", next_step=_NEXT_STEPS[problem])


def _not_found(path: RelativePath) -> NotFound:
    return NotFound(f"there is no file {quote(path.text)}", next_step="list the folder it is in")
