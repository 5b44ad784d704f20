"""`astra restore BACKUP`: check every byte of a backup, and put it where nothing is yet.

What is written is what was checked: each file is hashed while it is copied. The new data root gets
its name when it is complete. It says in a file of its own (`restored.json`) that it came from a
backup, so the daemon holds its ledger until the operator signs.
"""

import json
import os
import secrets
import shutil
import tarfile
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from astra.adapters.backups.making import archive_mode, copy_bytes
from astra.adapters.backups.manifest import NAME, TREE, Entry, Manifest, damaged, read_manifest
from astra.adapters.witnesses.checking import check_data_root
from astra.trusted.approvals.restores import MARKER
from astra.trusted.files.data_root import DataRoot, write_private
from astra.trusted.kernel.errors import BadInput, LedgerDamaged
from astra.trusted.ledger.verification import Problem

_LARGEST_MANIFEST = 1 << 30
_FORGIVEN = frozenset({"behind_witness", "contradicts_witness", "witness"})
"""What going back looks like from outside: the operator is told, and signs."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """An opened backup, as a folder or an archive."""

    names: frozenset[str]
    """Every plain file in it."""
    open: Callable[[str], IO[bytes]]


@dataclass(frozen=True, kw_only=True)
class Placed:
    manifest: Manifest
    notes: tuple[Problem, ...]
    """What the witness says about it."""


def place_backup(backup: Path, root: DataRoot) -> Placed:
    _refuse_place(root.path)
    with _opened(backup) as source:
        with source.open(NAME) as file:
            manifest = read_manifest(file.read(_LARGEST_MANIFEST))
        _refuse_other_files(source, manifest)
        name = f".{root.path.name}.{secrets.token_hex(4)}.partial"
        partial = DataRoot(root.path.with_name(name))
        partial.path.mkdir(mode=0o700)
        try:
            _copy(source, manifest, partial)
            notes = _checked(partial)
            if root.path.exists():
                root.path.rmdir()
            partial.path.rename(root.path)
        finally:
            shutil.rmtree(partial.path, ignore_errors=True)
    return Placed(manifest=manifest, notes=notes)


def _refuse_place(path: Path) -> None:
    if os.path.lexists(path) and (path.is_symlink() or not path.is_dir() or any(path.iterdir())):
        raise BadInput(
            f"{path} is not an empty place",
            code="not_empty",
            next_step="name a new folder with --data-root, or move the old one away",
        )
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent}", next_step="make it first")


@contextmanager
def _opened(backup: Path) -> Generator[Source]:
    with ExitStack() as stack:
        try:
            if archive_mode(backup):
                source = _archive(stack.enter_context(tarfile.open(backup, "r:*")))
            else:
                source = _folder(backup)
            if NAME not in source.names:
                raise BadInput(f"{backup} is no backup", next_step="make one with `astra backup`")
            yield source
        except (OSError, tarfile.TarError, EOFError) as error:
            raise damaged(f"it cannot be read: {error}") from None


def _folder(backup: Path) -> Source:
    if not backup.is_dir():
        raise BadInput(f"there is no backup at {backup}", next_step="name the one to restore")
    names = frozenset(
        path.relative_to(backup).as_posix()
        for path in backup.rglob("*")
        if path.is_symlink() or not path.is_dir()
    )

    def read(name: str) -> IO[bytes]:
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        return os.fdopen(os.open(backup / name, flags), "rb")

    return Source(names=names, open=read)


def _archive(archive: tarfile.TarFile) -> Source:
    members = {member.name: member for member in archive if not member.isdir()}
    if not all(member.isreg() for member in members.values()):
        raise damaged("it holds more than folders and plain files")

    def read(name: str) -> IO[bytes]:
        file = archive.extractfile(members[name])
        if file is None:
            raise damaged(f"{name[:100]!a} cannot be read")
        return file

    return Source(names=frozenset(members), open=read)


def _refuse_other_files(source: Source, manifest: Manifest) -> None:
    named = {f"{TREE}/{entry.path}" for entry in manifest.entries if entry.kind == "file"}
    present = source.names - {NAME}
    if missing := sorted(named - present):
        raise damaged(f"{missing[0][:100]!a} is missing")
    if added := sorted(present - named):
        raise damaged(f"{added[0][:100]!a} is not in its manifest")


def _copy(source: Source, manifest: Manifest, partial: DataRoot) -> None:
    """Write folders, then files, then links; modes and owners last, the innermost first."""
    by_kind: dict[str, list[Entry]] = {"folder": [], "file": [], "link": []}
    for entry in sorted(manifest.entries, key=lambda entry: entry.path):
        by_kind[entry.kind].append(entry)
    for entry in by_kind["folder"]:
        (partial.path / entry.path).mkdir(mode=0o700)
    for entry in by_kind["file"]:
        with source.open(f"{TREE}/{entry.path}") as file:
            if copy_bytes(file, partial.path / entry.path) != entry.sha256:
                raise damaged(f"{entry.path[:100]!a} has other content")
    partial.make_folders()
    came_from = {
        "sequence": manifest.sequence,
        "hash": manifest.hash,
        "made_at": manifest.made_at,
        "manifest": manifest.digest,
    }
    write_private(partial.var / MARKER, json.dumps(came_from).encode())
    for entry in by_kind["link"]:
        (partial.path / entry.path).symlink_to(entry.target)
    for entry in sorted(manifest.entries, key=lambda entry: entry.path, reverse=True):
        _give_facts(partial.path / entry.path, entry)


def _give_facts(path: Path, entry: Entry) -> None:
    if os.geteuid() == 0:
        os.chown(path, *entry.owner, follow_symlinks=False)
    if entry.kind != "link":
        path.chmod(entry.mode)


def _checked(root: DataRoot) -> tuple[Problem, ...]:
    """Refuse a chain that is not as it was written; give what the witness says about it."""
    public_key: Any = root.require().data.get("ledger_key") or root.ledger_key().public
    report = check_data_root(root, public_key=public_key).report
    wrong = [problem for problem in report.problems if problem.kind not in _FORGIVEN]
    if wrong:
        raise LedgerDamaged(
            f"the chain in this backup is not as it was written: {wrong[0].detail}",
            next_step="use another backup",
        )
    return tuple(report.problems)
