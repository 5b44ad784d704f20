"""How content is written into a backup folder: as it is, or encrypted under the folder's own key.

The construction is that of age and restic, from parts that are in every library (ADR 113):

- the folder has one random key; scrypt of the passphrase wraps it (ChaCha20-Poly1305), or X25519
  with a new key of its own and HKDF-SHA256 does for a recipient; either binds everything else that
  the folder's header says;
- each piece and each manifest is one ChaCha20-Poly1305 message under a key of its own, derived by
  HKDF-SHA256 from the folder's key and a random salt; the message is bound to what it is and to its
  name, so that none can stand in for another;
- a piece's name is HMAC-SHA256 of its content under a derived key: whoever reads the folder cannot
  tell whether some known file is in it.

Pure: no file, no terminal. The cryptography library is imported on first use.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from astra.adapters.backups.manifest import damaged_backup
from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.signatures import WrongPassphrase

KEY_BYTES, SALT_BYTES = 32, 16
_NONCE = bytes(12)
"""Each key encrypts one message only, so its nonce may be the same."""
_COST = {"log_n": 17, "r": 8, "p": 1}
_LARGEST_LOG_N, _LARGEST_R, _LARGEST_P = 20, 8, 4
_HEX = re.compile(r"[0-9a-f]{32,256}")


class Seal(Protocol):
    def name_content(self, content: bytes) -> str:
        """Name a piece by its content: the same content has the same name in one folder."""
        ...

    def close(self, purpose: str, content: bytes) -> bytes: ...

    def open(self, purpose: str, sealed: bytes) -> bytes:
        """Give the content back, or raise where it is not as it was written for this purpose."""
        ...


class PlainSeal:
    def name_content(self, content: bytes) -> str:
        return hashlib.sha256(content).hexdigest()

    def close(self, purpose: str, content: bytes) -> bytes:  # noqa: ARG002 - the port's names
        return content

    def open(self, purpose: str, sealed: bytes) -> bytes:  # noqa: ARG002 - the port's names
        return sealed


@dataclass(frozen=True, kw_only=True)
class KeyedSeal:
    key: bytes = field(repr=False)

    def name_content(self, content: bytes) -> str:
        return hmac.digest(self._name_key, content, "sha256").hex()

    def close(self, purpose: str, content: bytes) -> bytes:
        salt = secrets.token_bytes(SALT_BYTES)
        return salt + _encrypt(self._derive_key(salt, purpose), content, purpose.encode())

    def open(self, purpose: str, sealed: bytes) -> bytes:
        salt, box = sealed[:SALT_BYTES], sealed[SALT_BYTES:]
        content = _decrypt(self._derive_key(salt, purpose), box, purpose.encode())
        if content is None:
            raise damaged_backup(f"{purpose[:100]!a} was cut short, changed or exchanged")
        return content

    @cached_property
    def _name_key(self) -> bytes:
        return self._derive_key(b"", "names")

    def _derive_key(self, salt: bytes, purpose: str) -> bytes:
        return _derive(self.key, salt, f"astra-backup-v2 {purpose}".encode())


def wrap_new_key(passphrase: str, header: dict[str, Any]) -> tuple[KeyedSeal, dict[str, Any]]:
    """Make a folder's key, and give what its header says of it: only the passphrase opens that."""
    key, salt = secrets.token_bytes(KEY_BYTES), secrets.token_bytes(SALT_BYTES)
    facts = {"kdf": "scrypt", "cipher": "chacha20-poly1305", "salt": salt.hex(), **_COST}
    wrapping = _derive_wrapping_key(passphrase, facts)
    wrapped = _encrypt(wrapping, key, canonical.encode({**header, "encryption": facts}))
    return KeyedSeal(key=key), {**facts, "wrapped": wrapped.hex()}


def unwrap_key(passphrase: str, header: dict[str, Any], encryption: dict[str, Any]) -> KeyedSeal:
    """Open a folder's key; a header that was changed opens as little as a wrong passphrase."""
    facts = {name: value for name, value in encryption.items() if name != "wrapped"}
    wrapped = encryption.get("wrapped")
    if not _is_known_encryption(facts) or not _is_hex(wrapped):
        raise damaged_backup("its header has an encryption that this version does not know")
    bound = canonical.encode({**header, "encryption": facts})
    key = _decrypt(_derive_wrapping_key(passphrase, facts), bytes.fromhex(str(wrapped)), bound)
    if key is None:
        raise WrongPassphrase(
            "that passphrase does not open these backups (or their header was changed)",
            code="wrong_backup_passphrase",
            next_step="try again with the passphrase they were made with",
        )
    return KeyedSeal(key=key)


