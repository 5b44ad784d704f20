"""`astra restore BACKUP`: check every byte of a backup, and put it where nothing is yet.

What is written is what was checked: each file is compared with its digest while it is copied, then
the chain is verified and the repository asked whether every object is there. The new data root gets
its name when it is complete. It says in a file of its own (`restored.json`) that it came from a
backup, so the daemon holds its ledger until the operator signs.
"""

import json
import os
import re
import secrets
import shutil
import tarfile
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra.adapters.backups.manifest import Entry, Manifest, damaged_backup
from astra.adapters.backups.reading import FULL, Backup, open_backup
from astra.adapters.backups.secrecy import NOT_ENCRYPTED, Unlock
from astra.adapters.release_folders import DiskFull
from astra.adapters.witnesses.checking import check_data_root
from astra.trusted.approvals.restores import MARKER
from astra.trusted.file_ledger.moved import SETTING
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.file_ledger.stored import ChainFiles
from astra.trusted.files.data_root import DataRoot
from astra.trusted.git.git_command import GitCommand, GitFailed, run_git
from astra.trusted.kernel.errors import BadInput, LedgerDamaged
from astra.trusted.kernel.private_files import write_private
from astra.trusted.ledger.verification import Problem

_GIT_SECONDS = 3600.0
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_NAMES_DATABASE = re.compile(rf"^\s*(export\s+)?{SETTING}\s*=", re.MULTILINE)
_FORGIVEN = frozenset({"behind_witness", "contradicts_witness", "witness"})
"""What going back looks like from outside: the operator is told, and signs."""


@dataclass(frozen=True, kw_only=True)
class Placed:
    manifest: Manifest
    notes: tuple[Problem, ...]
    """What the witness says about it."""
    left_database: bool
    """Whether its `.env` named the database that the chain was in; the line is a comment now."""


def place_backup(
    path: Path, root: DataRoot, *, unlock: Unlock = NOT_ENCRYPTED.unlock, backup_id: str = ""
) -> Placed:
    _refuse_place(root.path)
    with _explain_trouble(root.path), _open(path, root, unlock, backup_id) as backup:
        name = f".{root.path.name}.{secrets.token_hex(4)}.partial"
        partial = DataRoot(root.path.with_name(name))
        partial.path.mkdir(mode=0o700)
        try:
            _copy_entries(backup, partial)
            notes = _check_chain(partial, backup.manifest)
            _check_repository(partial.git)
            left_database = _comment_database_out(partial.path / ".env")
            if root.path.exists():
                root.path.rmdir()
            partial.path.rename(root.path)
        finally:
            shutil.rmtree(partial.path, ignore_errors=True)
    return Placed(manifest=backup.manifest, notes=notes, left_database=left_database)


@contextmanager
def _explain_trouble(to: Path) -> Generator[None]:
    try:
        yield
    except (OSError, tarfile.TarError, EOFError) as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise DiskFull(
                f"the disk of {to} is full: nothing was restored, the backup is as it was",
                next_step="free some space, or restore to another disk with --data-root",
            ) from None
        raise damaged_backup(f"it cannot be read: {error}") from None


def _open(
    path: Path, root: DataRoot, unlock: Unlock, backup_id: str
) -> AbstractContextManager[Backup]:
    return open_backup(path, unlock, backup_id, unpack_to=root.path.parent)


def _refuse_place(path: Path) -> None:
    if os.path.lexists(path) and (path.is_symlink() or not path.is_dir() or any(path.iterdir())):
        raise BadInput(
            f"{path} is not an empty place",
            code="not_empty",
            next_step="name a new folder with --data-root, or move the old one away",
        )
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent}", next_step="make it first")


def _copy_entries(backup: Backup, partial: DataRoot) -> None:
    """Write folders, then files, then links; modes and owners last, the innermost first."""
    manifest = backup.manifest
    by_kind: dict[str, list[Entry]] = {"folder": [], "file": [], "link": []}
    for entry in sorted(manifest.entries, key=lambda entry: entry.path):
        by_kind[entry.kind].append(entry)
    for entry in by_kind["folder"]:
        (partial.path / entry.path).mkdir(mode=0o700)
    for entry in by_kind["file"]:
        _write_file(partial.path / entry.path, backup.read(entry))
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


def _write_file(path: Path, content: Iterable[bytes]) -> None:
    with os.fdopen(os.open(path, _CREATE, 0o600), "wb") as file:
        file.writelines(content)


def _give_facts(path: Path, entry: Entry) -> None:
    if os.geteuid() == 0:
        os.chown(path, *entry.owner, follow_symlinks=False)
    if entry.kind != "link":
        path.chmod(entry.mode)


def _comment_database_out(path: Path) -> bool:
    """Name no database: what is restored has its chain in files; tells whether one was named."""
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return False
    changed, count = _NAMES_DATABASE.subn(r"# \g<0>", text)
    if count:  # in place, so that owner and mode stay
        path.write_text(changed, encoding="utf-8", errors="surrogateescape")
    return count > 0


def _check_chain(root: DataRoot, manifest: Manifest) -> tuple[Problem, ...]:
    """Refuse a chain that is not as it was written; give what the witness says about it."""
    public_key: Any = (
        root.require_first_record().data.get("ledger_key") or root.read_ledger_key().public
    )
    stored_chain = ChainFiles(LedgerPlaces(root.var).chain)
    report = check_data_root(root, stored_chain, public_key=public_key).report
    wrong = [problem for problem in report.problems if problem.kind not in _FORGIVEN]
    if wrong:
        raise LedgerDamaged(
            f"the chain in this backup is not as it was written: {wrong[0].detail}",
            next_step="use another backup",
        )
    if (report.records, report.head) != (manifest.sequence, manifest.hash):
        raise damaged_backup("its chain ends at another record than its manifest says")
    return tuple(report.problems)


def _check_repository(repository: Path) -> None:
    """Refuse a repository in which a commit that a ref names is not complete."""
    arguments = ("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    command = GitCommand(repository=repository, arguments=arguments, timeout=_GIT_SECONDS)
    try:
        run_git(command)
    except GitFailed as error:
        raise damaged_backup(f"its repository is not complete: {error.detail[:300]}") from None
