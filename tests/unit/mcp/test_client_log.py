"""What a client's log hears of its own calls: as much as it asked for, and nothing of others."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import Client
from mcp_types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    EmptyResult,
    LoggingLevel,
    LoggingMessageNotificationParams,
    SetLevelRequest,
    SetLevelRequestParams,
)
from tests.unit.mcp.test_tool_server import World, session, tool

from astra.interfaces.mcp.session_server import SessionServer

pytestmark = pytest.mark.anyio
Heard = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def listen() -> tuple[Heard, Callable[[LoggingMessageNotificationParams], Awaitable[None]]]:
    heard: Heard = []

    async def hear(params: LoggingMessageNotificationParams) -> None:
        heard.append((params.level, params.data))

    return heard, hear


async def set_level(client: Client, level: LoggingLevel) -> None:
    request = SetLevelRequest(params=SetLevelRequestParams(level=level))
    await client.session.send_request(request, EmptyResult)


async def test_a_client_that_asked_for_no_level_hears_nothing() -> None:
    heard, hear = listen()
    async with World(tool()).client(logging_callback=hear) as client:
        await client.call_tool("astra_echo", {})
        await client.call_tool("astra_nope", {})
    assert heard == []


async def test_a_level_decides_what_is_heard_of_a_call() -> None:
    heard, hear = listen()
    async with World(tool()).client(logging_callback=hear) as client:
        await set_level(client, "debug")
        await client.call_tool("astra_echo", {})
        await set_level(client, "warning")
        await client.call_tool("astra_echo", {})
        await client.call_tool("astra_nope", {})
        await set_level(client, "error")
        await client.call_tool("astra_nope", {})
    assert [(level, data["state"]) for level, data in heard] == [
        ("debug", "called"),
        ("debug", "answered"),
        ("warning", "refused"),
    ]
    assert heard[-1][1]["code"] == "unknown_tool"
    assert heard[-1][1]["correlation"].startswith("cor_")


async def test_a_clients_level_is_its_own() -> None:
    loud, hear_loud = listen()
    quiet, hear_quiet = listen()
    world, who = World(tool()), session()
    async with world.client(who, logging_callback=hear_loud) as client:
        other = SessionServer(world.tools, lambda _ctx: who)
        async with Client(other, mode="legacy", logging_callback=hear_quiet) as silent:
            await set_level(client, "debug")
            await silent.call_tool("astra_echo", {})
            await client.call_tool("astra_echo", {})
    assert len(loud) == 2
    assert quiet == []


async def test_in_the_2026_protocol_each_request_says_what_it_wants_to_hear() -> None:
    heard, hear = listen()
    meta: Any = {"io.modelcontextprotocol/logLevel": "warning"}
    async with World(tool()).client(mode="auto", logging_callback=hear) as client:
        for name in ("astra_nope", "astra_echo"):
            params = CallToolRequestParams(name=name, arguments={}, _meta=meta)
            await client.session.send_request(CallToolRequest(params=params), CallToolResult)
        await client.call_tool("astra_nope", {})
    assert [(level, data["code"]) for level, data in heard] == [("warning", "unknown_tool")]
