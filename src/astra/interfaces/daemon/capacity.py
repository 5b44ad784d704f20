"""How many requests work at once, by what they are for, so that nobody waits behind an agent.

Routes run in worker threads. Each request belongs to a pool by its route and by who sends it, and
every pool has threads of its own (`THREADS` is their sum): whatever agents do, an operator's
request finds a thread, and `stop` does even while operators wait for something slow. What finds
its pool full waits in a queue; a full queue refuses at once, with advice (`busy`).

    stop      stop
    decide    an operator's decisions and looks
    slow      what takes seconds: verifying, dry runs, waiting for a change, chat
    agent     what an agent may do; operators with a session of theirs do it in `decide`. And all
              that services do
    public    what a stranger may send: logging in
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from astra.trusted.door import problems
from astra.trusted.door.requests import PRINCIPAL, ROUTE, caller
from astra.trusted.door.rules import RULES
from astra.trusted.kernel.errors import AstraError
from astra.trusted.policy.access import Principal
from astra.trusted.policy.call import Role


class Busy(AstraError):
    code = "busy"
    http_status = 503


class PoolName(StrEnum):
    STOP = "stop"
    DECIDE = "decide"
    SLOW = "slow"
    AGENT = "agent"
    PUBLIC = "public"


@dataclass(frozen=True, kw_only=True)
class Size:
    """How many of a pool work, how many may wait, and how many of both one caller may have."""

    working: int
    waiting: int
    of_one: int


SIZES: Mapping[PoolName, Size] = {
    PoolName.STOP: Size(working=4, waiting=200, of_one=200),
    PoolName.DECIDE: Size(working=16, waiting=400, of_one=400),
    PoolName.SLOW: Size(working=12, waiting=100, of_one=100),
    PoolName.AGENT: Size(working=16, waiting=64, of_one=40),
    PoolName.PUBLIC: Size(working=4, waiting=60, of_one=60),
}
_BESIDE = 8
"""Threads for what belongs to no pool: files of the dashboard, and streams as they begin."""
THREADS = sum(size.working for size in SIZES.values()) + _BESIDE
"""How many worker threads the daemon has to have, so that each place is a thread."""

_STOP = frozenset({"GET /api/stop", "POST /api/stop", "POST /api/stop/record"})
_SLOW = frozenset(
    {
        "POST /api/ledger/verify",
        "POST /api/ledger/rebuild",
        "GET /api/ledger/story/{identifier}",
        "GET /api/changes/{identifier}",
        "GET /api/changes/{identifier}/diff",
        "GET /api/changes/{identifier}/lines",
        "GET /api/changes/{identifier}/evidence",
        "POST /api/dry-runs",
        "POST /api/config/check",
        "POST /api/readiness",
        "POST /api/chat",
        "POST /v1/chat/completions",
    }
)


class Pool:
    """Lets so many work at once; whoever comes while too many wait is told to come later."""

    def __init__(self, size: Size, *, name: str) -> None:
        self._size, self._name = size, name
        self._turn = asyncio.Semaphore(size.working)
        self._callers: Counter[str] = Counter()

    @asynccontextmanager
    async def place(self, who: str) -> AsyncGenerator[None]:
        """Wait for a place and hold it; raise where there is not even one to wait in."""
        if self._callers[who] >= self._size.of_one:
            raise _build_busy_error(
                f"{self._size.of_one} requests of yours are under way or waiting"
            )
        if self._callers.total() >= self._size.working + self._size.waiting:
            raise _build_busy_error(f"too many requests wait already ({self._name})")
        self._callers[who] += 1
        try:
            async with self._turn:
                yield
        finally:
            self._callers[who] -= 1
            if not self._callers[who]:
                del self._callers[who]  # callers come and go


class LimitRequests:
    """ASGI middleware: a request works in a place of its pool; streams hold none."""

    def __init__(self, app: ASGIApp, *, routes: Starlette) -> None:
        self._app, self._routes = app, routes
        self._pools = {name: Pool(size, name=name) for name, size in SIZES.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = self._pool_name(scope) if scope["type"] == "http" else None
        if name is None:
            await self._app(scope, receive, send)
            return
        try:
            async with self._pools[name].place(caller(Request(scope))):
                await self._app(scope, receive, send)
        except Busy as error:
            await problems.render_problem(error)(scope, receive, send)

    def _pool_name(self, scope: Scope) -> PoolName | None:
        route = scope.get(ROUTE) or self._find_route(scope)
        return pool_of(route, scope.get(PRINCIPAL)) if route else PoolName.PUBLIC

    def _find_route(self, scope: Scope) -> str:
        for route in self._routes.routes:
            if isinstance(route, Route) and route.matches(scope)[0] is Match.FULL:
                return f"{scope['method']} {route.path}"
        return ""


def pool_of(route: str, who: Principal | None) -> PoolName | None:
    """Say where a request works; an agent's route is an operator's for who proved to be one."""
    rule = RULES.get(route)
    if who is not None and who.role is Role.SERVICE:
        return PoolName.AGENT if route in _SLOW or not (rule and rule.stream) else None
    if route in _STOP or route in _SLOW:
        return PoolName.STOP if route in _STOP else PoolName.SLOW
    if rule is None or rule.stream:
        return None if rule else PoolName.DECIDE
    if rule.public:
        return PoolName.PUBLIC
    operator = who is not None and who.role is not Role.AGENT
    if not operator and Role.AGENT in rule.roles:
        return PoolName.AGENT
    return PoolName.DECIDE


def _build_busy_error(why: str) -> Busy:
    return Busy(f"the daemon is busy: {why}", next_step="try again in a few seconds")
