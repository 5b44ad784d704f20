"""The files of a release: written from raw git blobs, sealed, and named by one digest.

Secret files are left out, but for those that the operator signed for the app. Nothing else of the
tree is interpreted: no attribute, filter, hook or submodule. Files are made first
and links last, so that nothing is ever written through a link; a name that is unsafe on a disk, or
that comes twice, refuses the whole tree. Host code never follows a link in a release.
"""

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from astra.trusted.changes.files import EXECUTABLE, LINK, SUBMODULE
from astra.trusted.git.git_batch import CHECKED_OUT, ObjectReader, refuse_borrowed_objects
from astra.trusted.git.tree_reader import (
    TreeFile,
    TreeReader,
    UnsafePath,
    refuse_unsafe,
)
from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.paths import quote

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_AT_ONCE = 200
_CHUNK = 1 << 20
MOST_FILES = 200_000


class BadTree(Refused):
    code = "bad_tree"


def write_tree(
    repository: Path, commit: str, folder: Path, *, is_withheld: Callable[[str], bool]
) -> None:
    """Write the files of a commit into a new folder, but for those that are withheld."""
    entries = [entry for entry in _list_entries(repository, commit) if not is_withheld(entry.path)]
    folder.mkdir(mode=0o755)
    links = [entry for entry in entries if entry.mode == LINK]
    files = [entry for entry in entries if entry.mode != LINK]
    for entry, data in (*_read_contents(repository, files), *_read_contents(repository, links)):
        _write_entry(folder, entry, data)


def list_paths(repository: Path, commit: str) -> list[str]:
    """List the files of a commit."""
    return [entry.path for entry in _list_entries(repository, commit)]


def _list_entries(repository: Path, commit: str) -> list[TreeFile]:
    if not _COMMIT.fullmatch(commit):
        raise BadTree(f"{commit!a} is no commit id", next_step="give the whole id")
    refuse_borrowed_objects(repository)
    entries = TreeReader(repository=repository).list_files(commit)
    for entry in entries:
        _refuse_undeployable(entry)
    return entries


def tree_digest(folder: Path) -> str:
    """Name a tree by what is in it: every path, its kind, whether it runs, and its content."""
    digest = hashlib.sha256()
    for path, facts in _walk_tree(folder):
        digest.update(_render_line(folder, path, facts))
    return digest.hexdigest()


def different_files(old: Path, new: Path) -> dict[str, tuple[bytes | None, bytes | None]]:
    """Give both contents of every file that two trees do not share; a side may be missing.

    A file that became a program, or a link, differs as well, and has no content on that side.
    """
    lines = [
        {
            str(path.relative_to(tree)): _render_line(tree, path, facts)
            for path, facts in _walk_tree(tree)
        }
        for tree in (old, new)
    ]
    names = {name for name in {*lines[0], *lines[1]} if lines[0].get(name) != lines[1].get(name)}
    return {name: (_plain_content(old / name), _plain_content(new / name)) for name in names}


def _plain_content(path: Path) -> bytes | None:
    if path.is_symlink() or not path.is_file() or path.stat().st_mode & 0o100:
        return None
    return read_plain(path)


def read_plain(path: Path) -> bytes:
    """Read a file that is no link."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        return file.read()


def write_plain(path: Path, content: bytes) -> None:
    """Write a new file in place of whatever has its name, and never through a link."""
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o644), "wb") as file:
        file.write(content)


def measure(folder: Path) -> tuple[int, int]:
    """Count files and bytes; refuses what a release may not hold."""
    files = size = 0
    for _path, facts in _walk_tree(folder):
        files += not stat.S_ISDIR(facts.st_mode)
        size += facts.st_size if stat.S_ISREG(facts.st_mode) else 0
    return files, size


def seal(folder: Path) -> None:
    """Take away every right to write, from the inside out, and make it Astra's own."""
    for path, facts in reversed(list(_walk_tree(folder))):
        _take_ownership(path)
        if not stat.S_ISLNK(facts.st_mode):
            runs = stat.S_ISDIR(facts.st_mode) or facts.st_mode & 0o100
            path.chmod(0o555 if runs else 0o444)
            _sync_path(path)
    _take_ownership(folder)
    folder.chmod(0o555)
    _sync_path(folder)


