"""What the daemon keeps of MCP sessions over HTTP that are over: nothing, by counting objects."""

import asyncio
import gc
from collections.abc import Awaitable, Callable

import httpx2
from mcp.server.session import ServerSession

from astra.interfaces.mcp.streamable import HttpSessions
from astra.interfaces.mcp.tool_server import ToolServer
from astra.operations.caps import MCP_SESSIONS
from astra.testing import CounterInMemory

PROTOCOL = "2025-06-18"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
Work = Callable[[httpx2.AsyncClient], Awaitable[None]]


def test_a_session_that_its_client_ended_leaves_no_object() -> None:
    async def work(http: httpx2.AsyncClient) -> None:
        before = count_channels()
        for _ in range(20):
            session = await open_session(http)
            answer = await http.delete("/mcp", headers=session)
            assert answer.status_code == 200
        await wait_for_channels(before)

    asyncio.run(serve(work))


def test_of_abandoned_sessions_no_more_are_kept_than_a_caller_may_have() -> None:
    async def work(http: httpx2.AsyncClient) -> None:
        before = count_channels()
        for _ in range(MCP_SESSIONS.most + 20):
            await open_session(http)
        await wait_for_channels(before + MCP_SESSIONS.most)

    asyncio.run(serve(work))


async def serve(work: Work) -> None:
    inside = CounterInMemory()
    tools = ToolServer(
        counter=lambda: inside.counter,
        ledger=inside.gate.root.ledger,
        flags=lambda _off: inside.gate.on,
    )
    sessions = HttpSessions(tools, dotted=False)
    transport = httpx2.ASGITransport(sessions)
    headers = {"Accept": "application/json, text/event-stream"}
    async with (
        sessions.run(),
        httpx2.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers, timeout=60
        ) as http,
    ):
        await work(http)


async def open_session(http: httpx2.AsyncClient) -> dict[str, str]:
    """Open one as a client does, use it, and give the headers that name it."""
    answer = await http.post("/mcp", json=INITIALIZE)
    assert answer.status_code == 200, answer.text
    session = {
        "Mcp-Session-Id": answer.headers["mcp-session-id"],
        "Mcp-Protocol-Version": PROTOCOL,
    }
    for message in (INITIALIZED, PING):
        answer = await http.post("/mcp", json=message, headers=session)
        assert answer.status_code < 300, answer.text
    return session


async def wait_for_channels(most: int) -> None:
    """Wait until no more channels to clients exist; the last ones end in tasks of their own."""
    async with asyncio.timeout(60):
        while count_channels() > most:  # noqa: ASYNC110 - objects that go away wake nobody
            await asyncio.sleep(0.05)


def count_channels() -> int:
    gc.collect()
    return sum(type(thing) is ServerSession for thing in gc.get_objects())
