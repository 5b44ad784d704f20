"""A server in this process, on a socket of its own, and a client that speaks to it."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path

from agent_server.api import About, Api
from agent_server.http import HttpServer
from agent_server.loop import BackgroundLoop
from agent_server.state import State


class Client:
    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(*self.address)

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        reader, writer = await self.open()
        writer.write(request(method, path, body, close=True))
        answer = await reader.read()
        writer.close()
        head, _, content = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), content


def request(method: str, path: str, body: bytes = b"", *, close: bool = False) -> bytes:
    connection = "close" if close else "keep-alive"
    head = f"{method} {path} HTTP/1.1\r\nHost: here\r\nConnection: {connection}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Running:
    def __init__(self, folder: Path, static: Path) -> None:
        self.state = State(folder)
        self.loop = BackgroundLoop(self.state, lock=folder / "loop.lock")
        about = About("rel-1", static.parent)
        api = Api(state=self.state, loop=self.loop, about=about)
        self.server = HttpServer(api.answer)

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[Client]:
        listener = socket.create_server(("127.0.0.1", 0))
        client = Client(listener.getsockname())
        task = asyncio.create_task(self.server.serve(listener))
        try:
            yield client
        finally:
            self.server.drain()
            await task
            self.state.close()
