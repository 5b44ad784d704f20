"""A folder of backups, each restorable on its own, that share what they have in common.

| path                    | what                                                                   |
|-------------------------|------------------------------------------------------------------------|
| `astra-backups.json`    | whose backups these are, and how they are encrypted                    |
| `pieces/NAME`           | up to 4 MiB of some file, named by its content                         |
| `backups/ID.manifest`   | one backup: every path, and the pieces it is made of                   |
| `lock`                  | held by whoever makes a backup here                                    |

A piece is never changed, and a manifest gets its name when every piece it names is on the disk. So
a backup that was interrupted leaves pieces that the next one uses, and harms none before it.
Nothing in the folder is followed or trusted: links and special files are refused, content is
compared with its name.

>>> ID.fullmatch("2026-11-17T134332.123456Z-0123456789abcdef") is not None
True
"""

import fcntl
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra.adapters.backups.manifest import (
    FORMAT,
    Entry,
    Manifest,
    damaged_backup,
    read_manifest,
    unknown_format,
)
from astra.adapters.backups.sealing import PlainSeal, Seal
from astra.adapters.backups.secrecy import Lock, Secrecy, Unlock
from astra.trusted.kernel.errors import BadInput, Conflict, NotFound

HEADER, PIECES, BACKUPS, LOCK = "astra-backups.json", "pieces", "backups", "lock"
PIECE_BYTES = 4 << 20
ID = re.compile(r"\d{4}-\d\d-\d\dT\d{6}\.\d{6}Z-[0-9a-f]{16}")
_END, _PARTIAL = ".manifest", ".partial-"
_LARGEST_HEADER, LARGEST_MANIFEST = 1 << 16, 1 << 30
LARGEST_PIECE = PIECE_BYTES + 64
"""A piece with what its encryption adds."""
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW


@dataclass
class BackupFolder:
    """An opened folder of backups."""

    path: Path
    root_id: str
    encrypted: bool
    seal: Seal
    _pieces: int
    _backups: int

    def list_ids(self) -> list[str]:
        """List the backups, oldest first."""
        return sorted(
            name.removesuffix(_END)
            for name in _list_names(self._backups)
            if name.endswith(_END) and ID.fullmatch(name.removesuffix(_END))
        )

    def find_id(self, backup_id: str = "") -> str:
        """Give the id of the newest backup, or of the one that is named."""
        ids = self.list_ids()
        if not ids or (backup_id and backup_id not in ids):
            raise NotFound(
                f"there is no backup {backup_id[:100]!a} in {self.path}"
                if ids
                else f"there is no complete backup in {self.path}",
                code="no_backup",
                next_step=f"astra backup list {self.path}",
            )
        return backup_id or ids[-1]

    def read_manifest(self, backup_id: str) -> Manifest:
        sealed = _read_file(self._backups, f"{backup_id}{_END}", LARGEST_MANIFEST)
        manifest = read_manifest(self.seal.open("manifest", sealed))
        if _build_id(manifest, sealed) != backup_id:
            raise damaged_backup(f"the manifest {backup_id} has other content than its name says")
        if manifest.root_id != self.root_id:
            raise damaged_backup(f"the manifest {backup_id} is that of another data root")
        return manifest

    def write_manifest(self, manifest: Manifest) -> str:
        """Complete a backup: from here on it counts. Every piece is on the disk before."""
        os.sync()
        sealed = self.seal.close("manifest", manifest.encode())
        backup_id = _build_id(manifest, sealed)
        _write_file(self._backups, f"{backup_id}{_END}", sealed, sync=True)
        return backup_id

    def read_piece(self, name: str) -> bytes:
        sealed = _read_file(self._pieces, name, LARGEST_PIECE)
        content = self.seal.open(f"piece {name}", sealed)
        if self.seal.name_content(content) != name:
            raise damaged_backup(f"the piece {name} has other content than its name says")
        return content

    def write_piece(self, content: bytes) -> tuple[str, bool]:
        """Keep a piece unless it is there as it should be; give its name, and whether it is new."""
        name = self.seal.name_content(content)
        with suppress(BadInput):  # missing or damaged: it is written
            if self.read_piece(name) == content:
                return name, False
        _write_file(self._pieces, name, self.seal.close(f"piece {name}", content))
        return name, True

    def read_content(self, entry: Entry) -> Iterator[bytes]:
        """Give a file of a backup, piece by piece, and compare it with its digest at the end."""
        digest = hashlib.sha256()
        for name in entry.pieces:
            content = self.read_piece(name)
            digest.update(content)
            yield content
        if digest.hexdigest() != entry.sha256:
            raise damaged_backup(f"{entry.path[:100]!a} has other content")

    def count_bytes(self) -> int:
        with os.scandir(self._pieces) as pieces:
            return sum(piece.stat(follow_symlinks=False).st_size for piece in pieces)


@contextmanager
def open_folder(path: Path, unlock: Unlock) -> Generator[BackupFolder]:
    """Open a folder of backups to read it."""
    with _open_descriptor(path) as base:
        header = _read_header(base, path)
        with _open_parts(base) as (pieces, backups):
            yield _build_folder(path, header, _open_seal(header, unlock), pieces, backups)


@contextmanager
def open_to_write(path: Path, *, root_id: str, secrecy: Secrecy) -> Generator[BackupFolder]:
    """Open a folder of this data root's backups to add one; makes it where there is none."""
    path.mkdir(mode=0o700, exist_ok=True)
    with _open_descriptor(path) as base:
        seal = _make_header(base, path, root_id=root_id, lock=secrecy.lock)
        header = _read_header(base, path)
        _refuse_other_folder(path, header, root_id=root_id, encrypt=secrecy.lock is not None)
        for name in (PIECES, BACKUPS):
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=base)
        with _hold_lock(base, path), _open_parts(base) as (pieces, backups):
            for part in (base, pieces, backups):
                _remove_partial_files(part)
            seal = seal or _open_seal(header, secrecy.unlock)
            yield _build_folder(path, header, seal, pieces, backups)


