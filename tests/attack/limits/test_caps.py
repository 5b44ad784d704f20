"""What needs no approval has a cap: the one who floods is told so, and nobody else is kept out."""

import json
import socket
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest

from astra.adapters.persona_space import PersonaSpace
from astra.interfaces import socket_path
from astra.operations.caps import CAPS, MCP_SESSIONS, NOTE_NAMES
from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.caps import WAITING_REQUESTS
from http_driver import Served, problem

ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
CLIENT = {"name": "a", "version": "1"}
INFO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INFO}


def test_every_cap_says_what_to_do() -> None:
    for cap in CAPS.values():
        error = cap.build_error()
        assert str(cap.most)[:1] in error.detail
        assert error.next_step
        assert error.reason == cap.code


def ask_for(http: httpx2.Client, number: int) -> httpx2.Response:
    url = f"https://example.com/{number}"
    return http.post("/api/tools/fetch_url", json={"url": url})


def test_one_agent_cannot_fill_the_inbox_and_another_still_gets_in(site: Served) -> None:
    flooding, other = (site.token("agent")["secret"] for _ in range(2))
    with site.client(flooding) as http:
        asked = [ask_for(http, number) for number in range(WAITING_REQUESTS.most + 30)]
        codes = [said.json()["code"] for said in asked]
        again = ask_for(http, 0)
    assert codes.count("needs_approval") == WAITING_REQUESTS.most
    assert codes.count("too_many_waiting") == 30
    assert again.json()["approval_id"] == asked[0].json()["approval_id"]
    with site.client(other) as http:
        assert ask_for(http, 1000).json()["code"] == "needs_approval"
    with site.client(site.login()) as http:
        assert len(http.get("/api/approvals").json()["items"]) == WAITING_REQUESTS.most + 1


def open_session(http: httpx2.Client) -> httpx2.Response:
    return http.post("/mcp", json=INITIALIZE, headers=ACCEPT)


def is_open(http: httpx2.Client, session: str) -> bool:
    headers = {**ACCEPT, "Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25"}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    return http.post("/mcp", json=ping, headers=headers).status_code == 200


def test_mcp_sessions_over_http_are_few_and_the_oldest_idle_one_makes_room(site: Served) -> None:
    with site.client(site.token("agent")["secret"]) as http:
        opened = [open_session(http).headers["mcp-session-id"] for _ in range(100)]
        alive = [session for session in opened if is_open(http, session)]
        assert alive == opened[-MCP_SESSIONS.most :]


def test_mcp_sessions_that_are_all_in_use_leave_no_room(site: Served) -> None:
    with site.client(site.token("agent")["secret"]) as http:
        streams: list[Any] = []
        for _ in range(MCP_SESSIONS.most):
            session = open_session(http).headers["mcp-session-id"]
            headers = {"Accept": "text/event-stream", "Mcp-Session-Id": session}
            request = http.build_request("GET", "/mcp", headers=headers)
            streams.append(http.send(request, stream=True))
        try:
            problem(open_session(http), 403, "too_many_sessions")
            with site.client(site.login()) as operator:
                assert operator.get("/api/status").is_success
        finally:
            for stream in streams:
                stream.close()


def test_sessions_on_the_socket_are_few_and_the_daemon_still_answers(site: Served) -> None:
    run = site.astra.root / "var" / "run"
    connections: list[socket.socket] = []
    refused = 0
    try:
        for _ in range(MCP_SESSIONS.most + 20):
            connection = socket_path.connect(run, socket_path.MCP, timeout=60)
            connections.append(connection)
            connection.sendall(_line(INITIALIZE))
            refused += b"too_many_sessions" in _read_line(connection)
        assert refused == 20
        assert site.astra.json("status")["daemon"]["pid"]
    finally:
        for connection in connections:
            connection.close()


def test_who_is_turned_away_and_has_left_leaves_no_traceback_in_the_log(site: Served) -> None:
    run = site.astra.root / "var" / "run"
    connections: list[socket.socket] = []
    refused = False
    try:
        while not refused:
            connections.append(socket_path.connect(run, socket_path.MCP, timeout=60))
            connections[-1].sendall(_line(INITIALIZE))
            refused = b"too_many_sessions" in _read_line(connections[-1])
        for _ in range(50):
            with socket_path.connect(run, socket_path.MCP, timeout=60) as leaving:
                leaving.sendall(_line(INITIALIZE))
        assert site.astra.json("status")["daemon"]["pid"]
    finally:
        for connection in connections:
            connection.close()
    logs = [path.read_text() for path in (site.astra.root / "logs").glob("daemon*")]
    assert logs
    assert not any("BrokenResourceError" in text for text in logs)


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _read_line(connection: socket.socket) -> bytes:
    answer = b""
    while not answer.endswith(b"\n") and (more := connection.recv(65536)):
        answer += more
    return answer


def test_notes_fill_a_bounded_part_of_the_disk(tmp_path: Path) -> None:
    deep = tmp_path / "a"
    deep.mkdir()
    for number in range(NOTE_NAMES.most - 1):
        (deep / f"{number}.md").touch()
    with PersonaSpace(tmp_path, source=cast("Any", None)) as space:
        with pytest.raises(Refused) as caught:
            space.write("one-more.md", "text")
        assert caught.value.reason == "too_many_files"
        space.delete("a/0.md")
        assert space.write("one-more.md", "text").created
