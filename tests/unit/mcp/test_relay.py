"""The relay between a scripted client and a scripted daemon, on real pipes and sockets."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from astra.interfaces import socket_path
from astra.interfaces.mcp import relay
from astra.interfaces.mcp.first_answers import Standing, write_standing
from astra.interfaces.mcp.session import Opening

INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CALL = {"jsonrpc": "2.0", "id": "two", "method": "tools/call", "params": {"name": "a"}}
UNCERTAIN = "whether this was done is uncertain"
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


class Ends:
    """A client's pipes, and the socket that a daemon listens on."""

    def __init__(self, root: Path) -> None:
        self.run = root / "var" / "run"
        self.run.mkdir(parents=True)
        stdin, self._to_relay = os.pipe()
        from_relay, stdout = os.pipe()
        self._answers = os.fdopen(from_relay, "rb")
        self.listen()
        self._thread = threading.Thread(
            target=relay.run, args=(root, Opening()), kwargs={"stdin": stdin, "stdout": stdout}
        )
        self._pipes = (stdin, stdout)
        self._thread.start()

    def listen(self) -> None:
        self._listener = socket_path.listen(self.run, socket_path.MCP)

    def accept(self) -> "Daemon":
        connection, _ = self._listener.accept()
        return Daemon(connection)

    def stop_listening(self) -> None:
        self._listener.close()

    def send(self, message: Any) -> None:
        os.write(self._to_relay, json.dumps(message).encode() + b"\n")

    def read(self) -> dict[str, Any]:
        return json.loads(self._answers.readline())

    def close(self) -> None:
        os.close(self._to_relay)
        self._listener.close()
        self._thread.join(60)
        assert not self._thread.is_alive()
        self._answers.close()
        for pipe in self._pipes:
            os.close(pipe)


class Daemon:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")
        assert "astra" in self.read()

    def read(self) -> dict[str, Any]:
        return json.loads(self._lines.readline())

    def answer(self, identifier: Any, *, kind: str = "result", **said: Any) -> None:
        message = {"jsonrpc": "2.0", "id": identifier, kind: said}
        self._connection.sendall(json.dumps(message).encode() + b"\n")

    def die(self) -> None:
        self._lines.close()
        self._connection.close()


@pytest.fixture
def ends(tmp_path: Path) -> Iterator[Ends]:
    made = Ends(tmp_path)
    yield made
    made.close()


def introduced(ends: Ends) -> Daemon:
    daemon = ends.accept()
    ends.send(INITIALIZE)
    assert daemon.read() == INITIALIZE
    daemon.answer(1, first=True)
    assert ends.read()["result"] == {"first": True}
    ends.send(INITIALIZED)
    assert daemon.read() == INITIALIZED
    return daemon


def test_lines_go_both_ways_unchanged(ends: Ends) -> None:
    daemon = introduced(ends)
    ends.send(CALL)
    assert daemon.read() == CALL
    daemon.answer("two", text="é")
    assert ends.read()["result"] == {"text": "é"}
    daemon.die()


def test_an_introduction_that_was_turned_down_is_not_repeated(ends: Ends) -> None:
    daemon = ends.accept()
    ends.send(INITIALIZE)
    daemon.read()
    daemon.answer(1, kind="error", code=-32022)
    assert ends.read()["error"] == {"code": -32022}
    daemon.die()
    ends.send(CALL)
    daemon = ends.accept()
    assert daemon.read() == CALL
    daemon.answer("two")
    assert ends.read()["id"] == "two"
    daemon.die()


def test_an_open_request_is_answered_as_uncertain_when_the_daemon_dies(ends: Ends) -> None:
    daemon = introduced(ends)
    ends.send(CALL)
    daemon.read()
    daemon.die()
    said = ends.read()
    assert said["id"] == "two"
    assert said["error"]["data"]["code"] == "uncertain"
    assert said["error"]["data"]["next_step"]
    ends.accept().die()


def test_the_client_is_introduced_anew_and_hears_only_that_tools_may_have_changed(
    ends: Ends,
) -> None:
    introduced(ends).die()
    daemon = ends.accept()
    assert [daemon.read(), daemon.read()] == [INITIALIZE, INITIALIZED]
    daemon.answer(1, first=False)
    assert ends.read() == CHANGED
    ends.send(CALL)
    assert daemon.read() == CALL
    daemon.answer("two")
    assert ends.read()["id"] == "two"
    daemon.die()


