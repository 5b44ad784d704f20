"""Ed25519 signatures over statements, and private keys sealed under a passphrase.

A statement is what a person decided: the action, its exact content, the data root and the ledger
head it was made for, a nonce and an expiry. Its signature covers canonical JSON behind a prefix of
its own, so that no other bytes signed by the same key can be mistaken for a statement.

Nothing here reads a file. The cryptography library is imported on first use, because most commands
never sign.
"""

import base64
import secrets
from dataclasses import dataclass
from typing import Any

from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import BadInput

STATEMENT_PREFIX = b"astra-statement-v1\n"
_ARGON2 = {"iterations": 3, "lanes": 4, "memory_kib": 65536}
_SEED_BYTES = 32


class WrongPassphrase(BadInput):
    code = "wrong_passphrase"
    exit_code = 1


@dataclass(frozen=True, kw_only=True)
class KeyPair:
    seed: bytes
    public: str

    @staticmethod
    def generate() -> "KeyPair":
        return KeyPair.from_seed(secrets.token_bytes(_SEED_BYTES))

    @staticmethod
    def from_seed(seed: bytes) -> "KeyPair":
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        private = Ed25519PrivateKey.from_private_bytes(seed)
        return KeyPair(seed=seed, public=private.public_key().public_bytes_raw().hex())

    def sign(self, message: bytes) -> str:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self.seed).sign(message).hex()

    def __repr__(self) -> str:
        return f"KeyPair(public={self.public!r})"


def verify(public: str, message: bytes, signature: str) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def statement_bytes(statement: dict[str, Any]) -> bytes:
    return STATEMENT_PREFIX + canonical.encode(statement)


def seal(seed: bytes, passphrase: str) -> dict[str, Any]:
    """Encrypt a seed under a passphrase; the result is JSON and safe to write to disk."""
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    salt, nonce = secrets.token_bytes(16), secrets.token_bytes(12)
    box = ChaCha20Poly1305(_derive_key(passphrase, salt, _ARGON2)).encrypt(nonce, seed, None)
    return {
        "kdf": {"name": "argon2id", "salt": salt.hex(), **_ARGON2},
        "cipher": "chacha20-poly1305",
        "nonce": nonce.hex(),
        "sealed": box.hex(),
    }


def unseal(box: dict[str, Any], passphrase: str) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    kdf = box["kdf"]
    key = _derive_key(passphrase, bytes.fromhex(kdf["salt"]), kdf)
    try:
        seed = ChaCha20Poly1305(key).decrypt(
            bytes.fromhex(box["nonce"]), bytes.fromhex(box["sealed"]), None
        )
    except InvalidTag:
        raise WrongPassphrase(
            "that passphrase does not open the operator key", next_step="try again"
        ) from None
    return seed


def recovery_text(seed: bytes) -> str:
    """Write a seed for paper: base32 in groups of four, with a check at the end."""
    text = base64.b32encode(seed + _check_bytes(seed)).decode().rstrip("=")
    return "-".join(text[i : i + 4] for i in range(0, len(text), 4))


def recovery_seed(text: str) -> bytes:
    packed = "".join(text.upper().split()).replace("-", "")
    try:
        raw = base64.b32decode(packed + "=" * (-len(packed) % 8))
    except ValueError:
        raw = b""
    seed, check = raw[:_SEED_BYTES], raw[_SEED_BYTES:]
    if len(seed) != _SEED_BYTES or check != _check_bytes(seed):
        raise WrongPassphrase(
            "that is not a recovery key (a letter may be missing or wrong)",
            next_step="type it as printed by `astra init`; dashes and case do not matter",
        )
    return seed


def _check_bytes(seed: bytes) -> bytes:
    import hashlib

    return hashlib.sha256(b"astra-recovery" + seed).digest()[:3]


def _derive_key(passphrase: str, salt: bytes, cost: dict[str, Any]) -> bytes:
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    return Argon2id(
        salt=salt,
        length=32,
        iterations=cost["iterations"],
        lanes=cost["lanes"],
        memory_cost=cost["memory_kib"],
    ).derive(passphrase.encode())
