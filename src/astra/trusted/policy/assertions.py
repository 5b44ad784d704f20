"""What a passkey says: that a person was there, verified, and meant exactly this challenge.

An assertion is three byte strings: what the browser saw (type, challenge, origin), what the
authenticator adds (the site's hash, flags, a counter), and a signature over both. Everything in
them is checked against what was enrolled; nothing is taken from the one who sends it.
"""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from dataclasses import dataclass
from typing import Any

LARGEST = 4096
ALGORITHMS = (-7, -8, -257)
"""ES256, EdDSA, RS256: what authenticators have."""
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError)


@dataclass(frozen=True, kw_only=True)
class Assertion:
    authenticator_data: bytes
    client_data: bytes
    signature: bytes

    def as_dict(self) -> dict[str, str]:
        """Give it as it travels and as it is recorded; the signature stands beside it."""
        return {
            "authenticator_data": encode_base64url(self.authenticator_data),
            "client_data": encode_base64url(self.client_data),
        }

    @staticmethod
    def read(value: Any) -> "Assertion":
        """Read one from a browser or a record; a ValueError, TypeError or KeyError if not."""
        return Assertion(
            authenticator_data=decode_base64url(value["authenticator_data"]),
            client_data=decode_base64url(value["client_data"]),
            signature=decode_base64url(value["signature"]),
        )

    @property
    def counter(self) -> int:
        """How often the authenticator has signed, by its own count."""
        return int.from_bytes(self.authenticator_data[33:37])


@dataclass(frozen=True, kw_only=True)
class Credential:
    """A passkey as it was enrolled."""

    id: bytes
    public_key: bytes
    site: str
    """The RP id: a host, without scheme and port."""
    origin: str
    counter: int = 0


def find_objection(credential: Credential, assertion: Assertion, challenge: bytes) -> str:
    """Say why an assertion does not count, or nothing when it does."""
    try:
        return _wrong_contents(credential, assertion, challenge) or _wrong_signature(
            credential, assertion
        )
    except _MALFORMED:
        return "the passkey's answer cannot be read"


def read_registration(
    client_data: bytes, attestation: bytes, challenge: bytes, *, site: str, origin: str
) -> Credential:
    """Read a new passkey as the browser made it; a ValueError says what is wrong with it."""
    from fido2 import cbor
    from fido2.webauthn import AttestationObject, CollectedClientData

    try:
        parsed_client_data = CollectedClientData(client_data)
        authenticator_data = AttestationObject(attestation).auth_data
        new = authenticator_data.credential_data
        key: dict[int, Any] = dict(new.public_key) if new else {}  # pyright: ignore[reportUnknownArgumentType]
    except _MALFORMED:
        raise ValueError("the new passkey cannot be read") from None
    wrong = _wrong_client_data(
        parsed_client_data, "webauthn.create", challenge, origin
    ) or _wrong_flags(bytes(authenticator_data), site)
    if wrong or new is None or key.get(3) not in ALGORITHMS:
        raise ValueError(wrong or "the new passkey has a key of an unknown kind")
    return Credential(
        id=bytes(new.credential_id),
        public_key=cbor.encode(key),
        site=site,
        origin=origin,
        counter=authenticator_data.counter,
    )


def read_challenge(client_data: bytes) -> bytes:
    """Read which challenge an answer claims to be for; a ValueError where it says none."""
    from fido2.webauthn import CollectedClientData

    try:
        return CollectedClientData(client_data).challenge
    except _MALFORMED:
        raise ValueError("the passkey's answer cannot be read") from None


def encode_base64url(content: bytes) -> str:
    """Write bytes as browsers do: URL-safe base64 without padding."""
    return urlsafe_b64encode(content).decode().rstrip("=")


def decode_base64url(text: Any) -> bytes:
    """Read bytes that were written so; a ValueError where they were not, or are too many."""
    if not isinstance(text, str) or len(text) > LARGEST or set(text) & set("+/= \n"):
        raise ValueError("not base64url")
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (NotBase64, UnicodeError) as error:
        raise ValueError("not base64url") from error


def _wrong_contents(credential: Credential, assertion: Assertion, challenge: bytes) -> str:
    from fido2.webauthn import AuthenticatorData, CollectedClientData

    AuthenticatorData(assertion.authenticator_data)
    parsed_client_data = CollectedClientData(assertion.client_data)
    return _wrong_client_data(
        parsed_client_data, "webauthn.get", challenge, credential.origin
    ) or _wrong_flags(assertion.authenticator_data, credential.site)


def _wrong_client_data(seen: Any, kind: str, challenge: bytes, origin: str) -> str:
    if seen.type != kind:
        return "the passkey answered another kind of question"
    if seen.challenge != challenge:
        return "the passkey answered for something else"
    if seen.origin != origin or seen.cross_origin is not False:
        return "the passkey answered another page"
    return ""


def _wrong_flags(authenticator_data: bytes, site: str) -> str:
    flags = authenticator_data[32]
    if authenticator_data[:32] != hashlib.sha256(site.encode()).digest():
        return "the passkey answered for another site"
    if not flags & _PRESENT:
        return "nobody touched the passkey"
    if not flags & _VERIFIED:
        return "the passkey did not check who touched it"
    return ""


_PRESENT, _VERIFIED = 0x01, 0x04


def _wrong_signature(credential: Credential, assertion: Assertion) -> str:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from fido2 import cbor
    from fido2.cose import CoseKey

    members: Any = cbor.decode(credential.public_key)  # pyright: ignore[reportUnknownMemberType]
    key = CoseKey.parse(members)
    if key.ALGORITHM not in ALGORITHMS:
        return "the passkey has a key of an unknown kind"
    message = assertion.authenticator_data + hashlib.sha256(assertion.client_data).digest()
    try:
        key.verify(message, assertion.signature)
    except (InvalidSignature, UnsupportedAlgorithm):
        return "the passkey's signature does not fit"
    return ""
