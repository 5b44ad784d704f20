"""A passkey in software: what a browser and its authenticator would answer, and lies about it."""

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from astra.trusted.policy.assertions import encode_base64url

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


def cbor(value: Any) -> bytes:
    """Write the little of CBOR that is needed here."""
    match value:
        case bool() | None:
            raise TypeError(value)
        case int():
            return _head(0, value) if value >= 0 else _head(1, -1 - value)
        case bytes():
            return _head(2, len(value)) + value
        case str():
            return _head(3, len(value)) + value.encode()
        case dict():
            pairs = [cbor(name) + cbor(item) for name, item in value.items()]
            return _head(5, len(pairs)) + b"".join(pairs)
    raise TypeError(value)


def _head(kind: int, number: int) -> bytes:
    for code, size in ((None, 24), (24, 1), (25, 2), (26, 4)):
        if code is None and number < size:
            return bytes([kind << 5 | number])
        if code is not None and number < 1 << 8 * size:
            return bytes([kind << 5 | code]) + number.to_bytes(size)
    raise ValueError(number)


@dataclass
class Authenticator:
    origin: str
    site: str = "localhost"
    counter: int = 0
    flags: int = PRESENT | VERIFIED
    credential: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    @property
    def id(self) -> str:
        return f"pky_{hashlib.sha256(self.credential).hexdigest()[:16]}"

    def create(self, challenge: str, **client: Any) -> dict[str, str]:
        """Make the passkey for a site's challenge."""
        numbers = self.key.public_key().public_numbers()
        public = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
        made = bytes(16) + len(self.credential).to_bytes(2) + self.credential + cbor(public)
        data = self._data(ATTESTED) + made
        attestation = cbor({"fmt": "none", "attStmt": {}, "authData": data})
        return {
            "client_data": encode_base64url(self._client("webauthn.create", challenge, **client)),
            "attestation": encode_base64url(attestation),
        }

    def get(self, challenge: str, *, kind: str = "webauthn.get", **client: Any) -> dict[str, str]:
        """Answer a challenge, as a person's touch would."""
        data, seen = self._data(), self._client(kind, challenge, **client)
        signature = self.key.sign(data + hashlib.sha256(seen).digest(), ec.ECDSA(hashes.SHA256()))
        return {
            "authenticator_data": encode_base64url(data),
            "client_data": encode_base64url(seen),
            "signature": encode_base64url(signature),
        }

    def sign(self, statement: dict[str, Any], **client: Any) -> dict[str, Any]:
        """Sign a decision: the challenge is the hash of its statement."""
        from astra.trusted.policy import authority

        answer = self.get(encode_base64url(authority.challenge(statement)), **client)
        return {"statement": statement, "key": self.id, **answer}

    def _data(self, more: int = 0) -> bytes:
        site = hashlib.sha256(self.site.encode()).digest()
        return site + bytes([self.flags | more]) + self.counter.to_bytes(4)

    def _client(self, kind: str, challenge: str, /, **client: Any) -> bytes:
        seen = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps({**seen, **client}).encode()
