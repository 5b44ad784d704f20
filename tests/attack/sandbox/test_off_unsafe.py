"""What an agent could try to get out of its box by having the sandbox turned off."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from astra.interfaces import socket_path
from astra.tools.catalogue import make_registry
from astra.trusted.kernel.clock import SystemClock
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event, Head
from astra.trusted.policy import authority, confinement
from driver import Astra, make_repository, past

pytestmark = pytest.mark.xdist_group("sandbox")
OFF = {"ASTRA_SANDBOX": "off-unsafe"}


@pytest.fixture
def astra(tmp_path: Path) -> Iterator[Astra]:
    made = Astra(tmp_path)
    made.json("init", make_repository(tmp_path / "target"), "--throwaway")
    yield made
    made.end()


def assert_confined(astra: Astra) -> None:
    """Look from inside: a box has its own process namespace, in which its shell is no stranger."""
    call = json.dumps(
        {"command": ["sh", "-c", "ls -d /root /home /var 2>&1; hostname"], "explain": True}
    )
    done = astra.json("tools", "call", "run_in_sandbox", call)
    assert done["stdout"].splitlines()[-1] == "sandbox"
    assert "UNSAFE" not in done["can"]
    status = astra.json("status")["sandbox"]
    assert status["kind"] == "bubblewrap"


def request(astra: Astra, path: str, body: Any) -> int:
    """Speak to the daemon's socket by hand."""
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket_path.connect(astra.root / "var" / "run", timeout=30) as connection:
        assert isinstance(connection, socket.socket)
        connection.sendall(
            f"{head}Content-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data
        )
        return int(connection.recv(4096).split()[1])


def test_an_environment_alone_changes_nothing(astra: Astra) -> None:
    astra.extra = OFF
    assert_confined(astra)
    (astra.root / ".env").write_text("ASTRA_SANDBOX=off-unsafe\n")
    astra.run("down")
    assert_confined(astra)
    assert astra.json("sandbox")["off_in_environment"] is True


def test_a_signature_alone_changes_nothing(astra: Astra) -> None:
    astra.json("sandbox", "off-unsafe")
    assert_confined(astra)
    assert astra.json("sandbox")["off_signed"] is True


def test_the_environment_of_a_caller_does_not_count_even_with_a_signature(astra: Astra) -> None:
    """An agent's client starts the daemon on demand, with an environment of its choosing."""
    astra.json("sandbox", "off-unsafe")
    astra.run("down")
    astra.extra = OFF
    assert_confined(astra)


def test_a_sandbox_asked_for_in_the_environment_wins_over_all(astra: Astra) -> None:
    astra.json("sandbox", "off-unsafe")
    (astra.root / ".env").write_text("ASTRA_SANDBOX=off-unsafe\n")
    astra.run("down")
    astra.extra = {"ASTRA_SANDBOX": "bubblewrap"}
    assert_confined(astra)


def test_without_the_passphrase_nothing_is_signed(astra: Astra) -> None:
    refused = astra.json("sandbox", "off-unsafe", code=1, ASTRA_OPERATOR_PASSPHRASE="a guess")
    assert refused["code"] == "wrong_passphrase"
    assert astra.json("sandbox")["off_signed"] is False


def test_the_daemon_takes_no_statement_but_the_operators(astra: Astra) -> None:
    head = astra.json("status")
    statement = authority.draft(
        confinement.ALLOWED,
        confinement.content(),
        root_id=head["root_id"],
        head=_head(astra),
        now=SystemClock().now(),
    )
    forged = authority.sign(statement, KeyPair.generate()).as_dict()
    for body in ({"authority": forged}, {"authority": {}}, {"authority": None}, {}):
        assert request(astra, "/api/sandbox/off-unsafe", body) >= 400
    assert astra.json("sandbox")["off_signed"] is False


def test_a_record_written_behind_the_daemons_back_counts_for_nothing(astra: Astra) -> None:
    astra.run("down")
    forged = Event(
        type=confinement.ALLOWED,
        actor="operator",
        data=confinement.content(),
        subject=confinement.SUBJECT,
    )
    with past(astra, seconds=0) as runtime:
        runtime.ledger.append([forged])
    (astra.root / ".env").write_text("ASTRA_SANDBOX=off-unsafe\n")
    assert astra.json("sandbox")["off_signed"] is False
    assert_confined(astra)


def test_no_tool_speaks_of_the_sandbox_switch() -> None:
    """There is nothing to call: neither an argument nor a tool leads there."""
    for tool in make_registry().list_all():
        schema = json.dumps(tool.input.model_json_schema())
        assert "off-unsafe" not in schema
        assert "unconfined" not in schema


def _head(astra: Astra) -> Head:
    (last,) = astra.json("ledger", "tail", "--count", "1")["items"]
    return Head(last["sequence"], last["hash"], last["time"])
