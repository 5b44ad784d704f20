"""Everything of MCP behind its two ways in: one door, its sessions by socket and by HTTP."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from astra.bootstrap.runtime import Runtime
from astra.interfaces.mcp.door import Door
from astra.interfaces.mcp.streamable import HttpSessions
from astra.interfaces.mcp.unix_socket import SocketSessions


@dataclass(frozen=True, kw_only=True)
class McpDoors:
    sockets: SocketSessions
    http: HttpSessions


@asynccontextmanager
async def opened(runtime: Runtime) -> AsyncGenerator[McpDoors]:
    """Open them; closing ends the sessions and waits for the calls that are under way."""
    dotted = runtime.settings.mcp_tool_names == "dotted"

    def flags(off: frozenset[str]) -> Mapping[str, bool]:
        return runtime.switches.on(off=off)

    door = Door(counter=lambda: runtime.counter, ledger=runtime.ledger, flags=flags)
    public = runtime.settings.public_url
    http = HttpSessions(door, dotted=dotted, origins=[public.origin] if public else [])
    sockets = SocketSessions(door, dotted=dotted)
    async with door.open(), http.run():
        try:
            yield McpDoors(sockets=sockets, http=http)
        finally:
            sockets.end()
