"""Connections that say nothing, or never finish, make room for one that has something to say."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from astra.interfaces.daemon.tcp import TcpProtocol

pytestmark = pytest.mark.anyio
MOST = 5
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
SLOW_BODY = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab"


class FewConnections(TcpProtocol):
    def most(self) -> int:
        return MOST


async def app(_scope: Scope, receive: Receive, send: Send) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"served"})


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[str, int]]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=FewConnections, lifespan="off", log_config=None, ws="none")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield listener.getsockname()
    finally:
        server.should_exit = True
        await serving


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost:", SLOW_BODY])
async def test_unfinished_requests_make_room_the_longest_waiting_first(sent: bytes) -> None:
    async with listening() as place:
        waiting = [await asyncio.open_connection(*place) for _ in range(MOST)]
        for _, writer in waiting:
            writer.write(sent)
        for _ in range(MOST * 3):
            reader, writer = await asyncio.open_connection(*place)
            writer.write(REQUEST)
            assert b"served" in await reader.read()
            await _close(writer)
        assert await _is_closed(waiting[0][0])
        for _, writer in waiting:
            await _close(writer)


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


async def _is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await asyncio.wait_for(reader.read(), 60) == b""
    except ConnectionResetError:
        return True


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
