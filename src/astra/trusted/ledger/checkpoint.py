"""A signed sentence about the chain: at this time, record N had this hash.

Checkpoints live outside the chain's folder and are signed with the ledger's own key, so that
cutting the last records off cleanly, or rewriting them with fresh hashes, is noticed.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

from astra.trusted.kernel import canonical, signatures
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Head

_PREFIX = b"astra-checkpoint-v1\n"
_KINDS = {"sequence": "int", "hash": "str", "time": "str", "signature": "str"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    sequence: int
    hash: str
    time: str
    signature: str

    def as_line(self) -> str:
        return canonical.encode_text(asdict(self))


def sign(head: Head, *, time: str, key: KeyPair) -> Checkpoint:
    signature = key.sign(_encode_message(head.sequence, head.hash, time))
    return Checkpoint(sequence=head.sequence, hash=head.hash, time=time, signature=signature)


def is_signed_by(checkpoint: Checkpoint, public_key: str) -> bool:
    message = _encode_message(checkpoint.sequence, checkpoint.hash, checkpoint.time)
    return signatures.verify(public_key, message, checkpoint.signature)


def parse(line: str) -> Checkpoint | None:
    """Read a checkpoint, or None where the line is not one (torn, or edited)."""
    try:
        members: dict[str, Any] = json.loads(line)
        kinds = {name: type(value).__name__ for name, value in members.items()}
    except (ValueError, AttributeError, RecursionError):
        return None
    return Checkpoint(**members) if kinds == _KINDS else None


def _encode_message(sequence: int, digest: str, time: str) -> bytes:
    return _PREFIX + canonical.encode({"hash": digest, "sequence": sequence, "time": time})
