"""The loopback door: what a request passes before any route sees it.

    name → origin → rule → who → role → scope → (cookie: CSRF) → size and time of the body → route

Each step refuses with a problem that says what to do. Nothing here trusts a header that a proxy may
have added, and nobody is anybody because of the address they come from.
"""

import asyncio
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from astra.trusted.door import problems
from astra.trusted.door import site as sites
from astra.trusted.door.leases import Leases
from astra.trusted.door.login import NotRecognised
from astra.trusted.door.requests import PRINCIPAL, ROUTE
from astra.trusted.door.rules import RULES, SOCKET_ONLY, Rule, find_scope_objection
from astra.trusted.door.site import COOKIE, Site
from astra.trusted.kernel.errors import AstraError, BadInput, NotFound, Refused
from astra.trusted.policy import access
from astra.trusted.policy.access import Principal

LARGEST_BODY, LARGEST_PUBLIC_BODY = 4 << 20, 64 << 10
LARGEST_SOCKET_BODY = 32 << 20
BODY_SECONDS = 30.0
CSRF_HEADER = "X-CSRF-Token"
_THREADS = 4
"""Threads that tell who somebody is: nothing slow runs in them, so nobody waits at the door."""
_SAFE = frozenset({"GET", "HEAD"})
_FOREIGN = frozenset({"cross-site", "same-site"})


class TooLarge(BadInput):
    code = "body_too_large"
    http_status = 413


class TooSlow(BadInput):
    code = "body_too_slow"
    http_status = 408


class WrongName(Refused):
    code = "wrong_host"
    http_status = 421


class SocketDoor:
    """What stands before the API on the socket: it limits bodies; who may come is known."""

    def __init__(self, app: ASGIApp, *, largest: int = LARGEST_SOCKET_BODY) -> None:
        self._app, self._largest = app, largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _SAFE:
            await self._app(scope, receive, send)
            return
        try:
            body = await _whole_body(Headers(scope=scope), receive, self._largest)
        except AstraError as error:
            await problems.render_problem(error)(scope, receive, send)
            return
        await self._app(scope, _replay_body(body, receive), send)


