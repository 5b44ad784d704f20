"""Opening a backup to put it in place or to check it, whichever form it has.

A folder of backups, or one in an archive, is what `astra backup` makes now. Before, a backup was a
manifest beside a folder `data` with each file under its own path, as a folder or an archive; those
are read as well. Nothing that lies in a backup is followed or trusted.
"""

import errno
import hashlib
import os
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from astra.adapters.backups import archives, folder
from astra.adapters.backups.folder import LARGEST_MANIFEST, BackupFolder, open_folder
from astra.adapters.backups.manifest import (
    FILES_BY_PATH,
    Entry,
    Manifest,
    damaged_backup,
    read_manifest,
)
from astra.adapters.backups.secrecy import Unlock
from astra.adapters.release_folders import DiskFull
from astra.trusted.kernel.errors import BadInput

OLD_NAME, OLD_TREE = "manifest.json", "data"
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_BLOCK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Backup:
    """One backup, opened: what it holds, and how to read a file of it."""

    manifest: Manifest
    read: Callable[[Entry], Iterator[bytes]]
    """Gives a file's content, and raises at its end where it is not what the manifest says."""


@contextmanager
def open_backup(
    path: Path, unlock: Unlock, backup_id: str = "", *, unpack_to: Path | None = None
) -> Generator[Backup]:
    """Open the newest backup of a folder or an archive, or the one that is named."""
    with ExitStack() as stack:
        if old_source := _find_old_backup(path, stack):
            yield _open_old_backup(old_source)
            return
        backup_folder = stack.enter_context(open_any_folder(path, unlock, unpack_to=unpack_to))
        manifest = backup_folder.read_manifest(backup_folder.find_id(backup_id))
        yield Backup(manifest=manifest, read=backup_folder.read_content)


@contextmanager
def open_any_folder(
    path: Path, unlock: Unlock, *, unpack_to: Path | None = None
) -> Generator[BackupFolder]:
    """Open a folder of backups; one in an archive is unpacked first, for as long as it is open."""
    if not os.path.lexists(path):
        raise BadInput(f"there is no backup at {path}", next_step="name one that is there")
    with ExitStack() as stack:
        place = path
        if archives.archive_mode(path) and path.is_file():
            unpacking = tempfile.TemporaryDirectory(prefix=".astra-backup-", dir=unpack_to)
            place = Path(stack.enter_context(unpacking))
            with _explain_archive():
                archives.unpack(path, place)
        elif not folder.is_backup_folder(path):
            raise BadInput(f"{path} is no backup", next_step="make one with `astra backup`")
        yield stack.enter_context(open_folder(place, unlock))


@contextmanager
def _explain_archive() -> Generator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise DiskFull(
                "the disk is full: the archive could not be unpacked to be checked",
                next_step="free some space, or name a folder on another disk in TMPDIR",
            ) from None
        raise damaged_backup(f"it cannot be read: {error}") from None


@dataclass(frozen=True, kw_only=True)
class _OldSource:
    """A backup of format 1, as a folder or an archive."""

    names: frozenset[str]
    """Every plain file in it."""
    open: Callable[[str], IO[bytes]]


def _find_old_backup(path: Path, stack: ExitStack) -> _OldSource | None:
    if archives.archive_mode(path) and path.is_file():
        with _explain_archive():
            if not archives.holds_name(path, OLD_NAME):
                return None
            return _source_from_archive(stack.enter_context(tarfile.open(path, "r:*")))
    if folder.is_backup_folder(path) or not os.path.lexists(path / OLD_NAME):
        return None
    return _source_from_folder(path)


def _open_old_backup(source: _OldSource) -> Backup:
    with source.open(OLD_NAME) as file:
        manifest = read_manifest(file.read(LARGEST_MANIFEST), expected_format=FILES_BY_PATH)
    _refuse_other_files(source, manifest)

    def read(entry: Entry) -> Iterator[bytes]:
        digest = hashlib.sha256()
        with source.open(f"{OLD_TREE}/{entry.path}") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                yield block
        if digest.hexdigest() != entry.sha256:
            raise damaged_backup(f"{entry.path[:100]!a} has other content")

    return Backup(manifest=manifest, read=read)


def _source_from_folder(backup: Path) -> _OldSource:
    names = frozenset(
        path.relative_to(backup).as_posix()
        for path in backup.rglob("*")
        if path.is_symlink() or not path.is_dir()
    )

    def read(name: str) -> IO[bytes]:
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            return os.fdopen(os.open(backup / name, flags), "rb")
        except OSError as error:
            raise damaged_backup(f"{name[:100]!a} cannot be read: {error.strerror}") from None

    return _OldSource(names=names, open=read)


def _source_from_archive(archive: tarfile.TarFile) -> _OldSource:
    members = {member.name: member for member in archive if not member.isdir()}
    if not all(member.isreg() for member in members.values()):
        raise damaged_backup("it holds more than folders and plain files")

    def read(name: str) -> IO[bytes]:
        file = archive.extractfile(members[name])
        if file is None:
            raise damaged_backup(f"{name[:100]!a} cannot be read")
        return file

    return _OldSource(names=frozenset(members), open=read)


def _refuse_other_files(source: _OldSource, manifest: Manifest) -> None:
    expected_names = {f"{OLD_TREE}/{entry.path}" for entry in manifest.files}
    present = source.names - {OLD_NAME}
    if missing_names := sorted(expected_names - present):
        raise damaged_backup(f"{missing_names[0][:100]!a} is missing")
    if added := sorted(present - expected_names):
        raise damaged_backup(f"{added[0][:100]!a} is not in its manifest")
