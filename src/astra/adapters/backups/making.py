"""`astra backup`: a copy of a data root that is one state, made while the daemon goes on.

The chain only grows, so its lines up to a checkpoint are one state whenever they are read. They are
read first; files and commits that records name were there before the record was, and are copied
after. What can be made again is left out: the index, locks, sockets, the job database, logs. Of the
trusted repository every ref is read first, then every object: git only adds those.

A backup goes into a folder of backups, which takes only what is not in it yet, and is checked
before it gets its name: each piece that was there is compared, each new one is read back, the chain
is verified. An archive is such a folder with one backup, in one file.

The operator's key lies outside the data root and is not in it. The daemon's own keys and `.env`
are, without which the copy could not go on: a backup is as secret as the data root itself, and only
its owner may read it, unless it is encrypted.
"""

import hashlib
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO

from astra import __version__
from astra.adapters.backups import archives
from astra.adapters.backups.checking import check_chain, check_pieces, refuse_damaged_chain
from astra.adapters.backups.folder import (
    PIECE_BYTES,
    BackupFolder,
    open_to_write,
    refuse_foreign_folder,
)
from astra.adapters.backups.manifest import Entry, Manifest
from astra.adapters.backups.reading import FULL
from astra.adapters.backups.secrecy import NOT_ENCRYPTED, Secrecy
from astra.adapters.release_folders import DiskFull
from astra.trusted.file_ledger import archived, checkpoints, segments
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.file_ledger.stored import ChainFiles
from astra.trusted.files.data_root import DataRoot
from astra.trusted.git.git_command import GitCommand, run_git
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import AstraError, BadInput, Conflict, LedgerDamaged
from astra.trusted.ledger import stored
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.segments import Segment
from astra.trusted.ledger.stored import StoredChain

_LEFT_OUT = frozenset(
    {
        *(
            "logs",
            "var/run",
            "var/index",
            "var/jobs",
            "var/search",
            "var/witness",
            "var/restored.json",
            "var/chain.json",
            "var/ledger-before-move",
        ),
        *("var/reserve", "var/reserve-inodes", "var/ledger", "var/checkpoints", "var/git"),
    }
)
_GIT_OBJECT = re.compile(
    r"[0-9a-f]{2}/[0-9a-f]{38,62}|pack/pack-[0-9a-f]{40,64}\.(pack|idx|rev|keep|bitmap|mtimes)"
)
_BORROWING = ("objects/info/alternates", "objects/info/http-alternates")
_LONGEST_PATH, _DEEPEST = 3072, 200
"""Beyond these a path could be made by an agent, step by step, and not be put in place again."""
_WAIT_SECONDS, _GIT_SECONDS = 2.0, 3600.0
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW


@dataclass(frozen=True, kw_only=True)
class Made:
    manifest: Manifest
    backup_id: str
    size: int
    """How many bytes its files hold together."""
    new_bytes: int
    """How many of them were not in the folder yet."""
    encrypted: bool
    left_out: tuple[str, ...] = ()
    """Paths that are too long or too deep to be put in place again."""


def make_backup(
    root: DataRoot,
    to: Path,
    clock: Clock,
    stored_chain: StoredChain | None = None,
    *,
    secrecy: Secrecy = NOT_ENCRYPTED,
) -> Made:
    """Add a backup to a folder of backups, or write an archive where the name ends like one.

    The chain in it is in files, also where it is in a database (`stored_chain`).
    """
    root_id = str(root.require_first_record().data["root_id"])
    _refuse_place(root, to)

    def add_to(folder_path: Path) -> Made:
        with open_to_write(folder_path, root_id=root_id, secrecy=secrecy) as folder:
            return _add_backup(_Copying(folder=folder), root, root_id, clock, stored_chain)

    with _explain_full_disk(to):
        return _write_archive(to, add_to) if archives.archive_mode(to) else add_to(to)


def _refuse_place(root: DataRoot, to: Path) -> None:
    if archives.archive_mode(to) and os.path.lexists(to):
        raise BadInput(f"{to} is there already", next_step="name a new file or folder")
    if not to.parent.is_dir():
        raise BadInput(f"there is no folder {to.parent}", next_step="make it first")
    if to.resolve().is_relative_to(root.path.resolve()):
        raise BadInput(
            "a backup inside the data root is lost with it", next_step="name a place elsewhere"
        )
    refuse_foreign_folder(to)


