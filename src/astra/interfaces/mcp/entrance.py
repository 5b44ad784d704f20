"""Where MCP sessions come in. Nothing behind it is loaded before the first one comes.

The protocol's library takes half a second to import, which most starts of the daemon need not wait
for.
"""

import asyncio
import importlib
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from astra.bootstrap.runtime import Runtime
from astra.interfaces import socket_path
from astra.interfaces.daemon.activity import Activity

if TYPE_CHECKING:
    from astra.interfaces.mcp.doors import McpDoors


class McpEntrance:
    def __init__(self, runtime: Runtime, activity: Activity) -> None:
        self._runtime = runtime
        self._activity = activity
        self._leaving = asyncio.Event()
        self._doors: asyncio.Future[McpDoors] = asyncio.get_running_loop().create_future()
        self._holding: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Listen on `var/run/mcp.sock`; leaving ends the sessions of both ways in."""
        folder = self._runtime.root.run
        listener = socket_path.listen(folder, socket_path.MCP)
        server = await asyncio.start_unix_server(self._connected, sock=listener)
        try:
            yield
        finally:
            (folder / socket_path.MCP).unlink(missing_ok=True)
            server.close()
            self._leaving.set()
            if self._holding:
                await self._holding

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let somebody in who came by HTTP."""
        doors = await self._opened()
        await doors.http(scope, receive, send)

    async def _connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        with self._activity.one_request():
            doors = await self._opened()
            await doors.sockets.session(reader, writer)

    async def _opened(self) -> "McpDoors":
        if not self._holding:
            self._holding = asyncio.create_task(self._hold())
        return await asyncio.shield(self._doors)

    async def _hold(self) -> None:
        """Keep the doors open in a task of their own: who opens them is to close them."""
        try:
            await asyncio.to_thread(importlib.import_module, "astra.interfaces.mcp.doors")
            from astra.interfaces.mcp.doors import opened

            async with opened(self._runtime) as doors:
                self._doors.set_result(doors)
                await self._leaving.wait()
        except Exception as error:  # whatever keeps them shut is for whoever knocks to hear
            if self._doors.done():
                raise
            failed, self._doors = self._doors, asyncio.get_running_loop().create_future()
            self._holding = None  # the next one who knocks has them tried again
            failed.set_exception(error)
