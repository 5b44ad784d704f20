"""The two transports of MCP, Unix socket and HTTP, opened together in front of one tool server."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass

from astra.bootstrap.runtime import Runtime
from astra.interfaces.mcp.call_tasks import CallTasks
from astra.interfaces.mcp.streamable import HttpSessions
from astra.interfaces.mcp.tool_server import ToolServer
from astra.interfaces.mcp.unix_socket import SocketSessions


@dataclass(frozen=True, kw_only=True)
class McpTransports:
    sockets: SocketSessions
    http: HttpSessions


@asynccontextmanager
async def open_transports(
    runtime: Runtime, hold: Callable[[], AbstractContextManager[None]]
) -> AsyncGenerator[McpTransports]:
    """Open them; closing ends the sessions and waits for the calls that are under way.

    `hold` keeps the daemon while somebody's task works.
    """
    dotted = runtime.settings.mcp_tool_names == "dotted"

    def flags(off: frozenset[str]) -> Mapping[str, bool]:
        return runtime.switches.read_states(off=off)

    tools = ToolServer(
        counter=lambda: runtime.counter,
        ledger=runtime.ledger,
        flags=flags,
        tasks=CallTasks(hold),
    )
    public = runtime.settings.public_url
    http = HttpSessions(tools, dotted=dotted, origins=[public.origin] if public else [])
    sockets = SocketSessions(tools, dotted=dotted)
    async with tools.open(), http.run():
        try:
            yield McpTransports(sockets=sockets, http=http)
        finally:
            sockets.end()
