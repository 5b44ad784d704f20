"""Web Push messages that only one browser can read (RFC 8291), and proof of who sends (RFC 8292).

The push service in between sees whom we write to and when, never what. Every message has the same
length, so that its length says nothing either. Pure: no clock, no network, no file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from secrets import token_bytes
from typing import TYPE_CHECKING

from astra.trusted.policy.assertions import encode_base64url

if TYPE_CHECKING:  # imported on first use: most commands never encrypt
    from cryptography.hazmat.primitives.asymmetric.ec import (
        EllipticCurvePrivateKey,
        EllipticCurvePublicKey,
    )

POINT_BYTES, AUTH_BYTES, SALT_BYTES = 65, 16, 16
LENGTH = 2048
"""How long every message is before it is encrypted; services take up to 4096 bytes."""
LIFETIME = timedelta(hours=12)
_RECORD_SIZE = 4096
_LAST = b"\x02"


@dataclass(frozen=True, kw_only=True)
class ServerKey:
    """The key by which push services know this Astra."""

    scalar: bytes = field(repr=False)

    @staticmethod
    def generate() -> "ServerKey":
        scalar = _new_key().private_numbers().private_value
        return ServerKey(scalar=scalar.to_bytes(32, "big"))

    @property
    def public(self) -> str:
        return encode_base64url(_encode_point(self._derive_private_key().public_key()))

    def authorization(self, audience: str, *, contact: str, now: datetime) -> str:
        """Say who sends, to one service and for a while."""
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
        from cryptography.hazmat.primitives.hashes import SHA256

        until = int((now + LIFETIME).timestamp())
        claims = {"aud": audience, "exp": until, "sub": contact}
        text = f"{_encode_part({'typ': 'JWT', 'alg': 'ES256'})}.{_encode_part(claims)}"
        numbers = decode_dss_signature(
            self._derive_private_key().sign(text.encode(), ECDSA(SHA256()))
        )
        signature = b"".join(number.to_bytes(32, "big") for number in numbers)
        return f"vapid t={text}.{encode_base64url(signature)}, k={self.public}"

    def _derive_private_key(self) -> "EllipticCurvePrivateKey":
        from cryptography.hazmat.primitives.asymmetric import ec

        return ec.derive_private_key(int.from_bytes(self.scalar, "big"), ec.SECP256R1())


def is_point(content: bytes) -> bool:
    """Tell whether this is a public key that one can write to."""
    try:
        _decode_public_key(content)
    except ValueError:
        return False
    return True


def encrypt(
    message: bytes,
    *,
    receiver: bytes,
    auth: bytes,
    length: int = LENGTH,
    sender: "EllipticCurvePrivateKey | None" = None,
    salt: bytes = b"",
) -> bytes:
    """Encrypt for the browser that has the receiver's key; sender and salt are new each time."""
    from cryptography.hazmat.primitives.asymmetric.ec import ECDH
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    sender, salt = sender or _new_key(), salt or token_bytes(SALT_BYTES)
    sender_point = _encode_point(sender.public_key())
    shared = sender.exchange(ECDH(), _decode_public_key(receiver))
    secret = _derive_key(shared, auth, b"WebPush: info\0" + receiver + sender_point, 32)
    key = _derive_key(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive_key(secret, salt, b"Content-Encoding: nonce\0", 12)
    padded = (message + _LAST).ljust(length, b"\0")
    head = salt + _RECORD_SIZE.to_bytes(4, "big") + bytes([len(sender_point)]) + sender_point
    return head + AESGCM(key).encrypt(nonce, padded, None)


def _derive_key(secret: bytes, salt: bytes, about: bytes, length: int) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=about).derive(secret)


def _new_key() -> "EllipticCurvePrivateKey":
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _decode_public_key(content: bytes) -> "EllipticCurvePublicKey":
    from cryptography.hazmat.primitives.asymmetric import ec

    if len(content) != POINT_BYTES:
        raise ValueError("not an uncompressed point of P-256")
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), content)


def _encode_point(key: "EllipticCurvePublicKey") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _encode_part(document: Mapping[str, object]) -> str:
    return encode_base64url(json.dumps(document, separators=(",", ":")).encode())
