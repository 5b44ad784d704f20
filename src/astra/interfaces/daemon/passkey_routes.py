"""Passkeys over HTTP: enrolling one, logging in with one, and what it is asked to sign.

The shapes are those that browsers read and write themselves (`parseCreationOptionsFromJSON`,
`toJSON`). Enrolling starts at the operator's terminal, which prints a one-time link, and ends there
with the key's signature; the browser in between only makes the passkey.
"""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Request, Response

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Opened, Page
from astra.interfaces.daemon.passkey_models import (
    Candidate,
    CreationOptions,
    EnrolmentLink,
    PasskeyEnrolled,
    PasskeyLogin,
    PasskeyMade,
    PasskeyShown,
    RequestOptions,
    StatementDrafted,
)
from astra.interfaces.daemon.session_routes import Reception, opened
from astra.trusted.door.challenges import ENROLMENT_LIFETIME, Enrolment
from astra.trusted.door.login import NotRecognised
from astra.trusted.door.requests import caller, source
from astra.trusted.door.site import Site
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import BadInput, Refused
from astra.trusted.ledger import views
from astra.trusted.policy import access, assertions, authority, enrolment
from astra.trusted.policy.assertions import Assertion
from astra.trusted.policy.authority import KEY_ONLY, Signed
from astra.trusted.policy.enrolment import Passkey

Code = Annotated[str, Body(embed=True, max_length=200)]
Text = Annotated[str, Body(max_length=assertions.LARGEST)]
_TIMEOUT = 120_000