@contextmanager
def _explain_full_disk(to: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise AstraError(
                f"the backup could not be made: {error.strerror}: {error.filename!a}",
                code="backup_failed",
                next_step=f"look at {to}; backups that were there before are as they were",
            ) from None
        raise DiskFull(
            f"the disk of {to} is full: this backup was not completed, earlier ones are whole",
            next_step="free some space there and run it again, or name a folder on another disk",
        ) from None


def _write_archive(to: Path, add_to: Callable[[Path], Made]) -> Made:
    partial = to.with_name(f".{to.name}.{secrets.token_hex(4)}.partial")
    try:
        backup = add_to(partial)
        archives.pack(partial, to)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return backup


def _add_backup(
    copying: "_Copying",
    root: DataRoot,
    root_id: str,
    clock: Clock,
    stored_chain: StoredChain | None,
) -> Made:
    """Copy what there is, check it, and only then give it its name."""
    point = _await_checkpoint(root, stored_chain)
    _copy_chain(copying, root, point, stored_chain)
    _copy_rest(copying, root.path)
    _copy_repository(copying, root.git)
    folder, entries = copying.folder, tuple(sorted(copying.entries, key=lambda entry: entry.path))
    check_pieces(folder, copying.new_pieces)
    report = check_chain(folder, entries)
    refuse_damaged_chain(report, next_step="astra ledger verify")
    manifest = Manifest(
        version=__version__,
        root_id=root_id,
        made_at=format_time(clock.now()),
        sequence=report.records,
        hash=report.head,
        entries=entries,
    )
    backup_id = folder.write_manifest(manifest)
    folder.read_manifest(backup_id)
    return Made(
        manifest=manifest,
        backup_id=backup_id,
        size=copying.size,
        new_bytes=copying.new_bytes,
        encrypted=folder.encrypted,
        left_out=tuple(copying.left_out),
    )


@dataclass
class _Copying:
    """What has been copied into a folder so far."""

    folder: BackupFolder
    entries: list[Entry] = field(default_factory=list[Entry])
    new_pieces: list[str] = field(default_factory=list[str])
    left_out: list[str] = field(default_factory=list[str])
    size: int = 0
    new_bytes: int = 0

    def add_folder(self, path: str) -> None:
        self.entries.append(Entry(path=path, kind="folder", mode=0o700, owner=_read_own_ids()))

    def add_file(self, path: str, pieces: Iterable[bytes], facts: Entry | None = None) -> None:
        digest, names = hashlib.sha256(), list[str]()
        for content in pieces:
            digest.update(content)
            names.append(self._add_piece(content))
        facts = facts or Entry(path=path, kind="file", mode=0o600, owner=_read_own_ids())
        entry = replace(facts, sha256=digest.hexdigest(), pieces=tuple(names))
        self.entries.append(entry)

    def _add_piece(self, content: bytes) -> str:
        name, is_new = self.folder.write_piece(content)
        self.size += len(content)
        if is_new:
            self.new_pieces.append(name)
            self.new_bytes += len(content)
        return name


def _read_own_ids() -> tuple[int, int]:
    return os.geteuid(), os.getegid()


def _split_file(file: IO[bytes]) -> Iterator[bytes]:
    while content := file.read(PIECE_BYTES):
        yield content


def _join_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Give lines in pieces that are cut at the same places whenever more lines follow."""
    buffer = bytearray()
    for raw in lines:
        buffer += raw
        while len(buffer) >= PIECE_BYTES:
            yield bytes(buffer[:PIECE_BYTES])
            del buffer[:PIECE_BYTES]
    if buffer:
        yield bytes(buffer)


def _await_checkpoint(root: DataRoot, stored_chain: StoredChain | None) -> Checkpoint:
    """Give a checkpoint that covers what is there now; a daemon signs one within a second."""
    places = LedgerPlaces(root.var)
    head = (stored_chain or ChainFiles(places.chain)).read_end()
    deadline = time.monotonic() + _WAIT_SECONDS
    point = checkpoints.newest(places.checkpoints)
    while (point is None or point.sequence < head.sequence) and time.monotonic() < deadline:
        time.sleep(0.05)
        point = checkpoints.newest(places.checkpoints)
    if point is None:
        raise LedgerDamaged(
            "this chain has no checkpoint: whether records were cut off cannot be told",
            code="no_checkpoint",
            next_step="astra ledger verify",
        )
    return point


def _copy_chain(
    copying: _Copying, root: DataRoot, point: Checkpoint, stored_chain: StoredChain | None
) -> None:
    """Copy the records up to a checkpoint, and the checkpoints up to it."""
    places = LedgerPlaces(root.var)
    copying.add_folder("var/ledger")
    if stored_chain is not None:
        lines = islice(stored_chain.read_lines(), point.sequence)
        for name, raw_lines in stored.group_by_segment(lines):
            copying.add_file(f"var/ledger/{name}", _join_lines(raw_lines))
    else:
        for segment in segments.segments(places.chain):
            _copy_segment(copying, places.chain, segment, point.sequence)
    copying.add_folder("var/checkpoints")
    with places.checkpoints.open("rb") as file:
        points = _read_through(file, f"{point.as_line()}\n".encode())
        copying.add_file(f"var/checkpoints/{places.checkpoints.name}", _join_lines(points))


def _copy_segment(copying: _Copying, chain: Path, segment: Segment, last: int) -> None:
    plain = chain / segment.name
    if not segment.compressed:
        with suppress(FileNotFoundError), plain.open("rb") as file:  # it may be compressed by now
            copying.add_file(f"var/ledger/{plain.name}", _join_lines(_read_until(file, last)))
            return
    name, packed = archived.open_whole_file(chain, segment.month)
    with packed:
        copying.add_file(f"var/ledger/{name}", _split_file(packed))


def _read_until(lines: Iterable[bytes], last: int) -> Iterator[bytes]:
    for raw in lines:
        if not raw.endswith(b"\n") or segments.sequence_of(raw) > last:
            return
        yield raw


def _read_through(lines: Iterable[bytes], last: bytes) -> Iterator[bytes]:
    for raw in lines:
        yield raw
        if raw == last:
            return


def _copy_rest(copying: _Copying, source: Path) -> None:
    """Copy what else there is, through descriptors: the agent may move its folders meanwhile."""
    copied_folders: set[str] = set()
    for folder, folders, files, descriptor in os.fwalk(source, follow_symlinks=False):
        below = os.path.relpath(folder, source)
        base = "" if below == "." else f"{below}/"
        for name in (*folders, *files):
            path = base + name
            if _is_too_long(path):
                copying.left_out.append(path)
            elif path not in _LEFT_OUT:
                with suppress(FileNotFoundError):  # it went away meanwhile
                    if _copy_one(copying, path, name, descriptor) == "folder":
                        copied_folders.add(path)
        folders[:] = [name for name in folders if base + name in copied_folders]


def _is_too_long(path: str) -> bool:
    return len(os.fsencode(path)) > _LONGEST_PATH or path.count("/") > _DEEPEST


def _copy_one(copying: _Copying, path: str, name: str, descriptor: int) -> str:
    """Copy a file, a link or the name of a folder, and say which it was."""
    facts = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    mode, owner = stat.S_IMODE(facts.st_mode), (facts.st_uid, facts.st_gid)
    if stat.S_ISLNK(facts.st_mode):
        target = os.readlink(name, dir_fd=descriptor)
        copying.entries.append(Entry(path=path, kind="link", owner=owner, target=target))
        return "link"
    if stat.S_ISDIR(facts.st_mode):
        copying.entries.append(Entry(path=path, kind="folder", mode=mode, owner=owner))
        return "folder"
    if not stat.S_ISREG(facts.st_mode):
        return ""
    with os.fdopen(os.open(name, _READ, dir_fd=descriptor), "rb") as file:
        entry = Entry(path=path, kind="file", mode=mode, owner=owner)
        copying.add_file(path, _split_file(file), entry)
    return "file"


def _copy_repository(copying: _Copying, repository: Path) -> None:
    """Copy a bare repository: refs as they are now, then every object, which git only adds."""
    for name in _BORROWING:
        if os.path.lexists(repository / name):
            raise BadInput(
                f"the trusted repository has alternates ({name}): a backup would not be complete",
                next_step="git repack -a -d there, remove that file, and run it again",
            )
    refs = _ask_git(repository, "for-each-ref", "--format=%(objectname) %(refname)")
    head = _ask_git(repository, "symbolic-ref", "HEAD")
    object_format = _ask_git(repository, "rev-parse", "--show-object-format")
    for name in ("", "/refs", "/objects"):
        copying.add_folder(f"var/git{name}")
    for name, content in (
        ("HEAD", b"ref: " + head),
        ("packed-refs", refs),
        ("config", _build_git_config(object_format.strip().decode())),
    ):
        copying.add_file(f"var/git/{name}", [content])
    _copy_git_objects(copying, repository / "objects")


def _copy_git_objects(copying: _Copying, objects: Path) -> None:
    for folder in sorted(path for path in objects.iterdir() if path.is_dir()):
        paths = [
            path
            for path in sorted(folder.iterdir())
            if _GIT_OBJECT.fullmatch(f"{folder.name}/{path.name}")
        ]
        if paths:
            copying.add_folder(f"var/git/objects/{folder.name}")
        for path in paths:
            try:
                with path.open("rb") as file:
                    name = f"var/git/objects/{folder.name}/{path.name}"
                    copying.add_file(name, _split_file(file))
            except FileNotFoundError:
                raise Conflict(
                    "the trusted repository was repacked while it was copied",
                    code="backup_repacked",
                    next_step="run it again",
                ) from None


def _ask_git(repository: Path, *arguments: str) -> bytes:
    command = GitCommand(repository=repository, arguments=arguments, timeout=_GIT_SECONDS)
    return run_git(command).output


def _build_git_config(object_format: str) -> bytes:
    if object_format == "sha1":
        return b"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
    return (
        "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = true\n"
        f"[extensions]\n\tobjectformat = {object_format}\n"
    ).encode()