def remove_tree(folder: Path) -> None:
    """Remove a sealed folder."""
    if not os.path.lexists(folder):
        return
    for place, names, _files in os.walk(folder):
        for name in names:
            if not (inner := Path(place, name)).is_symlink():
                inner.chmod(0o755)
        Path(place).chmod(0o755)
    shutil.rmtree(folder)


def link_tree(source: Path, target: Path) -> None:
    """Copy a sealed tree by giving its files a second name; costs names, not bytes."""
    partial = target.with_name(f".{target.name}.partial")
    remove_tree(partial)
    shutil.copytree(source, partial, symlinks=True, copy_function=os.link)
    partial.rename(target)


def _refuse_undeployable(entry: TreeFile) -> None:
    if entry.mode == SUBMODULE:
        raise BadTree(
            f"{quote(entry.path)} is not a file: submodules are not deployed",
            next_step="put the files themselves into the repository",
        )
    try:
        refuse_unsafe(entry)
    except UnsafePath as error:
        raise BadTree(error.detail, next_step="rename that file") from None


def _read_contents(
    repository: Path, entries: Sequence[TreeFile]
) -> Iterator[tuple[TreeFile, bytes]]:
    reader = ObjectReader(repository, largest=CHECKED_OUT, timeout=120.0)
    try:
        for start in range(0, len(entries), _AT_ONCE):
            some = entries[start : start + _AT_ONCE]
            for entry, blob in zip(some, reader.read_many([one.oid for one in some]), strict=True):
                if blob is None:
                    raise BadTree(
                        f"the content of {quote(entry.path)} is missing", next_step="astra doctor"
                    )
                yield entry, blob.data
    finally:
        reader.close()


def _write_entry(folder: Path, entry: TreeFile, data: bytes) -> None:
    path = folder / os.fsdecode(entry.raw_path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.mode == LINK:
            path.symlink_to(os.fsdecode(data))
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        mode = 0o755 if entry.mode == EXECUTABLE else 0o644
        with os.fdopen(os.open(path, flags, mode), "wb") as file:
            file.write(data)
    except (FileExistsError, NotADirectoryError):
        raise BadTree(
            f"the tree has {quote(entry.path)} twice", next_step="make the commit again"
        ) from None


def _walk_tree(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Give everything below a folder in one order, following no link."""
    count = 0
    for place, folders, files in os.walk(folder, onerror=_raise_error):
        folders.sort()
        for name in sorted([*folders, *files]):
            path = Path(place, name)
            facts = path.lstat()
            kind = stat.S_IFMT(facts.st_mode)
            count += 1
            if kind not in {stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK} or count > MOST_FILES:
                raise BadTree(
                    f"{quote(str(path.relative_to(folder)))} is no plain file, or one too many",
                    next_step="have the build leave files, folders and links only",
                )
            yield path, facts


def _raise_error(error: OSError) -> None:
    raise error


def _render_line(folder: Path, path: Path, facts: os.stat_result) -> bytes:
    name = os.fsencode(path.relative_to(folder))
    if stat.S_ISDIR(facts.st_mode):
        kind, content = b"folder", b""
    elif stat.S_ISLNK(facts.st_mode):
        kind, content = b"link", os.fsencode(path.readlink())
    else:
        kind = b"program" if facts.st_mode & 0o100 else b"file"
        content = _file_digest(path)
    return b"%s %d:%s %d:%s\n" % (kind, len(name), name, len(content), content)


def _file_digest(path: Path) -> bytes:
    digest = hashlib.sha256()
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        while data := file.read(_CHUNK):
            digest.update(data)
    return digest.hexdigest().encode()


def _take_ownership(path: Path) -> None:
    """Take a file back from the user of the boxes, who may have built it."""
    if os.geteuid() == 0:
        os.chown(path, 0, 0, follow_symlinks=False)


def _sync_path(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
