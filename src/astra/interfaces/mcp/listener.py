"""Listens for MCP sessions, and loads nothing of MCP before the first one connects.

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
from astra.interfaces.mcp.first_answers import Standing, from_row, write_standing
from astra.trusted.kernel.errors import AstraError

if TYPE_CHECKING:
    from astra.interfaces.mcp.transports import McpTransports


class McpListener:
    def __init__(self, runtime: Runtime, activity: Activity) -> None:
        self._runtime = runtime
        self._activity = activity
        self._leaving = asyncio.Event()
        self._transports: asyncio.Future[McpTransports] = asyncio.get_running_loop().create_future()
        self._holding: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Listen on `var/run/mcp.sock`; leaving ends the sessions of both transports."""
        folder = self._runtime.root.run
        listener = socket_path.listen(folder, socket_path.MCP)
        server = await asyncio.start_unix_server(self._serve_connection, sock=listener)
        try:
            yield
        finally:
            (folder / socket_path.MCP).unlink(missing_ok=True)
            server.close()
            self._leaving.set()
            if self._holding:
                await self._holding

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        transports = await self._await_transports()
        await transports.http(scope, receive, send)

    async def _serve_connection(self, reader: StreamReader, writer: StreamWriter) -> None:
        with self._activity.one_request():
            transports = await self._await_transports()
            await transports.sockets.serve_connection(reader, writer)

    async def _await_transports(self) -> "McpTransports":
        if not self._holding:
            self._holding = asyncio.create_task(self._hold_transports())
        return await asyncio.shield(self._transports)

    async def _hold_transports(self) -> None:
        """Keep the transports open in a task of their own: who opens them is to close them."""
        try:
            await asyncio.to_thread(importlib.import_module, "astra.interfaces.mcp.transports")
            from astra.interfaces.mcp.transports import open_transports

            async with open_transports(self._runtime, self._activity.one_request) as transports:
                self._transports.set_result(transports)
                await self._leaving.wait()
        except Exception as error:  # whoever connects hears why they cannot be opened
            if self._transports.done():
                raise
            failed, self._transports = self._transports, asyncio.get_running_loop().create_future()
            self._holding = None  # the next connection tries again
            failed.set_exception(error)


def leave_standing(runtime: Runtime) -> None:
    """Write down how things stand when a daemon ends, for relays that come before the next one."""
    from astra.interfaces.mcp.catalogue import list_rows

    try:
        imported = tuple(map(from_row, list_rows(runtime.registry, imported=True)))
        standing = Standing(flags=runtime.switches.read_states(), imported=imported)
    except AstraError:  # a ledger that cannot be read: the next session waits for its daemon
        return
    write_standing(runtime.root.run, standing)
