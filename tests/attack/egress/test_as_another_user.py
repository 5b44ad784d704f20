"""The proxy of a box that an ordinary user starts: the listener comes out by another way."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import astra

NOBODY = 65534
SCRIPT = """
import http.server, socket, tempfile, threading
from pathlib import Path
from astra.trusted.sandbox.launch import Box, run
from astra.trusted.egress.egress_proxy import Internet
from astra.trusted.policy.manifest import Manifest

server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
internet = Internet(
    resolve=lambda host, port: ["93.184.216.34"],
    dial=lambda address, port: socket.create_connection(server.server_address),
)
attempts = []
outcome = run(
    Box(
        command=(
            "sh", "-c", "for u in example.com evil.net; do"
            " curl -s -o /dev/null -w '%{http_code} ' http://$u; done",
        ),
        manifest=Manifest(network_domains=("example.com",)),
    ),
    data_root=Path(tempfile.mkdtemp()),
    internet=internet,
    record=attempts.append,
)
print(outcome.stdout.decode(), [a.reason for a in attempts])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_has_the_same_proxy() -> None:
    with tempfile.TemporaryDirectory(prefix="astra-test-") as name:
        Path(name).chmod(0o755)
        shutil.copytree(Path(astra.__file__).parent, Path(name) / "astra")
        done = subprocess.run(
            ["/usr/bin/python3", "-B", "-c", SCRIPT],
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": name},
            cwd=name,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    assert done.stdout.strip() == "200 403  ['allowed', 'not_granted']"
