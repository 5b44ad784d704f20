"""`astra mcp`: carries an MCP client's lines to the daemon and back, across restarts of the daemon.

It imports no MCP library and understands only what it must: which requests are open, and how the
client introduced itself. When the daemon goes away, open requests are answered with an error that
says their outcome is uncertain. The relay connects again as soon as there is a daemon, and starts
one itself only when its client wants something; then it introduces the client anew, keeps the
repeated answer to itself, and says that the tools may have changed.

While the first daemon starts, the relay answers the introduction and the list of tools itself
(`first_answers`); all else waits.
"""

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from astra.interfaces.mcp.first_answers import FirstAnswers
from astra.interfaces.mcp.relay_ends import Daemon, Writer, send_first_lines
from astra.interfaces.mcp.session import Opening
from astra.trusted.kernel.errors import AstraError

_CHUNK = 256 * 1024
_LOOK_AGAIN_SECONDS = 0.25
_LEAVE_SECONDS = 1.0
_MOST_INTRODUCTIONS = 3
_SERVER_ERROR = -32000
_LIST_CHANGED = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'
Message = dict[str, Any]


def run(data_root: Path, opening: Opening, *, stdin: int = 0, stdout: int = 1) -> None:
    """Relay until the client closes its end."""
    relay = Relay(Daemon(data_root, opening), Writer(stdout))
    relay.begin()
    listening = threading.Thread(target=relay.listen, name="from-daemon", daemon=True)
    listening.start()
    for line in _read_lines(lambda: os.read(stdin, _CHUNK)):
        relay.forward_from_client(line)
    relay.leave()
    listening.join(_LEAVE_SECONDS)


@dataclass
class Introduction:
    """How the client introduced itself, to be repeated to the next daemon."""

    request: bytes = b""
    key: str = ""
    answered: bool = False
    confirmation: bytes = b""
    lost: int = 0

    def read_version(self) -> str:
        """Read the protocol's version that the client asked for."""
        params = _parse_message(self.request).get("params")
        return str(_read_member(params, "protocolVersion"))

    def may_go_again(self) -> bool:
        """Tell whether the next daemon may be asked what this one did not answer."""
        self.lost += 1
        return not self.answered and self.lost <= _MOST_INTRODUCTIONS


