"""Passkeys, in the shapes that browsers read and write themselves."""

from typing import Any, Literal

from pydantic import Field

from astra.interfaces.daemon.models import Shape


class EnrolmentLink(Shape):
    url: str
    code: str
    expires_at: str


class Candidate(Shape):
    content: dict[str, Any] | None = Field(description="what the operator signs, once it is made")
    check: str | None = Field(description="six digits that the page shows too")


class PasskeyLogin(Shape):
    """A browser's answer to a login's challenge, each part in base64url."""

    credential: str = Field(max_length=4096)
    authenticator_data: str = Field(max_length=4096)
    client_data: str = Field(max_length=4096)
    signature: str = Field(max_length=4096)


class PasskeyMade(Shape):
    check: str = Field(description="six digits that the terminal shows too")


class EnrolmentOutcome(Shape):
    enrolled: bool = Field(description="the operator has signed for it: it counts")


class PasskeyShown(Shape):
    id: str
    name: str
    credential: str
    site: str
    origin: str
    enrolled_at: str
    revoked_at: str = Field(description="or empty")
    operator: str = Field(description="whose it is; it has their role")


class PasskeyEnrolled(PasskeyShown):
    sequence: int


class CredentialNamed(Shape):
    type: Literal["public-key"]
    id: str


class RelyingParty(Shape):
    id: str
    name: str


class PasskeyUser(Shape):
    id: str
    name: str
    displayName: str  # noqa: N815 - the browser's own name


class KeyKind(Shape):
    type: Literal["public-key"]
    alg: int


class AuthenticatorSelection(Shape):
    residentKey: str  # noqa: N815 - the browser's own name
    userVerification: str  # noqa: N815 - the browser's own name


class CreationOptions(Shape):
    """For `PublicKeyCredential.parseCreationOptionsFromJSON`."""

    challenge: str
    rp: RelyingParty
    user: PasskeyUser
    pubKeyCredParams: list[KeyKind]  # noqa: N815 - the browser's own name
    excludeCredentials: list[CredentialNamed]  # noqa: N815 - the browser's own name
    authenticatorSelection: AuthenticatorSelection  # noqa: N815 - the browser's own name
    attestation: str
    timeout: int


class RequestOptions(Shape):
    """For `PublicKeyCredential.parseRequestOptionsFromJSON`."""

    challenge: str
    rpId: str  # noqa: N815 - the browser's own name
    allowCredentials: list[CredentialNamed]  # noqa: N815 - the browser's own name
    userVerification: str  # noqa: N815 - the browser's own name
    timeout: int


class StatementDrafted(Shape):
    """A decision to be signed with a passkey.

    Send it back as `authority`: the statement, `key` (the passkey's id), and of the browser's
    answer `signature`, `authenticator_data` and `client_data`, each in base64url.
    """

    statement: dict[str, Any]
    options: RequestOptions
    passkeys: dict[str, str] = Field(description="the passkey's id, by its credential")
