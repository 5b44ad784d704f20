"""Over HTTP a session is its token's: whoever learns its id can do nothing with it."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from driver import Astra, make_repository
from http_driver import Served, served

ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Astra(tmp_path_factory.mktemp("sessions"))
    made.json("init", make_repository(made.folder / "target"), "--throwaway")
    with served(made, "--no-app") as site:
        yield site


def send(http: httpx2.Client, method: str, session: str = "", **params: Any) -> httpx2.Response:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {**ACCEPT, **({"Mcp-Session-Id": session} if session else {})}
    return http.post("/mcp", json=body, headers=headers)


def open_session(http: httpx2.Client) -> str:
    said = send(
        http,
        "initialize",
        protocolVersion="2025-11-25",
        capabilities={},
        clientInfo={"name": "t", "version": "1"},
    )
    assert said.status_code == 200, said.text
    return said.headers["mcp-session-id"]


def test_another_token_can_neither_use_nor_end_a_session(site: Served) -> None:
    first, second = site.token("agent")["secret"], site.token("agent")["secret"]
    with site.client(first) as mine, site.client(second) as theirs:
        session = open_session(mine)
        call = {"name": "astra_health", "arguments": {}}
        stolen = send(theirs, "tools/call", session, **call)
        ended = theirs.delete("/mcp", headers={"Mcp-Session-Id": session})
        listened = theirs.get("/mcp", headers={"Mcp-Session-Id": session, **ACCEPT})
        assert {said.status_code for said in (stolen, ended, listened)} == {404}
        assert stolen.json()["code"] == "unknown_session"
        assert send(mine, "tools/call", session, **call).status_code == 200


def test_a_session_that_never_was_says_the_same(site: Served) -> None:
    with site.client(site.token("agent")["secret"]) as http:
        said = send(http, "tools/list", "0" * 32)
    assert (said.status_code, said.json()["code"]) == (404, "unknown_session")
