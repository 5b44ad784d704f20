"""Who can read a folder of backups: everybody with its files, a passphrase, or one private key.

With a passphrase, whoever adds a backup needs it as whoever restores one does. With a recipient's
key, only the private key restores; so that backups are added without it, the data root keeps the
folder's own key (`var/keys/backup-FOLDER.key`), beside the very data that the folder holds.
"""

import json
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra.adapters.backups import sealing
from astra.adapters.backups.sealing import KEY_BYTES, KeyedSeal, Seal
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.private_files import write_private

Header = dict[str, Any]
Ask = Callable[[], str]
"""Asks for a passphrase."""
Unlock = Callable[[Header], Seal]
"""Opens the key of the folder whose header this is."""
Lock = Callable[[Header], tuple[KeyedSeal, dict[str, Any]]]
"""Makes the key of a new folder, and gives what its header says of that."""
_FOLDER_ID = re.compile(r"[0-9a-f]{32}")
_LARGEST_KEY_FILE = 4096


@dataclass(frozen=True, kw_only=True)
class Secrecy:
    """How a folder of backups is opened, and how a new one is encrypted, if it is."""

    unlock: Unlock
    lock: Lock | None = None


def _unlock_nothing(header: Header) -> Seal:
    needs = "the private key" if header["encryption"].get("kdf") == "x25519" else "the passphrase"
    raise BadInput(
        f"these backups are encrypted, and {needs} was not given",
        code="backup_locked",
        next_step="name the private key with --identity"
        if needs == "the private key"
        else "run it in a terminal, or set ASTRA_BACKUP_PASSPHRASE",
    )


NOT_ENCRYPTED = Secrecy(unlock=_unlock_nothing)


def unlock_with_passphrase(ask: Ask) -> Unlock:
    def unlock(header: Header) -> Seal:
        if header["encryption"].get("kdf") == "x25519":
            return _unlock_nothing(header)
        return sealing.unwrap_key(ask(), *_split(header))

    return unlock


def lock_with_passphrase(ask: Ask) -> Lock:
    return lambda header: sealing.wrap_new_key(ask(), header)


def unlock_with_identity(path: Path) -> Unlock:
    return lambda header: sealing.unwrap_with_private_key(_read_identity(path), *_split(header))


def lock_for_recipient(recipient: str, root: DataRoot | None) -> Lock:
    """Encrypt for a private key that is elsewhere; a data root keeps what it needs to add more."""

    def lock(header: Header) -> tuple[KeyedSeal, dict[str, Any]]:
        seal, encryption = sealing.wrap_for_recipient(recipient, header)
        if root:
            write_private(_name_key_file(root, header), seal.key.hex().encode())
        return seal, encryption

    return lock


def unlock_from_data_root(root: DataRoot, otherwise: Unlock) -> Unlock:
    """Open folders whose key this data root keeps; others as told."""

    def unlock(header: Header) -> Seal:
        if header["encryption"].get("kdf") == "x25519" and _FOLDER_ID.fullmatch(header["folder"]):
            path = _name_key_file(root, header)
            if path.exists():
                return KeyedSeal(key=_read_key(path))
        return otherwise(header)

    return unlock


def make_identity(path: Path) -> str:
    """Write a new private key to where no file is, and give the public one, which is no secret."""
    if os.path.lexists(path):
        raise BadInput(f"{path} is there already", next_step="name a new file")
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent}", next_step="make it first")
    private, public = sealing.make_key_pair()
    document = {"recipient": public, "private": private.hex()}
    write_private(path, json.dumps(document, indent=1).encode())
    return public


def _split(header: Header) -> tuple[Header, dict[str, Any]]:
    bound = {name: value for name, value in header.items() if name != "encryption"}
    return bound, header["encryption"]


def _name_key_file(root: DataRoot, header: Header) -> Path:
    return root.ledger_key_file.with_name(f"backup-{header['folder']}.key")


def _read_identity(path: Path) -> bytes:
    try:
        return _parse_key(json.loads(_read_private(path))["private"])
    except (OSError, ValueError, TypeError, KeyError):
        raise BadInput(
            f"{path} is not a private key for backups",
            code="bad_identity",
            next_step="name the file that `astra backup keygen` wrote",
        ) from None


def _read_key(path: Path) -> bytes:
    try:
        return _parse_key(_read_private(path))
    except (OSError, ValueError):
        raise BadInput(
            f"the key of this backup folder, {path}, cannot be read",
            code="bad_identity",
            next_step="name the private key with --identity, or back up to a new folder",
        ) from None


def _read_private(path: Path) -> str:
    with path.open("rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("not a plain file")
        return file.read(_LARGEST_KEY_FILE).decode()


def _parse_key(text: str) -> bytes:
    key = bytes.fromhex(text)
    if len(key) != KEY_BYTES:
        raise ValueError("not a key")
    return key
