"""`astra backup`: a copy of a data root that is one state, made while the daemon goes on.

The chain only grows, so its lines up to a checkpoint are one state whenever they are read. They are
read first; files and commits that records name were there before the record was, and are copied
after. What can be made again is left out: the index, locks, sockets, the job database, logs. The
trusted repository is cloned with every ref.

The operator's key lies outside the data root and is not in it. The daemon's own keys and `.env`
are, without which the copy could not go on: a backup is as secret as the data root itself, and only
its owner may read it.
"""

import hashlib
import os
import secrets
import shutil
import stat
import tarfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from astra import __version__
from astra.adapters.backups.manifest import NAME, TREE, Entry, Manifest
from astra.trusted.file_ledger import LedgerPlaces, checkpoints, opening, segments
from astra.trusted.files.data_root import DataRoot
from astra.trusted.git.git_command import GitCommand, run_git, upload_pack_option
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import BadInput, LedgerDamaged
from astra.trusted.ledger.checkpoint import Checkpoint

_LEFT_OUT = frozenset(
    {
        *("logs", "var/run", "var/index", "var/jobs", "var/witness", "var/restored.json"),
        *("var/reserve", "var/reserve-inodes", "var/ledger", "var/checkpoints", "var/git"),
    }
)
_TARS = {".tar": "w", ".tar.gz": "w:gz", ".tgz": "w:gz"}
_BLOCK = 1 << 20
_WAIT_SECONDS, _GIT_SECONDS = 2.0, 3600.0
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW


def make_backup(root: DataRoot, to: Path, clock: Clock) -> Manifest:
    """Write a backup to a folder, or to an archive where the name ends like one."""
    created = root.require()
    _refuse_place(root, to)
    partial = to.with_name(f".{to.name}.{secrets.token_hex(4)}.partial")
    tree = partial / TREE
    tree.mkdir(parents=True, mode=0o700)
    partial.chmod(0o700)
    try:
        point = _settled(root)
        last = _copy_chain(root, tree, point)
        entries = [*_copy_rest(root.path, tree)]
        _clone(root.git, tree / "var" / "git")
        entries += _describe(tree, {entry.path for entry in entries})
        manifest = Manifest(
            version=__version__,
            root_id=str(created.data["root_id"]),
            made_at=format_time(clock.now()),
            sequence=last[0],
            hash=last[1],
            entries=tuple(sorted(entries, key=lambda entry: entry.path)),
        )
        (partial / NAME).write_bytes(manifest.encode())
        _put_in_place(partial, to)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return manifest


def archive_mode(path: Path) -> str:
    """Say how an archive of this name is written, or nothing where it is a folder."""
    return next((mode for end, mode in _TARS.items() if path.name.endswith(end)), "")


def _refuse_place(root: DataRoot, to: Path) -> None:
    if os.path.lexists(to):
        raise BadInput(f"{to} is there already", next_step="name a new file or folder")
    if not to.parent.is_dir():
        raise BadInput(f"there is no folder {to.parent}", next_step="make it first")
    if to.parent.resolve().is_relative_to(root.path.resolve()):
        raise BadInput(
            "a backup inside the data root is lost with it", next_step="name a place elsewhere"
        )


def _settled(root: DataRoot) -> Checkpoint:
    """Give a checkpoint that covers what is there now; a daemon signs one within a second."""
    places = LedgerPlaces(root.var)
    head, _ = opening.read_end(places.chain)
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


def _copy_chain(root: DataRoot, tree: Path, point: Checkpoint) -> tuple[int, str]:
    """Copy the records up to a checkpoint, and the checkpoints up to it; say where it ends."""
    places, copy = LedgerPlaces(root.var), LedgerPlaces(tree / "var")
    copy.chain.mkdir(parents=True, mode=0o700)
    copy.checkpoints.parent.mkdir(mode=0o700)
    for segment in segments.segments(places.chain):
        packed = places.chain / f"{segment.month}.ndjson.gz"
        if segment.compressed or not (places.chain / segment.name).exists():
            shutil.copyfile(packed, copy.chain / packed.name)
        else:
            _copy_lines(places.chain / segment.name, copy.chain / segment.name, point.sequence)
    with places.checkpoints.open("rb") as source, copy.checkpoints.open("wb") as file:
        for raw in source:
            file.write(raw)
            if raw == f"{point.as_line()}\n".encode():
                break
    head, _ = opening.read_end(copy.chain)
    return head.sequence, head.hash


