"""Bad requests cost whoever sends them; they do not fill the operator's disk with complaints."""

import http.client
from pathlib import Path

from astra.interfaces import socket_path
from driver import Astra

REQUESTS = 400


def post_with_host(astra: Astra, host: str) -> int:
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket_path.connect(astra.root / "var" / "run", timeout=60)
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "Host": host,
    }
    connection.request("POST", "/mcp", b"{}", headers)
    status = connection.getresponse().status
    connection.close()
    return status


def log_bytes(root: Path) -> int:
    return sum(path.stat().st_size for path in (root / "logs").glob("daemon.log*"))


def test_a_refused_name_that_is_another_each_time_is_logged_a_few_times(root: Astra) -> None:
    root.json("status")
    before = log_bytes(root.root)
    statuses = {post_with_host(root, f"evil{number}" + "x" * 4_000) for number in range(REQUESTS)}
    assert statuses == {421}
    assert log_bytes(root.root) - before < 20 * 2_500
