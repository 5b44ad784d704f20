"""The SDK's server for one session or many: what it asks for goes to the tools behind it."""

import asyncio
from collections.abc import Callable
from typing import Any

from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    SetLevelRequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from astra import __version__
from astra.interfaces.mcp import (
    call_tasks,
    client_log,
    resource_handlers,
    signing,
    task_handlers,
)
from astra.interfaces.mcp.client_log import ClientLog
from astra.interfaces.mcp.departure import find_departure
from astra.interfaces.mcp.resource_handlers import Context
from astra.interfaces.mcp.session import Session
from astra.interfaces.mcp.tool_server import Report, ToolServer

_INTRODUCTIONS = frozenset({"initialize", "server/discover"})


class SessionServer(Server[dict[str, Any]]):
    """The SDK's server, in front of the tools, for the sessions that `session_of` knows."""

    def __init__(
        self,
        tools: ToolServer,
        session_of: Callable[[Context], Session],
    ) -> None:
        super().__init__(
            "astra",
            version=__version__,
            title="Astra",
            description="An agent's own source code, under a contract a human signed",
            on_list_tools=self._list_tools,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
            on_subscriptions_listen=self._listen,
            get_tool_input_schema=_no_header_carries_an_argument,
        )
        self.add_notification_handler(
            "notifications/initialized", NotificationParams, self._register_client
        )
        self.add_request_handler("logging/setLevel", SetLevelRequestParams, self._set_log_level)
        self.add_request_handler("tools/call", CallToolRequestParams, self._call_tool)
        task_handlers.register(self, tools.tasks, session_of)
        self.log = ClientLog()
        self.middleware[:] = [self._add_instructions]
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

    async def _add_instructions(self, ctx: Context, call_next: CallNext) -> HandlerResult:
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
    ) -> CallToolResult | InputRequiredResult | dict[str, Any]:
        session, client = self._session_of(ctx), self._name_client(ctx)
        await self.log.write(ctx, client, "debug", client_log.describe_begin(params.name))
        if self._may_become_task(ctx, session, params.name):
            result = await self._call_as_task(ctx, session, params)
        else:
            result = await self._call_and_wait(ctx, session, params)
        if isinstance(result, dict):
            return result
        level, facts = client_log.describe_result(params.name, result)
        await self.log.write(ctx, client, level, facts)
        return await signing.offer_link(ctx, params, result) if session.operator else result

    async def _call_and_wait(
        self, ctx: Context, session: Session, params: CallToolRequestParams
    ) -> CallToolResult:
        return await self._tools.call(
            session,
            params.name,
            params.arguments or {},
            self._find_report(ctx, params.name),
            departure=find_departure(ctx.request),
        )

    async def _call_as_task(
        self, ctx: Context, session: Session, params: CallToolRequestParams
    ) -> CallToolResult | dict[str, Any]:
        work = self._tools.call(session, params.name, params.arguments or {})
        owner, departure = str(session.actor), find_departure(ctx.request)
        return await self._tools.tasks.begin(owner, work, departure)

    def _may_become_task(self, ctx: Context, session: Session, tool: str) -> bool:
        return (
            ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
            and call_tasks.is_declared(ctx.session.client_capabilities)
            and not session.operator
            and self._tools.is_slow(tool)
        )

    def _find_report(self, ctx: Context, tool: str) -> Report | None:
        """Give what tells the client that a call still runs, if it wants to hear it."""
        client = self._name_client(ctx)
        wants_progress = ctx.meta is not None and "progress_token" in ctx.meta
        if not wants_progress and not self.log.shows(ctx, client, "info"):
            return None

        async def report(progress: float, total: None, message: str) -> None:
            if wants_progress:
                await ctx.session.report_progress(progress, total, message)
            facts = {**client_log.describe_begin(tool), "state": message}
            await self.log.write(ctx, client, "info", facts)

        return report

    async def _set_log_level(self, ctx: Context, params: SetLevelRequestParams) -> EmptyResult:
        self.log.set_level(self._name_client(ctx), params.level)
        return EmptyResult()

    async def _list_resources(
        self, ctx: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return await resource_handlers.list_resources(self._tools, self._session_of(ctx), params)

    async def _list_templates(
        self, _ctx: Context, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return resource_handlers.list_templates()

    async def _read_resource(
        self, ctx: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        session = self._session_of(ctx)
        return await resource_handlers.read_resource(self._tools, session, ctx, params)

    async def _subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        return await resource_handlers.subscribe(self._tools, self._name_client(ctx), params)

    async def _unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        return await resource_handlers.unsubscribe(self._tools, self._name_client(ctx), params)

    async def _listen(
        self, ctx: Context, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        uris = params.notifications.resource_subscriptions or []
        with self._tools.announcements.watch(uris):
            return await self._tools.announcements.listen(ctx, params)

    async def _list_prompts(
        self, _ctx: Context, _params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        return resource_handlers.list_prompts()

    async def _get_prompt(self, _ctx: Context, params: GetPromptRequestParams) -> GetPromptResult:
        return resource_handlers.get_prompt(params)

    async def _complete(self, ctx: Context, params: CompleteRequestParams) -> CompleteResult:
        return await resource_handlers.complete(self._tools, self._session_of(ctx), params)

    def _name_client(self, ctx: Context) -> object:
        return read_session_id(ctx) or self

    async def _register_client(self, ctx: Context, _params: NotificationParams) -> None:
        self._session_of(ctx)
        self._tools.announcements.add(self._name_client(ctx), ctx.session)


def read_session_id(ctx: Context) -> str | None:
    """Name the HTTP session a message belongs to; a socket's connection has no name."""
    return ctx.request.headers.get("mcp-session-id") if ctx.request is not None else None


def _no_header_carries_an_argument(_tool: str) -> None:
    """Tell the SDK that there is nothing to check in `Mcp-Param-*` headers."""
