"""MCP over HTTP, as an ASGI application: an agent's door, whoever knocks.

Sessions of the 2025 protocol have an id and a budget each, and belong to the caller who opened
them. The 2026 protocol has no sessions, so one caller's requests share a budget, which starts anew
every hour.

One caller has so many sessions at most. Who opens one more loses the one that was idle longest;
where none is idle, the new one is refused.
"""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import cast

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from astra.interfaces.daemon.parameters import parse_names
from astra.interfaces.mcp.departure import watch_request
from astra.interfaces.mcp.resource_handlers import Context
from astra.interfaces.mcp.session import Budget, Session
from astra.interfaces.mcp.session_server import SessionServer, read_session_id
from astra.interfaces.mcp.tool_server import ToolServer
from astra.interfaces.mcp.toolsets import Selection
from astra.operations.caps import MCP_SESSIONS
from astra.trusted.door import problems
from astra.trusted.door.requests import caller, limits
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.policy.call import Actor, Role

_IDLE_SECONDS = 30 * 60.0
_BUDGET_SECONDS = 60 * 60.0
_MOST_SESSIONS = 1_000
_SESSION_ID = b"mcp-session-id"
_FAILED = 400
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_LOCAL = [f"http://{name}{port}" for name in LOOPBACK for port in ("", ":*")]


@dataclass
class _Kept:
    budget: Budget = field(default_factory=Budget)
    under_way: int = 0
    last: float = field(default_factory=time.monotonic)
    began: float = field(default_factory=time.monotonic)
    owner: str = ""

    def is_idle(self) -> bool:
        """Tell whether it can be forgotten; an hour's budget is remembered for its hour."""
        patience = _BUDGET_SECONDS if self.budget.hourly else _IDLE_SECONDS
        return not self.under_way and time.monotonic() - self.last > patience


