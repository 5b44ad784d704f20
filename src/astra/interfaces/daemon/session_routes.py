"""Sessions and tokens over HTTP: how a person gets in, and which programs may.

Whatever is presented, a new session has a new secret: nobody can fix it beforehand.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Body, FastAPI, Request, Response

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import (
    LoginLink,
    Opened,
    Page,
    Session,
    TokenCreated,
    TokenShown,
)
from astra.trusted.door.challenges import Enrolments, LoginChallenges
from astra.trusted.door.front_door import csrf_token
from astra.trusted.door.login import LINK_LIFETIME, Attempts, LoginLinks, NotRecognised
from astra.trusted.door.requests import caller, principal, source
from astra.trusted.door.rules import RULES, SOCKET_ONLY
from astra.trusted.door.site import COOKIE, Site
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import BadInput, Refused
from astra.trusted.policy import access
from astra.trusted.policy.access import Principal
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.call import Role
from astra.trusted.policy.limits import NO_LIMITS, read_limits


@dataclass(frozen=True, kw_only=True)
class Reception:
    """Where people come in: at which site, with which open links, after how many failures."""

    site: Site | None
    links: LoginLinks = field(default_factory=LoginLinks)
    attempts: Attempts = field(default_factory=Attempts)
    challenges: LoginChallenges = field(default_factory=LoginChallenges)
    enrolments: Enrolments = field(default_factory=Enrolments)

    def forget(self) -> None:
        """Let nothing be open that was given for some minutes by a clock that was wrong."""
        for given_for_minutes in (self.links, self.attempts, self.challenges, self.enrolments):
            given_for_minutes.forget()

    def open_site(self) -> Site:
        if self.site is None:
            raise Refused(
                "this daemon serves no page: it was started on demand",
                code="no_page",
                next_step="astra login starts one that does; so does astra up",
            )
        return self.site


def add(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
    _add_login_routes(app, runtime, reception)
    _add_session_routes(app, runtime, reception)
    _add_token_routes(app, runtime)


def login_url(runtime: Runtime, reception: Reception) -> str:
    """Make a one-time link; its code is behind `#`, so that no log or Referer gets to see it."""
    code = reception.links.create(runtime.clock.now())
    return f"{reception.open_site().origin}/login#{code}"


def _add_login_routes(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
    @app.post("/api/login")
    def make_login_link() -> LoginLink:
        url = login_url(runtime, reception)
        until = format_time(runtime.clock.now() + LINK_LIFETIME)
        return LoginLink(url=url, expires_at=until)


def _add_session_routes(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
    @app.post("/api/session")
    def open_session(
        request: Request, response: Response, code: Annotated[str, Body(embed=True, max_length=200)]
    ) -> Opened:
        site, now = reception.open_site(), runtime.clock.now()
        if not reception.links.spend(code, now):
            reception.attempts.count_failure(source(request), now)
            raise NotRecognised(
                "login link already used or expired",
                next_step="get a new one in a terminal: astra login",
            )
        secret = access.new_secret()
        who = access.open_session(runtime.ledger, secret, by="link", now=now)
        return hand_over_session(site, response, who, secret)

    @app.get("/api/session")
    def show_session(request: Request) -> Session:
        return _session_from_principal(principal(request), request.cookies.get(COOKIE, ""))

    @app.delete("/api/session")
    def close_session(request: Request, response: Response) -> Session:
        who = principal(request)
        if who is None or who.by == "token":
            raise Refused(
                "this is not a session", code="no_session", next_step="astra tokens revoke ID"
            )
        access.close_session(runtime.ledger, who.id, actor=caller(request))
        response.headers["Clear-Site-Data"] = '"cache", "storage"'
        response.delete_cookie(COOKIE, secure=True, httponly=True, samesite="strict")
        return _session_from_principal(who, "")


def hand_over_session(site: Site, response: Response, who: Principal, secret: str) -> Opened:
    """Hand a session over: in a cookie behind TLS, else as a secret that is told this once."""
    if not site.secure:
        return Opened(session=_session_from_principal(who, ""), secret=secret)
    response.set_cookie(COOKIE, secret, secure=True, httponly=True, samesite="strict", path="/")
    return Opened(session=_session_from_principal(who, secret), secret=None)


def _session_from_principal(who: Principal | None, secret: str) -> Session:
    if who is None:
        return Session(id="", role=Role.OPERATOR, by="socket", expires_at=None, csrf=None)
    csrf = csrf_token(secret) if secret else None
    session_fields = {"id": who.id, "role": who.role, "by": who.by, "expires_at": who.expires_at}
    return Session.model_validate({**session_fields, "csrf": csrf})


def _add_token_routes(app: FastAPI, runtime: Runtime) -> None:
    ledger = runtime.ledger

    @app.get("/api/tokens")
    def list_tokens() -> Page[TokenShown]:
        tokens = [
            TokenShown.model_validate(token.as_dict()) for token in access.list_tokens(ledger)
        ]
        return Page[TokenShown](items=tokens, next=None)

    @app.post("/api/tokens")
    def create_token(
        content: Annotated[dict[str, Any], Body()], authority: Annotated[dict[str, Any], Body()]
    ) -> TokenCreated:
        _refuse_unknown_names(runtime, content)
        operator_signature, now = Signed.read(authority), runtime.clock.now()
        record = access.create_token(ledger, content, operator_signature, now=now)
        token = access.get_token(ledger, str(content["token"]))
        return TokenCreated.model_validate({**token.as_dict(), "sequence": record.sequence})

    @app.post("/api/tokens/{identifier}/revoke")
    def revoke_token(request: Request, identifier: str) -> TokenShown:
        token = access.revoke_token(ledger, identifier, actor=caller(request))
        return TokenShown.model_validate(token.as_dict())


def _refuse_unknown_names(runtime: Runtime, content: dict[str, Any]) -> None:
    """Say at once that a scope names something that does not exist; tools of servers may come."""
    token_limits = read_limits(content["limits"]) if "limits" in content else NO_LIMITS
    names = [tool.name for tool in runtime.counter.registry.list_all()]
    for pattern in token_limits.tools:
        begin = pattern.removesuffix("*")
        matches = [name for name in names if name == pattern or name.startswith(begin)]
        if not pattern.startswith("mcp.") and not matches:
            raise BadInput(
                f"there is no tool {pattern}", code="bad_scope", next_step="astra tools list"
            )
    for route in token_limits.routes:
        if not RULES.get(route, SOCKET_ONLY).roles:
            raise BadInput(
                f"no token can use {route}",
                code="bad_scope",
                next_step="write it as docs/reference/http.md does: GET /api/changes/{identifier}",
            )