def make_key_pair() -> tuple[bytes, str]:
    """Make a recipient's keys: the private one, and the public one as text."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    private = X25519PrivateKey.generate()
    return private.private_bytes_raw(), private.public_key().public_bytes_raw().hex()


def wrap_for_recipient(recipient: str, header: dict[str, Any]) -> tuple[KeyedSeal, dict[str, Any]]:
    """Make a folder's key that only the recipient's private key opens."""
    key, (ephemeral, public) = secrets.token_bytes(KEY_BYTES), make_key_pair()
    facts = {"kdf": "x25519", "cipher": "chacha20-poly1305"}
    facts |= {"recipient": recipient, "ephemeral": public}
    wrapping = _agree_on_key(ephemeral, recipient, facts)
    if wrapping is None:
        raise BadInput(
            "that is not a recipient's key",
            code="bad_recipient",
            next_step="give the 64 letters and digits that `astra backup keygen` printed",
        )
    wrapped = _encrypt(wrapping, key, canonical.encode({**header, "encryption": facts}))
    return KeyedSeal(key=key), {**facts, "wrapped": wrapped.hex()}


def unwrap_with_private_key(
    private: bytes, header: dict[str, Any], encryption: dict[str, Any]
) -> KeyedSeal:
    facts = {name: value for name, value in encryption.items() if name != "wrapped"}
    wrapped = encryption.get("wrapped")
    key = None
    if facts.get("kdf") == "x25519" and _is_hex(wrapped):
        wrapping = _agree_on_key(private, facts.get("ephemeral"), facts)
        bound = canonical.encode({**header, "encryption": facts})
        key = _decrypt(wrapping, bytes.fromhex(str(wrapped)), bound) if wrapping else None
    if key is None:
        raise WrongPassphrase(
            "that private key does not open these backups (or their header was changed)",
            code="wrong_backup_identity",
            next_step="name the private key that belongs to their recipient",
        )
    return KeyedSeal(key=key)


def _agree_on_key(private: bytes, public: object, facts: dict[str, Any]) -> bytes | None:
    """Derive the wrapping key from one side's private and the other's public key."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    try:
        public_key = X25519PublicKey.from_public_bytes(bytes.fromhex(str(public)))
        shared = X25519PrivateKey.from_private_bytes(private).exchange(public_key)
        salt = bytes.fromhex(facts["ephemeral"]) + bytes.fromhex(facts["recipient"])
    except (ValueError, TypeError, KeyError):  # no key, or one that would agree with everybody
        return None
    return _derive(shared, salt, b"astra-backup-v2 x25519")


def _derive(secret: bytes, salt: bytes, about: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt, info=about).derive(secret)


def _is_known_encryption(facts: dict[str, Any]) -> bool:
    """Tell whether these are our parts at a bearable cost: the header may come from anybody."""
    limits = (("log_n", _LARGEST_LOG_N), ("r", _LARGEST_R), ("p", _LARGEST_P))
    return (
        facts.get("kdf") == "scrypt"
        and facts.get("cipher") == "chacha20-poly1305"
        and _is_hex(facts.get("salt"))
        and all(type(facts.get(name)) is int and 0 < facts[name] <= limit for name, limit in limits)
    )


def _is_hex(text: object) -> bool:
    return isinstance(text, str) and len(text) % 2 == 0 and _HEX.fullmatch(text) is not None


def _derive_wrapping_key(passphrase: str, facts: dict[str, Any]) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    scrypt = Scrypt(
        salt=bytes.fromhex(facts["salt"]),
        length=KEY_BYTES,
        n=1 << facts["log_n"],
        r=facts["r"],
        p=facts["p"],
    )
    return scrypt.derive(passphrase.encode())


def _encrypt(key: bytes, content: bytes, bound: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    return ChaCha20Poly1305(key).encrypt(_NONCE, content, bound)


def _decrypt(key: bytes, box: bytes, bound: bytes) -> bytes | None:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    try:
        return ChaCha20Poly1305(key).decrypt(_NONCE, box, bound)
    except InvalidTag:
        return None
