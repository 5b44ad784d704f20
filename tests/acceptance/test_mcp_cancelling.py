"""A call that nobody waits for any more ends, with its box, and the ledger says cancelled."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import anyio
import httpx2
import pytest

from deploying import until
from driver import Astra, make_repository
from http_driver import Served, served
from mcp_driver import ERAS, connected, over_http, raw

SLEEP = {"command": ["sh", "-c", "echo started >> started; sleep 300"], "seconds": 300}
pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("sandbox")]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def site(tmp_path: Any) -> Iterator[Served]:
    made = Astra(tmp_path)
    made.json("init", make_repository(tmp_path / "target"), "--throwaway")
    with served(made, "--no-app") as site:
        yield site
    made.end()


def await_start(astra: Astra) -> None:
    until((astra.root / "sandbox" / "started").exists)


def assert_cancelled(astra: Astra) -> None:
    """Wait for the end of the call and of its box, and look at what the ledger says of both."""
    (finished,) = until(lambda: astra.json("ledger", "tail", "--type", "tool_finished")["items"])
    assert (finished["data"]["outcome"]["ok"], finished["data"]["outcome"]["code"]) == (
        False,
        "cancelled",
    )
    (ended,) = astra.json("ledger", "tail", "--type", "box_ended")["items"]
    assert ended["data"]["verdict"] == "stopped_by_operator"
    assert "cancelled by its caller" in ended["data"]["reason"]


def test_a_notification_ends_the_box(astra: Astra) -> None:
    with raw(astra) as client:
        client.introduce()
        asked = client.post("tools/call", name="run_in_sandbox", arguments=SLEEP)
        await_start(astra)
        cancelled = {"requestId": asked, "reason": "changed my mind"}
        notification = {"method": "notifications/cancelled", "params": cancelled}
        client.send(json.dumps({"jsonrpc": "2.0", **notification}).encode())
        assert client.call("astra_health")["isError"] is False
        assert_cancelled(astra)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_client_that_takes_its_call_back_ends_the_box(astra: Astra, mode: str) -> None:
    async with connected(astra, mode=mode) as client, anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "run_in_sandbox", SLEEP)
        await asyncio.to_thread(await_start, astra)
        group.cancel_scope.cancel()
    assert_cancelled(astra)


def test_a_client_that_is_killed_ends_the_box(astra: Astra) -> None:
    with raw(astra) as client:
        client.introduce()
        client.post("tools/call", name="run_in_sandbox", arguments=SLEEP)
        await_start(astra)
        client.process.kill()
        assert_cancelled(astra)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_closed_stream_over_http_ends_the_box(site: Served, mode: str) -> None:
    headers = {"Authorization": f"Bearer {site.token('agent')['secret']}"}
    url = f"http://localhost:{site.port}/mcp"
    async with over_http(url, mode=mode, headers=headers) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "run_in_sandbox", SLEEP)
            await asyncio.to_thread(await_start, site.astra)
            group.cancel_scope.cancel()
        await asyncio.to_thread(assert_cancelled, site.astra)


def test_a_lost_client_of_a_session_over_http_ends_the_box(site: Served) -> None:
    """Its connection breaks, and it sends no notification."""
    accept = {"Accept": "application/json, text/event-stream"}
    info = {"name": "t", "version": "1"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
    with site.client(site.token("agent")["secret"], **accept) as http:
        opened = http.post(
            "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
        )
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        http.post("/mcp", json=ready, headers=session)
        call = {"name": "run_in_sandbox", "arguments": SLEEP}
        body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        with http.stream("POST", "/mcp", json=body, headers=session) as answer:
            assert answer.status_code == httpx2.codes.OK
            await_start(site.astra)
    assert_cancelled(site.astra)