@dataclass
class Relay:
    daemon: Daemon
    to_client: Callable[[bytes], None]
    _introduction: Introduction = field(default_factory=Introduction)
    _open: set[str] = field(default_factory=set[str])
    _connection: socket.socket | None = None
    _repeated: bool = False
    _leaving: bool = False
    _first_answers: FirstAnswers | None = None
    _starting: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    # From the client

    def begin(self) -> None:
        """Connect; to a daemon that has to start first, beside answering what is known."""
        connection = self.daemon.connect_if_running()
        if connection is None and (answers := self.daemon.read_first_answers()):
            self._first_answers, self._starting = answers, True
            threading.Thread(target=self._start_daemon, name="to-daemon", daemon=True).start()
            return
        with self._changed:
            self._use_connection(connection or self.daemon.reach())

    def _start_daemon(self) -> None:
        connection = None
        with contextlib.suppress(AstraError, OSError):  # said to who asks for something, at once
            connection = self.daemon.reach()
        with self._changed:
            self._starting = False
            if connection is not None:
                with contextlib.suppress(OSError):
                    self._use_connection(connection)
            self._changed.notify_all()

    def forward_from_client(self, line: bytes) -> None:
        message = _parse_message(line)
        connection = self._note_message(message, line)
        if connection is None and self._starting:
            if self._answer_first(message):
                return
            with self._changed:
                self._changed.wait_for(lambda: not self._starting)
                connection = self._connection
            if connection and line in (self._introduction.request, self._introduction.confirmation):
                return  # it was sent when the connection was taken into use
        try:
            if not (connection and self._try_send(line, connection)):
                self._send_again(message, line)
        except (AstraError, OSError) as error:
            self._refuse_request(message, error)

    def leave(self) -> None:
        """Let open requests finish for a moment, then say goodbye."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._open and self._connection), _LEAVE_SECONDS)
            self._leaving = True
            if self._connection:
                self._connection.shutdown(socket.SHUT_WR)
            self._changed.notify_all()

    def _note_message(self, message: Message, line: bytes) -> socket.socket | None:
        """Remember what matters of a message, and give the connection there is at this moment."""
        method = message.get("method")
        with self._changed:
            if _is_request(message):
                self._open.add(_key_from_id(message["id"]))
            if method == "initialize":
                self._introduction = Introduction(line, _key_from_id(message.get("id")))
            elif method == "notifications/initialized":
                self._introduction.confirmation = line
            elif method == "notifications/cancelled":
                self._open.discard(_key_from_id(_read_member(message.get("params"), "requestId")))
            return self._connection

    def _answer_first(self, message: Message) -> bool:
        """Answer what is known without a daemon, while one starts."""
        if message.get("method") == "notifications/initialized":
            return True  # goes with the introduction
        answers, version = self._first_answers, self._introduction.read_version()
        answer = answers.find(message, version) if answers else None
        if answer is None:
            return False
        self._settle_request({"id": message["id"]})
        text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer})
        self.to_client(text.encode() + b"\n")
        return True

    def _try_send(self, line: bytes, connection: socket.socket) -> bool:
        """Send a line; one that did not leave whole was not understood, and may go again."""
        try:
            connection.sendall(line)
        except OSError:
            self._drop_connection(connection, keep=line)
            return False
        return True

    def _send_again(self, message: Message, line: bytes) -> None:
        with self._changed:
            fresh = self._connection or self._use_connection(self.daemon.reach())
            introduced = line in (self._introduction.request, self._introduction.confirmation)
            answered = _is_request(message) and _key_from_id(message["id"]) not in self._open
        if not introduced and not answered:
            fresh.sendall(line)

    def _refuse_request(self, message: Message, error: AstraError | OSError) -> None:
        key = _key_from_id(message.get("id"))
        with self._changed:
            waits = key in self._open
            self._open.discard(key)
        if waits:
            facts = error.as_dict() if isinstance(error, AstraError) else _describe_lost_daemon()
            self.to_client(_build_error(key, facts))

    # From the daemon

    def listen(self) -> None:
        while connection := self._next_connection():
            try:
                for line in _read_lines(lambda used=connection: used.recv(_CHUNK)):
                    self._from_daemon(line)
            except OSError:
                pass
            self._drop_connection(connection)

    def _next_connection(self) -> socket.socket | None:
        with self._changed:
            while not self._connection and not self._leaving:
                if self._starting:
                    self._changed.wait(_LOOK_AGAIN_SECONDS)
                    continue
                with contextlib.suppress(OSError):
                    if connection := self._look_for_daemon():
                        return self._use_connection(connection)
                self._changed.wait(_LOOK_AGAIN_SECONDS)
            return self._connection

    def _look_for_daemon(self) -> socket.socket | None:
        """Look for a daemon; start one for a client that still waits to be introduced."""
        if self._introduction.key not in self._open:
            return self.daemon.connect_if_running()
        try:
            return self.daemon.reach()
        except (AstraError, OSError) as error:
            self._refuse_request(_parse_message(self._introduction.request), error)
            return None

    def _from_daemon(self, line: bytes) -> None:
        message = _parse_message(line)
        if "id" in message and "method" not in message and self._settle_request(message):
            self.to_client(_LIST_CHANGED)
        else:
            self.to_client(line)

    def _settle_request(self, answer: Message) -> bool:
        """Note that a request was answered; tell whether it was the relay's own repetition.

        An introduction that was turned down is not repeated: the client goes on without it.
        """
        key = _key_from_id(answer["id"])
        with self._changed:
            self._open.discard(key)
            self._changed.notify_all()
            if key != self._introduction.key:
                return False
            repeated, self._repeated = self._repeated, False
            self._introduction.answered = True
            if "error" in answer and not repeated:
                self._introduction = Introduction()
            return repeated

    # When the daemon comes and goes; both with the lock held, or taking it

    def _use_connection(self, connection: socket.socket) -> socket.socket:
        """Take a fresh connection into use, and introduce the client to whoever is there."""
        introduction = self._introduction
        if introduction.request:
            self._repeated = introduction.answered
            send_first_lines(connection, introduction.request + introduction.confirmation)
        self._connection = connection
        self._changed.notify_all()
        return connection

    def _drop_connection(self, connection: socket.socket, keep: bytes = b"") -> None:
        """Answer what was open when the daemon went away, but for what can still be asked."""
        with self._changed:
            if self._connection is not connection:
                return
            connection.close()
            self._connection = None
            retained_keys = {_key_from_id(_parse_message(keep).get("id"))} if keep else set[str]()
            if self._introduction.may_go_again():
                retained_keys.add(self._introduction.key)
            uncertain, self._open = self._open - retained_keys, self._open & retained_keys
            leaving = self._leaving
        if not leaving:
            for key in uncertain:
                self.to_client(_build_error(key, _describe_lost_daemon()))


def _describe_lost_daemon() -> dict[str, Any]:
    return {
        "code": "uncertain",
        "detail": "the daemon went away before it answered; whether this was done is uncertain",
        "next_step": "look before you try again: the tools that list and show say what was done",
    }


def _build_error(key: str, facts: dict[str, Any]) -> bytes:
    message = f"{facts['detail']}; next: {facts['next_step']}"  # all that many clients show
    error = {"code": _SERVER_ERROR, "message": message, "data": facts}
    text = json.dumps({"jsonrpc": "2.0", "id": json.loads(key), "error": error}, default=str)
    return text.encode() + b"\n"


def _parse_message(line: bytes) -> Message:
    """Read a message; what is none is carried all the same, for the daemon to object to."""
    try:
        document: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return cast("Message", document) if isinstance(document, dict) else {}


def _is_request(message: Message) -> bool:
    return "id" in message and "method" in message


def _key_from_id(identifier: Any) -> str:
    """Tell 1 from "1"."""
    return json.dumps(identifier)


def _read_member(value: Any, name: str) -> Any:
    return cast("Message", value).get(name) if isinstance(value, dict) else None


def _read_lines(read: Callable[[], bytes]) -> Any:
    """Give whole lines until the end; what is left without a newline then is nobody's message."""
    partial_line = b""
    while chunk := read():
        *complete_lines, partial_line = (partial_line + chunk).split(b"\n")
        for line in complete_lines:
            yield line + b"\n"
