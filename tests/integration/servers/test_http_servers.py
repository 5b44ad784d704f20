"""A server at an address, over TLS, through the egress proxy; a secret is added on the way."""

import http.server
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.servers.messages import ServerUnavailable
from astra.trusted.egress.egress_proxy import Internet
from servers_world import ServersWorld, tool
from tls_certificates import write_certificate

HOST, VALUE = "tools.example.com", "s3cr3t-value"
FREE = '[mcp.servers.tiers]\n"*" = 0'
SIGNED = f'[[egress.secrets]]\nname = "TOOLS"\nhosts = ["{HOST}"]\n'


class McpOverHttp(http.server.BaseHTTPRequestHandler):
    """A streamable HTTP server that answers with events or with one document."""

    protocol_version = "HTTP/1.1"
    seen: list[tuple[dict[str, str], dict[str, Any]]]
    events: bool
    says: Any = None

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((dict(self.headers), message))
        if "id" not in message:
            self.reply(202, b"", "application/json")
            return
        document = json.dumps(
            {"jsonrpc": "2.0", "id": message["id"], "result": self.result(message)}
        )
        if self.events:
            self.reply(200, f"event: message\ndata: {document}\n\n".encode(), "text/event-stream")
        else:
            self.reply(200, document.encode(), "application/json")

    def result(self, message: dict[str, Any]) -> dict[str, Any]:
        match message["method"]:
            case "initialize":
                return {"protocolVersion": "2025-06-18", "serverInfo": {"name": "far"}}
            case "tools/list":
                return {"tools": [tool("whoami")]}
            case _:
                text = f"token {self.headers.get('Authorization')}"
                return {"content": [{"type": "text", "text": text}]}

    def reply(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Mcp-Session-Id", "session-1")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        pass


class Far:
    """The server, and a world whose internet leads every name to it."""

    def __init__(self, folder: Path, *, events: bool) -> None:
        write_certificate(folder, HOST)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(folder / "server.pem", folder / "server.key")
        self.seen: list[tuple[dict[str, str], dict[str, Any]]] = []
        handler = type("Handler", (McpOverHttp,), {"seen": self.seen, "events": events})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.server.handle_error = lambda *_args: None
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()
        trust = ssl.create_default_context(cafile=folder / "server.pem")
        internet = Internet(
            resolve=lambda _host, _port: ["93.184.216.34"],
            dial=lambda _address, _port: socket.create_connection(self.server.server_address),
            trust=lambda: trust,
        )
        self.world = ServersWorld(folder, internet=internet)

    def sign(self, *lines: str, before: str = "") -> None:
        entry = ["[[mcp.servers]]", 'name = "far"', f'url = "https://{HOST}/mcp"', *lines, FREE]
        self.world.sign(before + "\n".join(entry))

    def write_secret(self, value: str) -> None:
        folder = self.world.root.var / "secrets"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "TOOLS").write_text(f"{value}\n")

    def close(self) -> None:
        self.world.close()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(params=["events", "documents"])
def far(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Far]:
    far = Far(tmp_path, events=request.param == "events")
    yield far
    far.close()


def test_a_tool_is_called_through_the_proxy_and_each_connection_recorded(far: Far) -> None:
    far.sign()
    far.world.accept("far")
    assert "token None" in far.world.call("mcp.far.whoami")["text"]
    attempts = far.world.records("egress_attempted")
    assert {attempt.data["host"] for attempt in attempts} == {HOST}
    assert {attempt.actor for attempt in attempts} == {"server:far"}
    sessions = [headers.get("Mcp-Session-Id") for headers, _message in far.seen]
    assert sessions == [None, "session-1", "session-1", "session-1", "session-1"]


def test_a_server_is_reached_anew_before_its_proxy_has_let_through_all_it_may(far: Far) -> None:
    far.sign()
    far.world.accept("far")
    far.world.host._reached["far"].connection._requests = 1000 - 64  # type: ignore[attr-defined]
    far.world.call("mcp.far.whoami")
    assert [message["method"] for _headers, message in far.seen].count("initialize") == 2


def test_a_secret_is_added_by_the_proxy_recorded_by_name_and_masked_in_answers(far: Far) -> None:
    far.write_secret(VALUE)
    far.sign('secrets = ["TOOLS"]', before=SIGNED)
    far.world.accept("far")
    text = far.world.call("mcp.far.whoami")["text"]
    assert far.seen[-1][0]["Authorization"] == f"Bearer {VALUE}"
    assert VALUE not in text
    assert "*" * len(VALUE) in text
    added = far.world.records("egress_secret_added")
    assert added[-1].data == {"secret": "TOOLS", "host": HOST, "port": 443}
    assert VALUE not in "".join(far.world.ledger.lines)


def test_a_secret_without_a_file_or_an_entry_keeps_the_server_from_being_reached(far: Far) -> None:
    far.sign('secrets = ["TOOLS"]', before=SIGNED)
    with pytest.raises(ServerUnavailable, match="no_secret_value"):
        far.world.host.look("far")
    far.world.now += 11
    far.sign('secrets = ["TOOLS"]')
    with pytest.raises(Exception, match=r"no \[\[egress.secrets\]\] named TOOLS"):
        far.world.host.look("far")
    assert far.seen == []


def test_a_server_inside_a_box_gets_the_secret_added_without_holding_it(tmp_path: Path) -> None:
    far = Far(tmp_path, events=False)
    try:
        far.write_secret(VALUE)
        script = far.world.behave(tools=[tool("fetch", path={"type": "string"})]).parent
        command = f"/usr/bin/python3 -I -S {script}/small_server.py {script}/behaviour.json"
        far.world.sign(
            f'{SIGNED}\n[[mcp.servers]]\nname = "near"\ncommand = "{command}"\n'
            f'read_paths = ["{script}"]\nnetwork = ["{HOST}"]\nsecrets = ["TOOLS"]\n{FREE}'
        )
        far.world.accept("near")
        text = far.world.call("mcp.near.fetch", path=f"{HOST}/mcp")["text"]
        assert "status 200" in text
        assert VALUE not in text
        assert far.seen[-1][0]["Authorization"] == f"Bearer {VALUE}"
        refused = far.world.call("mcp.near.fetch", path="evil.example.net/mcp")["text"]
        assert "no secret is for this host" in refused
    finally:
        far.close()
