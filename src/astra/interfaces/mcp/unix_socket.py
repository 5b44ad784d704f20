"""`var/run/mcp.sock`: each connection is one session, speaking exactly like stdio.

The first line may be the relay's (see `session.Opening`). Without it the session is an agent's.
"""

import asyncio
import contextlib
import logging
import socket
import struct

from mcp.server.runner import serve_dual_era_loop
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError

from astra.interfaces.mcp.lines import Inbox, Incoming, Outbox
from astra.interfaces.mcp.session import Opening
from astra.interfaces.mcp.tool_server import SessionServer, ToolServer
from astra.trusted.kernel.errors import BadInput

_FIRST_LINE_SECONDS = 30.0
_log = logging.getLogger("astra.mcp")


class SocketSessions:
    def __init__(self, tools: ToolServer, *, dotted: bool) -> None:
        self._tools = tools
        self._dotted = dotted
        self._open: set[asyncio.StreamWriter] = set()

    def end(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()

    async def session(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            await self._talk(Incoming(reader), Outbox(writer), _peer(writer))
        except (ConnectionError, TimeoutError):
            _log.debug("a session ended early")
        finally:
            self._open.discard(writer)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _talk(self, incoming: Incoming, outbox: Outbox, who: str) -> None:
        line = await asyncio.wait_for(incoming.line(), _FIRST_LINE_SECONDS)
        try:
            opening = Opening.read(line or b"")
        except BadInput as error:
            reason = ErrorData(code=INVALID_REQUEST, message=error.detail, data=error.as_dict())
            await outbox.write(JSONRPCError(jsonrpc="2.0", id=None, error=reason))
            return
        session = (opening or Opening()).session(who, dotted=self._dotted)
        server = SessionServer(self._tools, lambda _ctx: session)
        inbox = Inbox(incoming, outbox, first=None if opening else line)
        try:
            await serve_dual_era_loop(server, inbox, outbox, lifespan_state={})
        finally:
            self._tools.announcements.remove(server)


def _peer(writer: asyncio.StreamWriter) -> str:
    """Name who speaks as the kernel knows it: the OS user at the other end."""
    connection: socket.socket = writer.get_extra_info("socket")
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    _, uid, _ = struct.unpack("3i", credentials)
    return f"user:{uid}"