def _copy_lines(source: Path, to: Path, last: int) -> None:
    with source.open("rb") as lines, to.open("wb") as file:
        for raw in lines:
            if not raw.endswith(b"\n") or segments.sequence_of(raw) > last:
                break
            file.write(raw)


def _copy_rest(source: Path, tree: Path) -> Iterator[Entry]:
    """Copy what else there is, through descriptors: the agent may move its folders meanwhile."""
    for folder, folders, files, descriptor in os.fwalk(source, follow_symlinks=False):
        below = os.path.relpath(folder, source)
        base = "" if below == "." else f"{below}/"
        folders[:] = [name for name in folders if base + name not in _LEFT_OUT]
        for name in (*folders, *files):
            path = base + name
            if path not in _LEFT_OUT:
                with suppress(FileNotFoundError):  # it went away meanwhile
                    if entry := _copy_one(path, name, descriptor, tree):
                        yield entry
        folders[:] = [name for name in folders if (tree / (base + name)).is_dir()]


def _copy_one(path: str, name: str, descriptor: int, tree: Path) -> Entry | None:
    facts = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    mode, owner = stat.S_IMODE(facts.st_mode), (facts.st_uid, facts.st_gid)
    if stat.S_ISLNK(facts.st_mode):
        target = os.readlink(name, dir_fd=descriptor)
        return Entry(path=path, kind="link", owner=owner, target=target)
    if stat.S_ISDIR(facts.st_mode):
        (tree / path).mkdir(mode=0o700, exist_ok=True)
        return Entry(path=path, kind="folder", mode=mode, owner=owner)
    if not stat.S_ISREG(facts.st_mode):
        return None
    opened = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _FLAGS, dir_fd=descriptor)
    with os.fdopen(opened, "rb") as file:
        digest = copy_bytes(file, tree / path)
    return Entry(path=path, kind="file", mode=mode, owner=owner, sha256=digest)


def copy_bytes(source: IO[bytes], to: Path) -> str:
    """Copy a file to where none is, and give the digest of what was written."""
    digest = hashlib.sha256()
    descriptor = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        while block := source.read(_BLOCK):
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


def _clone(repository: Path, to: Path) -> None:
    options = ("--mirror", "--no-local", "--quiet", upload_pack_option())
    clone = ("clone", *options, "--", str(repository), str(to))
    for where, arguments in ((None, clone), (to, ("remote", "remove", "origin"))):
        run_git(
            GitCommand(repository=where, arguments=arguments, protocol="file", timeout=_GIT_SECONDS)
        )


def _describe(tree: Path, known: set[str]) -> Iterator[Entry]:
    """Describe what this process wrote itself: the chain, its checkpoints, the repository."""
    owner = (os.geteuid(), os.getegid())
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if name in known:
            continue
        if path.is_dir():
            yield Entry(path=name, kind="folder", mode=0o700, owner=owner)
        else:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            yield Entry(path=name, kind="file", mode=0o600, owner=owner, sha256=digest)


def _put_in_place(partial: Path, to: Path) -> None:
    mode = archive_mode(to)
    if not mode:
        partial.rename(to)
        return
    draft = partial.with_suffix(".archive")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
        with (
            os.fdopen(descriptor, "wb") as file,
            tarfile.open(fileobj=file, mode=mode) as archive,  # type: ignore[call-overload]
        ):
            for name in (NAME, TREE):
                archive.add(partial / name, arcname=name)  # pyright: ignore[reportUnknownMemberType]
        draft.rename(to)
    finally:
        draft.unlink(missing_ok=True)