def is_backup_folder(path: Path) -> bool:
    return os.path.lexists(path / HEADER)


def refuse_foreign_folder(path: Path) -> None:
    """Refuse to put backups into a folder that holds something else."""
    if not os.path.lexists(path) or is_backup_folder(path):
        return
    if not path.is_dir() or any(not name.startswith(_PARTIAL) for name in _list_names(path)):
        raise BadInput(
            f"{path} is there already, and is no folder of backups",
            code="not_a_backup_folder",
            next_step="name a new folder, an empty one, or one that `astra backup` made",
        )


def _build_folder(
    path: Path, header: dict[str, Any], seal: Seal, pieces: int, backups: int
) -> BackupFolder:
    return BackupFolder(
        path=path,
        root_id=header["root_id"],
        encrypted=header["encryption"] is not None,
        seal=seal,
        _pieces=pieces,
        _backups=backups,
    )


def _build_id(manifest: Manifest, sealed: bytes) -> str:
    time = manifest.made_at.replace(":", "")
    return f"{time}-{hashlib.sha256(sealed).hexdigest()[:16]}"


def _make_header(base: int, path: Path, *, root_id: str, lock: Lock | None) -> Seal | None:
    """Write the header of a new folder; gives its key where that was just made."""
    if is_backup_folder(path):
        return None
    refuse_foreign_folder(path)
    header: dict[str, Any] = {
        "format": FORMAT,
        "root_id": root_id,
        "folder": secrets.token_hex(16),
        "encryption": None,
    }
    seal: Seal | None = None
    if lock:
        del header["encryption"]
        seal, header["encryption"] = lock(header.copy())
    _write_file(base, HEADER, json.dumps(header, indent=1).encode(), sync=True)
    return seal


def _read_header(base: int, path: Path) -> dict[str, Any]:
    try:
        header: Any = json.loads(_read_file(base, HEADER, _LARGEST_HEADER))
        if header["format"] != FORMAT:
            raise unknown_format("a later one")
        sound = isinstance(header["root_id"], str) and isinstance(header["folder"], str)
        sound = sound and isinstance(header["encryption"], dict | None)
    except (ValueError, TypeError, KeyError, RecursionError):
        sound, header = False, {}
    if not sound:
        raise damaged_backup(f"{path / HEADER} cannot be read")
    return header


def _open_seal(header: dict[str, Any], unlock: Unlock) -> Seal:
    return PlainSeal() if header["encryption"] is None else unlock(header)


def _refuse_other_folder(
    path: Path, header: dict[str, Any], *, root_id: str, encrypt: bool
) -> None:
    if header["root_id"] != root_id:
        raise BadInput(
            f"{path} holds the backups of another data root",
            code="other_backup_folder",
            next_step="name another folder",
        )
    if encrypt and header["encryption"] is None:
        raise BadInput(
            f"{path} holds backups that are not encrypted",
            code="backup_not_encrypted",
            next_step="name another folder; what is in this one stays readable for its owner",
        )


@contextmanager
def _open_descriptor(path: Path) -> Generator[int]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(
            f"there is no folder of backups at {path}",
            code="not_a_backup_folder",
            next_step="name the one to read",
        ) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _open_parts(base: int) -> Generator[tuple[int, int]]:
    with ExitStack() as stack:
        pieces, backups = (_open_part(base, name, stack) for name in (PIECES, BACKUPS))
        yield pieces, backups


def _open_part(base: int, name: str, stack: ExitStack) -> int:
    try:
        descriptor = os.open(name, _FOLDER, dir_fd=base)
    except FileNotFoundError:
        raise damaged_backup(f"its folder {name!a} is missing") from None
    except OSError:
        raise damaged_backup(f"{name!a} in it is no folder, or a symbolic link") from None
    stack.callback(os.close, descriptor)
    return descriptor


@contextmanager
def _hold_lock(base: int, path: Path) -> Generator[None]:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(LOCK, flags, 0o600, dir_fd=base)
    try:
        _take_lock(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _take_lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Conflict(
            f"another backup is being made in {path}",
            code="backup_in_progress",
            next_step="wait for it to end",
        ) from None


def _remove_partial_files(folder: int) -> None:
    """Remove what an interrupted backup left unfinished; only the holder of the lock does."""
    for name in _list_names(folder):
        if name.startswith(_PARTIAL):
            os.unlink(name, dir_fd=folder)


def _list_names(folder: int | Path) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _read_file(folder: int, name: str, limit: int) -> bytes:
    """Read a plain file of at most so many bytes, through no link."""
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except FileNotFoundError:
        raise damaged_backup(f"{name[:100]!a} is missing") from None
    except OSError as error:
        raise damaged_backup(f"{name[:100]!a} cannot be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > limit:
            raise damaged_backup(f"{name[:100]!a} is no plain file of the size that it should have")
        return file.read(limit)


def _write_file(folder: int, name: str, content: bytes, *, sync: bool = False) -> None:
    """Write a file whole or not at all, and never through a link."""
    draft = f"{_PARTIAL}{secrets.token_hex(8)}"
    descriptor = os.open(draft, _CREATE, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if sync:
                os.fsync(descriptor)
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:  # raised again; no draft stays behind
        with suppress(OSError):  # the error that is on its way says more
            os.unlink(draft, dir_fd=folder)
        raise
    if sync:
        os.fsync(folder)
