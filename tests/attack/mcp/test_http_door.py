"""The loopback port answers to its token and its own names, and makes nobody an operator."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from driver import Astra, make_repository
from http_driver import NO_AUTHORITIES
from mcp_driver import ERAS, Heard, answer, bearer, loopback, names, over_http, refusal

pytestmark = pytest.mark.anyio
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Astra, dict[str, str]]]:
    made = Astra(tmp_path_factory.mktemp("mcp-http"))
    made.json("init", make_repository(made.folder / "target"), "--throwaway")
    with loopback(made) as where:
        yield made, where


Served = tuple[Astra, dict[str, str]]


def post(url: str, headers: dict[str, str], body: Any = PING) -> httpx2.Response:
    with httpx2.Client(verify=NO_AUTHORITIES) as http:
        return http.post(url, json=body, headers={**ACCEPT, **headers})


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer x"},
        {"Authorization": "Basic YTpi"},
        {"Cookie": "token=x"},
        {"X-Forwarded-For": "127.0.0.1", "X-Real-Ip": "127.0.0.1"},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/mcp", "/", "/api/status", "/mcp/"])
def test_without_the_token_there_is_nothing(
    served: Served, headers: dict[str, str], path: str
) -> None:
    _, where = served
    said = post(where["url"].removesuffix("/mcp") + path, headers)
    assert said.status_code == 401
    assert set(said.json()) == {"code", "detail", "next_step"}


def test_with_the_token_there_is_mcp_and_nothing_else(served: Served) -> None:
    _, where = served
    said = post(where["url"].removesuffix("/mcp") + "/api/status", bearer(where))
    assert said.status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "localhost.evil.example:80"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "null"},
    ],
    ids=str,
)
def test_another_name_or_origin_is_refused_even_with_the_token(
    served: Served, headers: dict[str, str]
) -> None:
    _, where = served
    assert post(where["url"], {**bearer(where), **headers}).status_code in {403, 421}


@pytest.mark.parametrize("mode", ERAS)
async def test_headers_are_not_authority(served: Served, mode: str) -> None:
    _, where = served
    claims = {"Astra-Operator": "true", "X-Role": "operator", "Astra-Off": "AGENT_RUNNER_ENABLED"}
    async with over_http(where["url"], mode=mode, headers={**bearer(where), **claims}) as client:
        assert "astra_flags_set" not in await names(client)
        assert "read_source_code" in await names(client)
        said = await refusal(client, "astra_flags_set", name="PERSONA_MODE_ENABLED", on=False)
        assert said["code"] == "operator_only"
        assert "AGENT_RUNNER_ENABLED" in (client.instructions or "")
        found = await answer(client, "read_source_code", path="agent.py")
        assert "return 42" in found["text"]


@pytest.mark.parametrize(
    "body",
    [
        [PING, PING],
        {**PING, "id": 1.5},
        {**PING, "method": "tools/call", "params": {"name": "astra_health", "arguments": [1]}},
        {"jsonrpc": "2.0", "method": 7},
        "text",
        None,
    ],
    ids=str,
)
def test_hostile_bodies_are_refused_and_the_daemon_stays(served: Served, body: Any) -> None:
    astra, where = served
    pid = astra.daemon_pid()
    for version in ("2025-11-25", "2026-07-28", "9999-99-99", "\x7f"):
        headers = {**bearer(where), "MCP-Protocol-Version": version}
        assert 400 <= post(where["url"], headers, body).status_code < 500
    assert astra.daemon_pid() == pid


def test_a_body_that_is_too_large_is_refused(served: Served) -> None:
    _, where = served
    with httpx2.Client(verify=NO_AUTHORITIES) as http:
        said = http.post(
            where["url"], content=b" " * 5_000_000, headers={**ACCEPT, **bearer(where)}
        )
    assert said.status_code == 413


async def test_clients_over_http_hear_of_changes_in_both_eras(served: Served) -> None:
    astra, where = served
    heard = Heard()
    async with (
        over_http(where["url"], headers=bearer(where), message_handler=heard) as stateful,
        over_http(where["url"], headers=bearer(where), mode="auto") as stateless,
        stateless.listen(tools_list_changed=True) as changes,
    ):
        flag = ("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
        await asyncio.to_thread(lambda: astra.json(*flag))
        await heard.change()
        await asyncio.wait_for(anext(aiter(changes)), 60)
        assert "deploy_agent_code" in await names(stateful)
        assert "deploy_agent_code" in await names(stateless)
    await asyncio.to_thread(lambda: astra.json(*flag[:3], "off"))


def test_the_daemons_own_socket_serves_mcp_to_agents(served: Served) -> None:
    astra, _ = served
    socket = httpx2.HTTPTransport(uds=str(astra.root / "var" / "run" / "astra.sock"))
    info = {"name": "operator", "version": "1"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
    asked = {"name": "astra_flags_set", "arguments": {"name": "PERSONA_MODE_ENABLED", "on": False}}
    with httpx2.Client(transport=socket, headers=ACCEPT, base_url="http://localhost") as http:
        opened = http.post("/mcp", json={**PING, "method": "initialize", "params": hello})
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        call = {**PING, "method": "tools/call", "params": asked}
        said = http.post("/mcp", json=call, headers=session)
        assert http.post("/mcp", json=PING, headers={"Host": "evil.example"}).status_code == 421
    assert '"operator_only"' in said.text
