"""The operator's private key: one file a data root, in the operator's home, sealed.

It lies outside the data root, which the agent can partly write, and is of no use without the
passphrase: the agent may well run as the same OS user and read every file.

Whoever signs may say by `XDG_CONFIG_HOME` where their key is. What is protected from agents is not
up to the environment of whoever starts a daemon: `astra init` records the folder, and the user's
home comes from the user database.
"""

import json
import os
from pathlib import Path
from typing import Any

from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel import signatures
from astra.trusted.kernel.errors import NotFound
from astra.trusted.kernel.private_files import write_private
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.sandbox import machine


def key_path(root_id: str) -> Path:
    return key_folder() / f"operator-{root_id}.key"


def key_folder() -> Path:
    """Name the folder in which this process looks for a key, or puts a new one."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return (Path(base) / "astra").absolute()


def key_folders(root: DataRoot) -> tuple[str, ...]:
    """List where the operator's key may be: no agent gets near any of them."""
    created = root.first_record()
    recorded = str(created.data.get("operator_key_folder", "")) if created else ""
    usual = (f"{home}/.config/astra" for home in machine.own_homes())
    return tuple(dict.fromkeys((*filter(None, (recorded,)), str(key_folder()), *usual)))


def write(root_id: str, pair: KeyPair, passphrase: str) -> Path:
    return promote_spare(write_spare(root_id, pair, passphrase))


def write_spare(root_id: str, pair: KeyPair, passphrase: str) -> Path:
    """Write a key beside the one in use, so that a rotation can fail without losing either."""
    path = key_path(root_id).with_suffix(".new")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    document = {
        "kind": "astra-operator-key",
        "version": 1,
        "data_root": root_id,
        "public": pair.public,
        **signatures.seal(pair.seed, passphrase),
    }
    write_private(path, json.dumps(document, indent=1).encode())
    return path


def promote_spare(spare: Path) -> Path:
    return spare.rename(spare.with_suffix(".key"))


def read(root_id: str) -> dict[str, Any]:
    path = key_path(root_id)
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise NotFound(
            f"the operator key of this data root is not at {path}",
            code="no_operator_key",
            next_step="sign on the machine that has it, or `astra operator rotate --recovery`",
        ) from None


def unlock(root_id: str, passphrase: str) -> KeyPair:
    return KeyPair.from_seed(signatures.unseal(read(root_id), passphrase))