def test_an_introduction_that_nobody_answered_yet_is_answered_by_the_next_daemon(
    ends: Ends,
) -> None:
    daemon = ends.accept()
    ends.send(INITIALIZE)
    daemon.read()
    daemon.die()
    daemon = ends.accept()
    assert daemon.read() == INITIALIZE
    daemon.answer(1, second=True)
    assert ends.read()["result"] == {"second": True}
    daemon.die()


def test_an_introduction_that_no_daemon_survives_is_answered_in_the_end(ends: Ends) -> None:
    ends.send(INITIALIZE)
    for _ in range(4):
        daemon = ends.accept()
        assert daemon.read() == INITIALIZE
        daemon.die()
    assert ends.read()["error"]["data"]["code"] == "uncertain"


def test_an_introduction_is_refused_with_the_reason_when_no_daemon_starts(ends: Ends) -> None:
    daemon = ends.accept()
    ends.send(INITIALIZE)
    daemon.read()
    ends.stop_listening()
    (ends.run / socket_path.MCP).unlink()
    daemon.die()
    said = ends.read()
    assert said["id"] == 1
    assert said["error"]["data"]["code"] == "no_data_root"
    ends.listen()


def test_a_cancelled_request_is_not_answered(ends: Ends) -> None:
    daemon = introduced(ends)
    ends.send(CALL)
    ends.send(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "two"}}
    )
    daemon.read()
    daemon.read()
    daemon.die()
    daemon = ends.accept()
    daemon.read()
    daemon.answer(1)
    assert ends.read() == CHANGED
    daemon.die()


def test_ids_of_different_types_are_different(ends: Ends) -> None:
    daemon = introduced(ends)
    ends.send({**CALL, "id": 2})
    ends.send({**CALL, "id": "2"})
    daemon.read()
    daemon.read()
    daemon.answer(2)
    assert ends.read()["id"] == 2
    daemon.die()
    assert ends.read()["id"] == "2"
    ends.accept().die()


def test_lines_that_are_no_messages_are_carried_all_the_same(ends: Ends) -> None:
    daemon = introduced(ends)
    for odd in ([], "text", {"astra": {"operator": True}}, None):
        ends.send(odd)
        assert daemon.read() == odd
    daemon.die()


def test_without_a_daemon_a_request_is_refused_with_the_reason(ends: Ends) -> None:
    daemon = introduced(ends)
    ends.stop_listening()
    (ends.run / socket_path.MCP).unlink()
    daemon.die()
    ends.send(CALL)
    said = ends.read()
    assert said["id"] == "two"
    assert said["error"]["data"]["code"] in {"no_data_root", "uncertain"}
    ends.listen()
    ends.accept().die()


class SlowStart(relay.Daemon):
    """A daemon that starts when it is told to."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, Opening())
        object.__setattr__(self, "ready", threading.Event())

    def reach(self) -> socket.socket:
        assert self.ready.wait(60)
        return super().reach()


def test_while_the_daemon_starts_the_relay_answers_what_is_asked_first(tmp_path: Path) -> None:
    run = tmp_path / "var" / "run"
    run.mkdir(parents=True)
    write_standing(run, Standing(flags={"PERSONA_MODE_ENABLED": True}))
    said: list[dict[str, Any]] = []
    daemon = SlowStart(tmp_path)
    between = relay.Relay(daemon, lambda data: said.append(json.loads(data)))
    between.begin()
    hello = {**INITIALIZE, "params": {"protocolVersion": "2025-11-25"}}
    for message in (hello, INITIALIZED, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}):
        between.forward_from_client(json.dumps(message).encode() + b"\n")
    assert [answer["id"] for answer in said] == [1, 2], "nobody waited for the daemon"
    assert "read_source_code" in {tool["name"] for tool in said[1]["result"]["tools"]}
    calling = threading.Thread(
        target=between.forward_from_client, args=(json.dumps(CALL).encode() + b"\n",)
    )
    calling.start()
    with socket_path.listen(run, socket_path.MCP) as listener:
        daemon.ready.set()
        connection, _ = listener.accept()
    lines = connection.makefile("rb")
    lines.readline()  # the opening
    assert json.loads(lines.readline()) == hello
    assert json.loads(lines.readline()) == INITIALIZED
    calling.join(60)
    assert json.loads(lines.readline()) == CALL
    connection.sendall(b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
    lines.close()
    connection.close()
    listening = threading.Thread(target=between.listen, daemon=True)
    listening.start()
    between.leave()
    listening.join(60)
    assert CHANGED in said
    assert [answer.get("id") for answer in said].count(1) == 1
