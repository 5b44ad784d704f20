"""`var/run/mcp.sock`: each connection is one session, speaking exactly like stdio.

The first line may be the relay's (see `session.Opening`). Without it the session is an agent's.
One OS user has so many sessions at most. Who opens one more loses the one that said nothing for
longest, where that is half an hour or more; otherwise the new one is refused.
"""

import asyncio
import contextlib
import logging
import socket
import struct
import time
from collections.abc import Callable

import anyio
from mcp.server.runner import serve_dual_era_loop
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError

from astra.interfaces.mcp.lines import Inbox, Incoming, Outbox
from astra.interfaces.mcp.session import Opening
from astra.interfaces.mcp.session_server import SessionServer
from astra.interfaces.mcp.tool_server import ToolServer
from astra.operations.caps import MCP_SESSIONS
from astra.trusted.kernel.errors import AstraError, BadInput

_FIRST_LINE_SECONDS = 30.0
IDLE_SECONDS = 30 * 60.0
_LAST_LINE_SECONDS, _MOST_TURNED_AWAY = 5.0, 32
_log = logging.getLogger("astra.mcp")


class SocketSessions:
    def __init__(
        self,
        tools: ToolServer,
        *,
        dotted: bool,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tools = tools
        self._dotted = dotted
        self._seconds = seconds
        self._turned_away = 0
        self._open: dict[asyncio.StreamWriter, tuple[str, Incoming]] = {}

    def end(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()

    async def serve_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        incoming, outbox, who = Incoming(reader), Outbox(writer), _identify_peer(writer)
        try:
            if self._make_room(who):
                self._open[writer] = (who, incoming)
                await self._serve_messages(incoming, outbox, who)
            else:
                await self._turn_away(incoming, outbox)
        except (ConnectionError, TimeoutError, anyio.BrokenResourceError):
            _log.debug("a session ended early")
        finally:
            self._open.pop(writer, None)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    def _make_room(self, who: str) -> bool:
        """Tell whether somebody may have one more session, after ending an idle one if need be."""
        theirs = {writer: lines for writer, (owner, lines) in self._open.items() if owner == who}
        if len(theirs) < MCP_SESSIONS.most:
            return True
        oldest = min(theirs, key=lambda writer: theirs[writer].last)
        if self._seconds() - theirs[oldest].last < IDLE_SECONDS:
            return False
        del self._open[oldest]
        oldest.transport.abort()
        return True

    async def _turn_away(self, incoming: Incoming, outbox: Outbox) -> None:
        """Say why there is no session; what the other side has sent is read, or it hears nothing.

        Of those who are told there are few at a time: nobody fills the daemon by waiting for it.
        """
        if self._turned_away >= _MOST_TURNED_AWAY:
            return
        self._turned_away += 1
        try:
            await asyncio.wait_for(incoming.read_line(), _LAST_LINE_SECONDS)
            await outbox.write(_build_objection(MCP_SESSIONS.build_error()))
        finally:
            self._turned_away -= 1

    async def _serve_messages(self, incoming: Incoming, outbox: Outbox, who: str) -> None:
        line = await asyncio.wait_for(incoming.read_line(), _FIRST_LINE_SECONDS)
        try:
            opening = Opening.read(line) if isinstance(line, bytes) else None
            session = (opening or Opening()).make_session(who, dotted=self._dotted)
        except BadInput as error:
            await outbox.write(_build_objection(error))
            return
        server = SessionServer(self._tools, lambda _ctx: session)
        inbox = Inbox(incoming, outbox, first=None if opening else line)
        try:
            await serve_dual_era_loop(server, inbox, outbox, lifespan_state={})
        finally:
            self._tools.announcements.remove(server)


def _build_objection(error: AstraError) -> JSONRPCError:
    message = f"{error.detail}; next: {error.next_step}"
    reason = ErrorData(code=INVALID_REQUEST, message=message, data=error.as_dict())
    return JSONRPCError(jsonrpc="2.0", id=None, error=reason)


def _identify_peer(writer: asyncio.StreamWriter) -> str:
    """Name who speaks as the kernel knows it: the OS user at the other end."""
    connection: socket.socket = writer.get_extra_info("socket")
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    _, uid, _ = struct.unpack("3i", credentials)
    return f"user:{uid}"
