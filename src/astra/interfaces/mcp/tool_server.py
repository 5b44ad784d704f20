"""Lists and calls tools for MCP sessions: one server a session, all in front of one counter.

    alias → session budget → counter (audit, gate, tool) → answer

Tools run in threads of their own, never on the event loop, and too many at once are refused
(`busy`). What a client says about itself (its name, `_meta`, its opinion of a tool) reaches neither
the counter nor the gate.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
)

from astra import __version__
from astra.interfaces.mcp import answers, instructions, signing
from astra.interfaces.mcp.announcements import Announcements
from astra.interfaces.mcp.catalogue import Catalogue
from astra.interfaces.mcp.session import Session
from astra.trusted.calls.counter import Counter, Request
from astra.trusted.door.capacity import TOOLS_OF_MCP, Busy, Pool
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy.decision import Decision, Reason, deny

Context = ServerRequestContext[Any, Any]
Report = Callable[[float, None, str], Awaitable[None]]
Flags = Callable[[frozenset[str]], Mapping[str, bool]]
_INTRODUCTIONS = frozenset({"initialize", "server/discover"})
_log = logging.getLogger("astra.mcp")


class ToolServer:
    def __init__(
        self,
        *,
        counter: Callable[[], Counter],
        ledger: Ledger,
        flags: Flags,
        progress_seconds: float = 2.0,
    ) -> None:
        """Take where the counter is found: a newly signed configuration brings a new one."""
        self.announcements = Announcements(ledger, self._everything_visible)
        self._counter = counter
        self._flags = flags
        self._catalogue = Catalogue(counter().registry)
        self._progress_seconds = progress_seconds
        self._pool = Pool(TOOLS_OF_MCP, name="mcp")
        self._threads = ThreadPoolExecutor(TOOLS_OF_MCP.working, thread_name_prefix="mcp-tool")

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        self.announcements.start()
        try:
            yield
        finally:
            self.announcements.stop()
            await asyncio.to_thread(self._threads.shutdown)

    def list_tools(self, session: Session) -> ListToolsResult:
        visible = self._catalogue.shown(
            self._flags(session.off), operator=session.operator, dotted=session.dotted
        )
        return ListToolsResult(tools=visible)

    async def call(
        self,
        session: Session,
        name: str,
        arguments: Mapping[str, Any],
        report: Report | None = None,
    ) -> CallToolResult:
        request = Request(
            name=name,
            arguments=arguments,
            actor=session.actor,
            off=session.off,
            correlation=random_id("cor"),
        )
        objection = None if session.budget.take() else _session_spent(session)
        try:
            async with self._pool.place(str(session.actor)):
                return await self._run(request, objection, report)
        except Busy as error:
            return answers.refused(error, request.correlation or "")

    async def _run(
        self, request: Request, objection: Decision | None, report: Report | None
    ) -> CallToolResult:
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, self._answer, request, objection)
        if report:
            await self._report(work, report)
        return await work

    async def _report(self, work: asyncio.Future[CallToolResult], report: Report) -> None:
        """Say every while that the work still runs, until it does not."""
        waited = 0.0
        while not (await asyncio.wait({work}, timeout=self._progress_seconds))[0]:
            waited += self._progress_seconds
            await report(waited, None, f"still running after {waited:.0f} s")

    def introduce(self, session: Session) -> str:
        return instructions.write(session, self._flags(session.off))

    def _answer(self, request: Request, objection: Decision | None) -> CallToolResult:
        correlation = request.correlation or ""
        try:
            if objection:
                return answers.refused(self._counter().turn_away(request, objection), correlation)
            return answers.given(self._counter().call(request), correlation)
        except AstraError as error:
            return answers.refused(error, correlation)
        except Exception:  # noqa: BLE001 - whatever it is, the client hears no stack trace
            _log.exception("%s failed (%s)", request.name[:100], correlation)
            return answers.broken(correlation)

    def _everything_visible(self) -> tuple[str, ...]:
        shown = self._catalogue.shown(self._flags(frozenset()), operator=True, dotted=True)
        return tuple(tool.name for tool in shown)


class SessionServer(Server[dict[str, Any]]):
    """The SDK's server, in front of the tools, for the sessions that `session_of` knows."""

    def __init__(self, tools: ToolServer, session_of: Callable[[Context], Session]) -> None:
        super().__init__(
            "astra",
            version=__version__,
            title="Astra",
            description="An agent's own source code, under a contract a human signed",
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=tools.announcements.listen,
            get_tool_input_schema=_no_header_carries_an_argument,
        )
        self.add_notification_handler(
            "notifications/initialized", NotificationParams, self._initialized
        )
        self.middleware[:] = [self._introduce]
        self._tools = tools
        self._session_of = session_of

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)

    async def _introduce(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method in _INTRODUCTIONS and isinstance(result, dict):
            session = self._session_of(ctx)
            result["instructions"] = await asyncio.to_thread(self._tools.introduce, session)
        return result

    async def _list_tools(
        self, ctx: Context, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return await asyncio.to_thread(self._tools.list_tools, self._session_of(ctx))

    async def _call_tool(
        self, ctx: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        session = self._session_of(ctx)
        asked = ctx.meta is not None and "progress_token" in ctx.meta
        report = ctx.session.report_progress if asked else None
        result = await self._tools.call(session, params.name, params.arguments or {}, report)
        return await signing.offer(ctx, params, result) if session.operator else result

    async def _initialized(self, ctx: Context, _params: NotificationParams) -> None:
        self._session_of(ctx)
        self._tools.announcements.add(client_of(ctx) or self, ctx.session)


def client_of(ctx: Context) -> str | None:
    """Name the HTTP session a message belongs to; a socket's connection has no name."""
    return ctx.request.headers.get("mcp-session-id") if ctx.request is not None else None


def _session_spent(session: Session) -> Decision:
    return deny(
        Reason.SESSION_SPENT,
        f"this session has made its {session.budget.limit} calls",
        "sum up what you have and tell the operator; a new session starts with a new budget",
    )


def _no_header_carries_an_argument(_tool: str) -> None:
    """Tell the SDK that there is nothing to check in `Mcp-Param-*` headers."""
