"""A daemon with its loopback port, and clients that speak to it as a browser or a program would."""

import contextlib
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2

from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Head
from astra.trusted.policy import authority
from driver import COMMAND, PASSPHRASE, Astra
from warm_start import warm

BROWSER = {"Sec-Fetch-Site": "same-origin"}
NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients of servers on this machine: to read the authorities takes longer than a request."""


@dataclass(frozen=True, kw_only=True)
class Served:
    astra: Astra
    port: int
    origin: str

    @property
    def host(self) -> str:
        return self.origin.partition("://")[2]

    def client(self, secret: str = "", **headers: str) -> httpx2.Client:
        """Connect to the port, by the name that the site has."""
        given = {"Host": self.host, **headers}
        if secret:
            given["Authorization"] = f"Bearer {secret}"
        return httpx2.Client(
            base_url=f"http://127.0.0.1:{self.port}",
            headers=given,
            timeout=60,
            verify=NO_AUTHORITIES,
        )

    def code(self) -> str:
        return self.astra.json("login")["url"].partition("#")[2]

    def login(self) -> str:
        """Exchange a fresh link for a session's secret."""
        with self.client() as http:
            said = http.post("/api/session", json={"code": self.code()})
            assert said.status_code == 200, said.text
            return said.json()["secret"]

    def token(self, role: str, *options: str) -> dict[str, Any]:
        return self.astra.json("tokens", "create", f"a {role}", "--role", role, *options)

    def statement(self, http: httpx2.Client, action: str, content: dict[str, Any]) -> Any:
        """Draft what an operator would sign now."""
        from datetime import UTC, datetime

        head = http.get("/api/ledger/head").json()
        return authority.draft(
            action,
            content,
            root_id=http.get("/api/operator").json()["root_id"],
            head=Head(head["sequence"], head["hash"], head["time"]),
            now=datetime.now(UTC),
        )

    def key(self) -> KeyPair:
        """Open the operator's key, as the command line does."""
        import json

        from astra.trusted.kernel import signatures

        (path,) = (self.astra.folder / "config" / "astra").glob("operator-*.key")
        return KeyPair.from_seed(signatures.unseal(json.loads(path.read_bytes()), PASSPHRASE))


@contextlib.contextmanager
def served(astra: Astra, *words: str, **environment: str) -> Iterator[Served]:
    """Run `astra up` on a free port until the block ends."""
    command = warm(COMMAND, "up", "--port", "0", *words)
    with subprocess.Popen(
        command,
        env={**astra.environment, **environment},
        cwd=astra.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield _reached(astra, process, environment)
        finally:
            process.terminate()
            process.communicate(timeout=240)


def _reached(astra: Astra, process: subprocess.Popen[str], environment: dict[str, str]) -> Served:
    assert process.stderr is not None
    said: list[str] = []
    for line in process.stderr:
        said.append(line)
        if "for a way in" in line:
            break
    else:
        raise AssertionError("".join(said))
    while not (astra.root / "var" / "run" / "astra.sock").exists():
        time.sleep(0.01)
    daemon = astra.json("status", **environment)["daemon"]
    return Served(astra=astra, port=daemon["port"], origin=daemon["url"])


def problem(said: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """Expect a problem of a kind; every one says what to do next."""
    assert said.status_code == status, said.text
    assert said.headers["content-type"] == "application/problem+json"
    body = said.json()
    assert body["code"] == code, body
    assert body["detail"]
    assert body["next_step"]
    return body