def add(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
    _listing(app, runtime)
    _enrolling(app, runtime, reception)
    _making(app, runtime, reception)
    _logging_in(app, runtime, reception)
    _deciding(app, runtime, reception)


def _listing(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/passkeys", response_model=Page[PasskeyShown])
    def list_passkeys() -> dict[str, Any]:
        found = [each.as_dict() for each in enrolment.listed(runtime.ledger)]
        return {"items": found, "next": None}

    @app.post("/api/passkeys/{identifier}/revoke", response_model=PasskeyShown)
    def revoke_passkey(request: Request, identifier: str) -> dict[str, Any]:
        return enrolment.revoke(runtime.ledger, identifier, actor=caller(request)).as_dict()


def _enrolling(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
    """At the terminal: ask for a link, wait for what was made, sign it."""

    @app.post("/api/passkeys/enrolments")
    def start_enrolment() -> EnrolmentLink:
        site, now = reception.open_site(), runtime.clock.now()
        code = reception.enrolments.create(now)
        until = format_time(now + ENROLMENT_LIFETIME)
        return EnrolmentLink(url=f"{site.origin}/enroll#{code}", code=code, expires_at=until)

    @app.post("/api/passkeys/enrolments/candidate")
    def show_candidate(
        request: Request, code: Code, name: Annotated[str, Body(embed=True)]
    ) -> Candidate:
        found = _open(runtime, reception, code, source(request))
        if found.made is None:
            return Candidate(content=None, check=None)
        return Candidate(content=enrolment.content(found.made, name=name), check=found.check)

    @app.post("/api/passkeys", response_model=PasskeyEnrolled)
    def enroll_passkey(
        content: Annotated[dict[str, Any], Body()],
        signature: Annotated[dict[str, Any], Body(alias="authority")],
    ) -> dict[str, Any]:
        signed, now = Signed.read(signature), runtime.clock.now()
        record = enrolment.enroll(runtime.ledger, content, signed, now=now)
        made = enrolment.get(runtime.ledger, str(content["passkey"]))
        return {**made.as_dict(), "sequence": record.sequence}


def _making(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
    """In the browser that opened the link."""

    @app.post("/api/passkeys/enrolments/options", response_model=CreationOptions)
    def creation_options(request: Request, code: Code) -> dict[str, Any]:
        found, site = _open(runtime, reception, code, source(request)), reception.open_site()
        root_id = authority.keys(runtime.ledger).root_id
        return {
            "challenge": assertions.encoded(found.challenge),
            "rp": {"id": site.name, "name": "Astra"},
            "user": {
                "id": assertions.encoded(root_id.encode()),
                "name": root_id,
                "displayName": "Astra's operator",
            },
            "pubKeyCredParams": [
                {"type": "public-key", "alg": algorithm} for algorithm in assertions.ALGORITHMS
            ],
            "excludeCredentials": _credentials(_usable(runtime, site)),
            "authenticatorSelection": {
                "residentKey": "required",
                "userVerification": "required",
            },
            "attestation": "none",
            "timeout": _TIMEOUT,
        }

    @app.post("/api/passkeys/enrolments/made")
    def keep_made_passkey(
        request: Request, code: Code, client_data: Text, attestation: Text
    ) -> PasskeyMade:
        found, site = _open(runtime, reception, code, source(request)), reception.open_site()
        try:
            made = assertions.read_registration(
                assertions.decoded(client_data),
                assertions.decoded(attestation),
                found.challenge,
                site=site.name,
                origin=site.origin,
            )
        except ValueError as error:
            raise BadInput(
                str(error), code="bad_passkey", next_step="try again from the same link"
            ) from None
        if not reception.enrolments.settle(code, made, runtime.clock.now()):
            raise _too_late()
        return PasskeyMade(check=found.check)


def _logging_in(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
    @app.post("/api/session/challenge", response_model=RequestOptions)
    def login_challenge() -> dict[str, Any]:
        challenge = reception.challenges.create(runtime.clock.now())
        return _request(reception.open_site(), challenge, [])

    @app.post("/api/session/passkey")
    def open_session_with_passkey(
        request: Request, response: Response, said: PasskeyLogin
    ) -> Opened:
        site, now = reception.open_site(), runtime.clock.now()
        try:
            identifier = enrolment.passkey_id(assertions.decoded(said.credential))
            assertion = Assertion.read(said.model_dump())
            challenge = assertions.challenge_of(assertion.client_data)
        except ValueError:
            identifier, assertion, challenge = "", None, b""
        if assertion is None or not _opens(runtime, reception, identifier, assertion, challenge):
            reception.attempts.failed(source(request), now)
            raise NotRecognised(
                "passkey not recognised", next_step="astra passkeys list; or: astra login"
            )
        secret = access.new_secret()
        used = {"passkey": identifier, "counter": assertion.counter}
        who = access.open_session(runtime.ledger, secret, by="passkey", now=now, passkey=used)
        return opened(site, response, who, secret)


def _opens(
    runtime: Runtime,
    reception: Reception,
    identifier: str,
    assertion: Assertion,
    challenge: bytes,
) -> bool:
    now, before = runtime.clock.now(), runtime.ledger.head().sequence + 1
    return (
        reception.challenges.good(challenge, now)
        and not authority.passkey_objection(
            runtime.ledger, identifier, assertion, challenge, before=before
        )
        and reception.challenges.spend(challenge, now)
    )


def _deciding(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
    @app.post("/api/statements", response_model=StatementDrafted)
    def draft_statement(
        action: Annotated[str, Body(max_length=100)], content: Annotated[dict[str, Any], Body()]
    ) -> dict[str, Any]:
        """Write the statement of a decision, for a passkey to sign: its challenge is its hash."""
        if action in KEY_ONLY:
            raise Refused(
                "a passkey cannot decide this",
                code="key_only",
                next_step="use the astra command in a terminal; it asks for your passphrase",
            )
        site, ledger = reception.open_site(), runtime.ledger
        statement = authority.draft(
            action,
            content,
            root_id=authority.keys(runtime.ledger).root_id,
            head=views.settled_head(ledger),
            now=runtime.clock.now(),
        )
        usable = _usable(runtime, site)
        return {
            "statement": statement,
            "options": _request(site, authority.challenge(statement), usable),
            "passkeys": {each.credential: each.id for each in usable},
        }


def _open(runtime: Runtime, reception: Reception, code: str, address: str) -> Enrolment:
    now = runtime.clock.now()
    found = reception.enrolments.find(code, now)
    if found is None:
        reception.attempts.failed(address, now)
        raise _too_late()
    return found


def _too_late() -> NotRecognised:
    return NotRecognised(
        "login link already used or expired",
        next_step="get a new one in a terminal: astra passkeys enroll",
    )


def _usable(runtime: Runtime, site: Site) -> list[Passkey]:
    return [
        each
        for each in enrolment.listed(runtime.ledger)
        if each.origin == site.origin and not each.revoked_at
    ]


def _credentials(passkeys: list[Passkey]) -> list[dict[str, str]]:
    return [{"type": "public-key", "id": each.credential} for each in passkeys]


def _request(site: Site, challenge: bytes, passkeys: list[Passkey]) -> dict[str, Any]:
    return {
        "challenge": assertions.encoded(challenge),
        "rpId": site.name,
        "allowCredentials": _credentials(passkeys),
        "userVerification": "required",
        "timeout": _TIMEOUT,
    }
