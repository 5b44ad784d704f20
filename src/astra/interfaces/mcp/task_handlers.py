"""The requests about tasks, for clients of the 2026 protocol that declare the extension."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types import HEADER_MISMATCH, METHOD_NOT_FOUND, RequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from astra.interfaces.mcp import call_tasks
from astra.interfaces.mcp.call_tasks import CallTasks
from astra.interfaces.mcp.resource_handlers import Context
from astra.interfaces.mcp.session import Session


class TaskParams(RequestParams):
    task_id: str


class TaskUpdateParams(TaskParams):
    input_responses: dict[str, Any]


def register(
    server: Server[Any], tasks: CallTasks, session_of: Callable[[Context], Session]
) -> None:
    """Serve the methods, and say so in the server's capabilities."""
    handlers = TaskHandlers(tasks, session_of)
    server.add_request_handler("tasks/get", TaskParams, handlers.get)
    server.add_request_handler("tasks/update", TaskUpdateParams, handlers.update)
    server.add_request_handler("tasks/cancel", TaskParams, handlers.cancel)
    server.extensions[call_tasks.EXTENSION] = {}


@dataclass(frozen=True)
class TaskHandlers:
    tasks: CallTasks
    session_of: Callable[[Context], Session]

    async def get(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        task = self.tasks.find(self._find_owner(ctx, params), params.task_id)
        return {**task.describe(), **task.describe_outcome()}

    async def update(self, ctx: Context, params: TaskUpdateParams) -> dict[str, Any]:
        """Take answers to what a task asks its client; none of ours asks anything."""
        self.tasks.find(self._find_owner(ctx, params), params.task_id)
        return {}

    async def cancel(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        self.tasks.cancel(self._find_owner(ctx, params), params.task_id)
        return {}

    def _find_owner(self, ctx: Context, params: TaskParams) -> str:
        """Name whose tasks a request is about, if its client may ask for tasks."""
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise MCPError(METHOD_NOT_FOUND, "Method not found", ctx.method)
        if not call_tasks.is_declared(ctx.session.client_capabilities):
            raise call_tasks.build_missing_capability()
        headers = ctx.request.headers if ctx.request is not None else None
        if headers is not None:
            routed_name = decode_header_value(headers.get(MCP_NAME_HEADER))
            if routed_name != params.task_id:
                raise MCPError(
                    HEADER_MISMATCH, f"{MCP_NAME_HEADER} does not name the task asked for"
                )
        return str(self.session_of(ctx).actor)