class FrontDoor:
    def __init__(
        self,
        app: Starlette,
        site: Site,
        *,
        recognise: Callable[[str], Principal | None],
        leases: Leases,
        pages: ASGIApp,
    ) -> None:
        self._app = app
        self._site = site
        self._recognise = recognise
        self._leases = leases
        self._pages = pages
        self._headers = sites.headers(site)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="front-door")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = _Answer(send, self._headers)
        try:
            await self._admit_request(scope, receive, answer)
        except AstraError as error:
            if not answer.started:
                await problems.render_problem(error)(scope, receive, answer)

    async def _admit_request(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        headers = Headers(scope=scope)
        self._check_name(headers)
        rule = self._find_rule(scope)
        if rule is None:
            await self._pages(scope, receive, answer)
            return
        self._check_origin(headers)
        who = None if rule.public else await self._recognise_caller(scope, headers, rule)
        scope[PRINCIPAL] = who
        limit = LARGEST_BODY if who else LARGEST_PUBLIC_BODY
        body = await _whole_body(headers, receive, limit)
        work = self._app(scope, _replay_body(body, receive), answer)
        if who is None or not rule.stream:
            await work
        elif not await self._leases.run(who, work):
            await answer.finish()

    def _check_name(self, headers: Headers) -> None:
        """Answer to our own names only, so that no page reaches us by a name of its making."""
        if headers.getlist("host") not in [[host] for host in self._site.hosts]:
            raise WrongName(
                "Host header not allowed",
                next_step=f"use {self._site.origin}; a proxy in front has to pass the Host on",
            )

    def _check_origin(self, headers: Headers) -> None:
        """Take requests of our own pages only, by whichever of our names they were opened."""
        origins = headers.getlist("origin")
        if origins and origins not in ([self._site.origin], [self._name_origin(headers)]):
            raise Refused(
                "Origin not allowed",
                code="wrong_origin",
                next_step=f"open {self._site.origin}",
            )
        if headers.get("sec-fetch-site", "") in _FOREIGN:
            raise Refused(
                "cross-site request refused",
                code="wrong_origin",
                next_step=f"open {self._site.origin}",
            )

    def _name_origin(self, headers: Headers) -> str:
        """Name the origin of a page that was opened by the name this request was sent to."""
        return f"{self._site.origin.partition('://')[0]}://{headers.get('host', '')}"

    def _find_rule(self, scope: Scope) -> Rule | None:
        """Find the rule of the route that would answer; None where only a page could be meant."""
        partial = False
        for route in self._app.routes:
            match, _ = route.matches(scope)
            partial = partial or match is Match.PARTIAL
            if match is Match.FULL and isinstance(route, Route):
                scope[ROUTE] = f"{scope['method']} {route.path}"
                return RULES.get(scope[ROUTE], SOCKET_ONLY)
        if partial or is_machine_path(scope["path"]):
            raise NotFound(
                "no such route", next_step="see docs/reference/http.md, or /openapi.json"
            )
        return None

    async def _recognise_caller(self, scope: Scope, headers: Headers, rule: Rule) -> Principal:
        if not rule.roles:
            raise Refused(
                "this route is served on the unix socket only",
                code="socket_only",
                next_step="use the astra command on this machine",
            )
        secret, in_cookie = self._read_secret(headers)
        loop = asyncio.get_running_loop()
        who = await loop.run_in_executor(self._threads, self._recognise, secret) if secret else None
        if who is None:
            raise NotRecognised(
                "not logged in: the session or token is missing, expired or revoked",
                next_step=_FOR_PROGRAMS
                if scope["path"].startswith(("/mcp", "/v1"))
                else "get a link in a terminal: astra login",
            )
        if who.role not in rule.roles:
            raise Refused(
                f"the role {who.role} may not do this",
                code="wrong_role",
                next_step=f"it takes the role {' or '.join(sorted(rule.roles))}",
                role=str(who.role),
            )
        if objection := find_scope_objection(scope[ROUTE], who.limits):
            raise Refused(
                objection,
                code="outside_scope",
                next_step="an operator makes another: astra tokens create --help",
            )
        if in_cookie and scope["method"] not in _SAFE:
            self._check_intent(headers, secret)
        return who

    def _read_secret(self, headers: Headers) -> tuple[str, bool]:
        """Find the secret in the Authorization header, or in the cookie where there is one."""
        authorization_values = headers.getlist("authorization")
        if authorization_values:
            scheme, _, secret = authorization_values[0].partition(" ")
            return (
                (secret.strip(), False)
                if len(authorization_values) == 1 and scheme == "Bearer"
                else ("", False)
            )
        if not self._site.secure:
            return "", False
        cookies = [cookie_parser(text) for text in headers.getlist("cookie")]
        return next(
            (cookie_jar[COOKIE] for cookie_jar in cookies if COOKIE in cookie_jar), ""
        ), True

    def _check_intent(self, headers: Headers, secret: str) -> None:
        """Refuse what another site could have had the browser send along with the cookie."""
        token = headers.get(CSRF_HEADER, "")
        if "origin" not in headers or not secrets.compare_digest(
            token.encode(), csrf_token(secret).encode()
        ):
            raise Refused(
                "CSRF token missing or invalid",
                code="csrf",
                next_step=f"send {CSRF_HEADER} as GET /api/session gives it",
            )


_FOR_PROGRAMS = (
    "send Authorization: Bearer TOKEN; an operator makes a token with"
    " `astra tokens create NAME --role agent` (or --role service --for talk, for /v1)"
)


def csrf_token(secret: str) -> str:
    return access.hash_secret(f"csrf:{secret}")


def is_machine_path(path: str) -> bool:
    """Tell what is for programs from what a browser may take for a page of the dashboard."""
    return path.split("/", 2)[1:2] in [["api"], ["v1"], ["mcp"], ["metrics"], [".well-known"]]


class _Answer:
    """What goes back, with the site's headers; knows whether it has begun and ended."""

    def __init__(self, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        self._send = send
        self._headers = headers
        self.started = False
        self._ended = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            header_names = {name.lower() for name, _ in message["headers"]}
            more = [] if b"cache-control" in header_names else [(b"cache-control", b"no-store")]
            message = {**message, "headers": [*message["headers"], *self._headers, *more]}
        elif not message.get("more_body", False):
            self._ended = True
        await self._send(message)

    async def finish(self) -> None:
        if self.started and not self._ended:
            await self({"type": "http.response.body", "body": b"", "more_body": False})


async def _whole_body(headers: Headers, receive: Receive, limit: int) -> bytes:
    """Read a body before any route does, up to a size and within a time."""
    length = headers.get("content-length", "0")
    if length.isdigit() and int(length) > limit:
        raise _too_large(limit)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _collect_body(receive, limit)
    except TimeoutError:
        raise TooSlow(
            "timed out while reading the request body", next_step="send it at once"
        ) from None


async def _collect_body(receive: Receive, limit: int) -> bytes:
    body = bytearray()
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > limit:
            raise _too_large(limit)
    return bytes(body)


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Give the body to the route once; afterwards it hears when the client leaves."""
    pending_messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": body, "more_body": False}
    ]

    async def replay() -> Message:
        return pending_messages.pop() if pending_messages else await receive()

    return replay


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"a body has at most {limit} bytes here", next_step="send less at a time")
