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
    EnrolmentOutcome,
    PasskeyEnrolled,
    PasskeyLogin,
    PasskeyMade,
    PasskeyShown,
    RequestOptions,
    StatementDrafted,
)
from astra.interfaces.daemon.session_routes import Reception, hand_over_session
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
    _add_list_routes(app, runtime)
    _add_enrolment_routes(app, runtime, reception)
    _add_creation_routes(app, runtime, reception)
    _add_outcome_routes(app, runtime, reception)
    _add_login_routes(app, runtime, reception)
    _add_decision_routes(app, runtime, reception)


def _add_list_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/passkeys", response_model=Page[PasskeyShown])
    def list_passkeys() -> dict[str, Any]:
        passkeys = [passkey.as_dict() for passkey in enrolment.list_passkeys(runtime.ledger)]
        return {"items": passkeys, "next": None}

    @app.post("/api/passkeys/{identifier}/revoke", response_model=PasskeyShown)
    def revoke_passkey(request: Request, identifier: str) -> dict[str, Any]:
        return enrolment.revoke(runtime.ledger, identifier, actor=caller(request)).as_dict()


def _add_enrolment_routes(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
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
        open_enrolment = _find_enrolment(runtime, reception, code, source(request))
        if open_enrolment.made is None:
            return Candidate(content=None, check=None)
        return Candidate(
            content=enrolment.content(open_enrolment.made, name=name), check=open_enrolment.check
        )

    @app.post("/api/passkeys", response_model=PasskeyEnrolled)
    def enroll_passkey(
        content: Annotated[dict[str, Any], Body()],
        signature: Annotated[dict[str, Any], Body(alias="authority")],
    ) -> dict[str, Any]:
        operator_signature, now = Signed.read(signature), runtime.clock.now()
        record = enrolment.enroll(runtime.ledger, content, operator_signature, now=now)
        passkey = enrolment.get(runtime.ledger, str(content["passkey"]))
        return {**passkey.as_dict(), "sequence": record.sequence}


def _add_creation_routes(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
    """In the browser that opened the link."""

    @app.post("/api/passkeys/enrolments/options", response_model=CreationOptions)
    def creation_options(request: Request, code: Code) -> dict[str, Any]:
        open_enrolment, site = (
            _find_enrolment(runtime, reception, code, source(request)),
            reception.open_site(),
        )
        root_id = authority.find_keys(runtime.ledger).root_id
        return {
            "challenge": assertions.encode_base64url(open_enrolment.challenge),
            "rp": {"id": site.name, "name": "Astra"},
            "user": {
                "id": assertions.encode_base64url(root_id.encode()),
                "name": root_id,
                "displayName": "Astra's operator",
            },
            "pubKeyCredParams": [
                {"type": "public-key", "alg": algorithm} for algorithm in assertions.ALGORITHMS
            ],
            "excludeCredentials": _list_credentials(_list_usable_passkeys(runtime, site)),
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
        open_enrolment, site = (
            _find_enrolment(runtime, reception, code, source(request)),
            reception.open_site(),
        )
        try:
            registration = assertions.read_registration(
                assertions.decode_base64url(client_data),
                assertions.decode_base64url(attestation),
                open_enrolment.challenge,
                site=site.name,
                origin=site.origin,
            )
        except ValueError as error:
            raise BadInput(
                str(error), code="bad_passkey", next_step="try again from the same link"
            ) from None
        if not reception.enrolments.settle(code, registration, runtime.clock.now()):
            raise _make_link_error()
        return PasskeyMade(check=open_enrolment.check)


def _add_outcome_routes(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
    """In the same browser, once the passkey is made."""

    @app.post("/api/passkeys/enrolments/outcome")
    def show_outcome(request: Request, code: Code) -> EnrolmentOutcome:
        open_enrolment = _find_enrolment(runtime, reception, code, source(request))
        return EnrolmentOutcome(enrolled=_counts(runtime, reception, open_enrolment))

    @app.post("/api/passkeys/enrolments/session")
    def open_session_after_enrolment(request: Request, response: Response, code: Code) -> Opened:
        """Let whoever enrolled in, once: the link is as good as one of `astra login`, no better."""
        site, now = reception.open_site(), runtime.clock.now()
        open_enrolment = _find_enrolment(runtime, reception, code, source(request))
        if not _counts(runtime, reception, open_enrolment):
            raise Refused(
                "the operator has not signed for this passkey yet",
                code="not_enrolled",
                next_step="compare the digits in the terminal, and sign there",
            )
        if not reception.enrolments.spend(code, now):
            raise _make_link_error()
        secret = access.new_secret()
        who = access.open_session(runtime.ledger, secret, by="link", now=now)
        return hand_over_session(site, response, who, secret)


def _add_login_routes(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
    @app.post("/api/session/challenge", response_model=RequestOptions)
    def login_challenge() -> dict[str, Any]:
        challenge = reception.challenges.create(runtime.clock.now())
        return _make_request_options(reception.open_site(), challenge, [])

    @app.post("/api/session/passkey")
    def open_session_with_passkey(
        request: Request, response: Response, said: PasskeyLogin
    ) -> Opened:
        site, now = reception.open_site(), runtime.clock.now()
        try:
            identifier = enrolment.passkey_id(assertions.decode_base64url(said.credential))
            assertion = Assertion.read(said.model_dump())
            challenge = assertions.read_challenge(assertion.client_data)
        except ValueError:
            identifier, assertion, challenge = "", None, b""
        if assertion is None or not _accept_login(
            runtime, reception, identifier, assertion, challenge
        ):
            reception.attempts.count_failure(source(request), now)
            raise NotRecognised(
                "passkey not recognised", next_step="astra passkeys list; or: astra login"
            )
        secret = access.new_secret()
        used = {"passkey": identifier, "counter": assertion.counter}
        who = access.open_session(runtime.ledger, secret, by="passkey", now=now, passkey=used)
        return hand_over_session(site, response, who, secret)


def _accept_login(
    runtime: Runtime,
    reception: Reception,
    identifier: str,
    assertion: Assertion,
    challenge: bytes,
) -> bool:
    now, before = runtime.clock.now(), runtime.ledger.head().sequence + 1
    return (
        reception.challenges.is_valid(challenge, now)
        and not authority.passkey_objection(
            runtime.ledger, identifier, assertion, challenge, before=before
        )
        and reception.challenges.spend(challenge, now)
    )


def _add_decision_routes(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
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
            root_id=authority.find_keys(runtime.ledger).root_id,
            head=views.settled_head(ledger),
            now=runtime.clock.now(),
        )
        usable = _list_usable_passkeys(runtime, site)
        return {
            "statement": statement,
            "options": _make_request_options(site, authority.challenge(statement), usable),
            "passkeys": {passkey.credential: passkey.id for passkey in usable},
        }


def _find_enrolment(runtime: Runtime, reception: Reception, code: str, address: str) -> Enrolment:
    now = runtime.clock.now()
    open_enrolment = reception.enrolments.find(code, now)
    if open_enrolment is None:
        reception.attempts.count_failure(address, now)
        raise _make_link_error()
    return open_enrolment


def _counts(runtime: Runtime, reception: Reception, open_enrolment: Enrolment) -> bool:
    """Tell whether the operator has signed for the passkey that was made from a link."""
    registration, usable = (
        open_enrolment.made,
        _list_usable_passkeys(runtime, reception.open_site()),
    )
    return registration is not None and enrolment.passkey_id(registration.id) in {
        passkey.id for passkey in usable
    }


def _make_link_error() -> NotRecognised:
    return NotRecognised(
        "login link already used or expired",
        next_step="get a new one in a terminal: astra passkeys enroll",
    )


def _list_usable_passkeys(runtime: Runtime, site: Site) -> list[Passkey]:
    council = authority.find_keys(runtime.ledger)
    return [
        passkey
        for passkey in enrolment.list_passkeys(runtime.ledger)
        if passkey.origin == site.origin
        and not passkey.revoked_at
        and council.find_by_name(passkey.operator)
    ]


def _list_credentials(passkeys: list[Passkey]) -> list[dict[str, str]]:
    return [{"type": "public-key", "id": passkey.credential} for passkey in passkeys]


def _make_request_options(site: Site, challenge: bytes, passkeys: list[Passkey]) -> dict[str, Any]:
    return {
        "challenge": assertions.encode_base64url(challenge),
        "rpId": site.name,
        "allowCredentials": _list_credentials(passkeys),
        "userVerification": "required",
        "timeout": _TIMEOUT,
    }