class HttpSessions:
    def __init__(
        self,
        tools: ToolServer,
        *,
        dotted: bool,
        origins: Sequence[str] = (),
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tools = tools
        self._seconds = seconds
        self._dotted = dotted
        self._kept: dict[tuple[str, str], _Kept] = {}
        self._server = SessionServer(tools, self._session_of)
        self._manager = StreamableHTTPSessionManager(
            app=self._server,
            security_settings=_allow_origins([*_LOCAL, *origins]),
            session_idle_timeout=_IDLE_SECONDS,
            max_sessions=_MOST_SESSIONS,
        )

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        session = request.headers.get("mcp-session-id", "")
        if not session and not _is_modern(request):
            await self._open_session(scope, receive, send, owner=caller(request))
            return
        usage = self._kept.get(("session", session))
        if session and (usage is None or usage.owner != caller(request)):
            await problems.render_problem(_build_unknown_session())(scope, receive, send)
            return
        usage = usage or _Kept()
        usage.under_way += 1
        try:
            await self._manager.asgi_app(scope, watch_request(scope, receive), send)
        finally:
            usage.under_way -= 1
            usage.last = time.monotonic()
            if scope["method"] == "DELETE":
                self._forget_session(("session", session))

    async def _open_session(
        self, scope: Scope, receive: Receive, send: Send, *, owner: str
    ) -> None:
        """Let a caller open a session, unless all it may have are open and in use."""
        if not await self._make_room(scope, owner):
            await problems.render_problem(MCP_SESSIONS.build_error())(scope, receive, send)
            return
        opening = _Kept(owner=owner, under_way=1)  # counts from here on, whatever comes of it
        place = ("opening", str(id(opening)))
        self._kept[place] = opening

        async def note_session(message: Message) -> None:
            headers = dict(message.get("headers", ()))
            if message.get("status", 500) < _FAILED and _SESSION_ID in headers:
                self._kept["session", headers[_SESSION_ID].decode("latin-1")] = opening
            await send(message)

        try:
            await self._manager.asgi_app(scope, receive, note_session)
        finally:
            del self._kept[place]
            opening.under_way -= 1
            opening.last = time.monotonic()

    async def _make_room(self, scope: Scope, owner: str) -> bool:
        """Tell whether a caller may have one more session, after ending an idle one if need be."""
        self._forget_idle()
        theirs = {key: usage for key, usage in self._kept.items() if usage.owner == owner}
        if len(theirs) < MCP_SESSIONS.most:
            return True
        resting = [key for key, usage in theirs.items() if not usage.under_way]
        if not resting:
            return False
        oldest = min(resting, key=lambda key: theirs[key].last)
        self._forget_session(oldest)
        await self._end_session(scope, oldest[1])
        return True

    async def _end_session(self, scope: Scope, session: str) -> None:
        """End a session as its client would: the manager has no other way."""
        headers = [
            *((name, value) for name, value in scope["headers"] if name == b"host"),
            (_SESSION_ID, session.encode("latin-1")),
        ]

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def unheard(_message: Message) -> None:
            pass

        ending = {**scope, "method": "DELETE", "headers": headers}
        await self._manager.asgi_app(ending, nothing, unheard)

    def _session_of(self, ctx: Context) -> Session:
        request = cast("Request", ctx.request)
        session = Session(
            actor=Actor(role=Role.AGENT, name=caller(request), door="mcp"),
            off=parse_names(request.headers.get("astra-off", "")),
            dotted=self._dotted,
            selection=_read_selection(request),
            plain=_is_set(request, "astra-plain"),
            limits=limits(request),
        )
        key = read_session_id(ctx) or str(session.actor)
        return replace(session, budget=self._find_budget(ctx, str(session.actor)), key=key)

    def _find_budget(self, ctx: Context, who: str) -> Budget:
        session = read_session_id(ctx)
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return self._find_hourly_budget(("caller", who))
        if session is not None:
            key = ("session", session)
        else:
            return Budget()
        if key not in self._kept:
            self._forget_idle()
            self._kept[key] = _Kept()
        self._kept[key].last = time.monotonic()
        return self._kept[key].budget

    def _find_hourly_budget(self, key: tuple[str, str]) -> Budget:
        now = self._seconds()
        usage = self._kept.get(key)
        if usage is None or now - usage.began >= _BUDGET_SECONDS:
            self._forget_idle()
            usage = self._kept[key] = _Kept(budget=Budget(hourly=True), began=now)
        usage.last = now
        return usage.budget

    def _forget_idle(self) -> None:
        for key in [key for key, usage in self._kept.items() if usage.is_idle()]:
            self._forget_session(key)

    def _forget_session(self, key: tuple[str, str]) -> None:
        """Forget its budget, and its channel: that holds every object of the session's requests."""
        self._kept.pop(key, None)
        self._tools.announcements.remove(key[1])
        self._server.log.forget(key[1])


def _build_unknown_session() -> NotFound:
    """Say the same of a session that is over and of one that is another caller's."""
    return NotFound(
        "there is no such MCP session, or it was opened with another token",
        code="unknown_session",
        next_step="send `initialize` without Mcp-Session-Id to open one",
    )


def _read_selection(request: Request) -> Selection:
    """Read which tools a client asks for; a name that is none is answered as a bad request."""
    names = request.headers.get("astra-toolsets", "")
    try:
        return Selection.parse(names, read_only=_is_set(request, "astra-read-only"))
    except BadInput as error:
        raise MCPError(INVALID_PARAMS, error.detail, error.as_dict()) from None


def _is_set(request: Request, header: str) -> bool:
    return request.headers.get(header, "").lower() in {"1", "true", "on", "yes"}


def _is_modern(request: Request) -> bool:
    return request.headers.get("mcp-protocol-version") in MODERN_PROTOCOL_VERSIONS


def _allow_origins(origins: Sequence[str]) -> TransportSecuritySettings:
    """Answer to these names only, so that no web page reaches the door by a name of its own."""
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[origin.partition("://")[2] for origin in origins],
        allowed_origins=list(origins),
    )
