"""`astra mcp`: carries an MCP client's lines to the daemon and back, across restarts of the daemon.

It imports no MCP library and understands only what it must: which requests are open, and how the
client introduced itself. When the daemon goes away, open requests are answered with an error that
says their outcome is uncertain. The relay connects again as soon as there is a daemon, and starts
one itself only when its client wants something; then it introduces the client anew, keeps the
repeated answer to itself, and says that the tools may have changed.
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

from astra.interfaces import socket_path
from astra.interfaces.cli import client
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
    relay.connect()
    listening = threading.Thread(target=relay.listen, name="from-daemon", daemon=True)
    listening.start()
    for line in _lines(lambda: os.read(stdin, _CHUNK)):
        relay.from_client(line)
    relay.leave()
    listening.join(_LEAVE_SECONDS)


@dataclass(frozen=True)
class Daemon:
    """Where the daemon is, and what to tell it first."""

    data_root: Path
    opening: Opening

    def reach(self) -> socket.socket:
        """Connect, starting a daemon when there is none.

        What narrows this session is in its first line; a daemon for all does not inherit it.
        """
        own = self.opening.off | {"ASTRA_MCP_TOOL_NAMES"}
        return self._opened(client.reach(self.data_root, socket_path.MCP, without=own))

    def look(self) -> socket.socket | None:
        """Connect if there is one."""
        try:
            return self._opened(
                socket_path.connect(self.data_root / "var" / "run", socket_path.MCP)
            )
        except OSError:
            return None

    def _opened(self, connection: socket.socket) -> socket.socket:
        _say(connection, self.opening.line())
        return connection


@dataclass(frozen=True)
class Writer:
    """The client's end: whole lines, whichever thread brings them."""

    descriptor: int
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, data: bytes) -> None:
        view = memoryview(data)
        with self._turn:
            while view:
                view = view[os.write(self.descriptor, view) :]


@dataclass
class Introduction:
    """How the client introduced itself, to be repeated to the next daemon."""

    request: bytes = b""
    key: str = ""
    answered: bool = False
    confirmation: bytes = b""
    lost: int = 0

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
    _changed: threading.Condition = field(default_factory=threading.Condition)

    # From the client

    def connect(self) -> None:
        with self._changed:
            self._use(self.daemon.reach())

    def from_client(self, line: bytes) -> None:
        message = _parse(line)
        connection = self._note(message, line)
        try:
            if not (connection and self._sent(line, connection)):
                self._send_again(message, line)
        except (AstraError, OSError) as error:
            self._refuse(message, error)

    def leave(self) -> None:
        """Let open requests finish for a moment, then say goodbye."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._open and self._connection), _LEAVE_SECONDS)
            self._leaving = True
            if self._connection:
                self._connection.shutdown(socket.SHUT_WR)
            self._changed.notify_all()

    def _note(self, message: Message, line: bytes) -> socket.socket | None:
        """Remember what matters of a message, and give the connection there is at this moment."""
        method = message.get("method")
        with self._changed:
            if _is_request(message):
                self._open.add(_key(message["id"]))
            if method == "initialize":
                self._introduction = Introduction(line, _key(message.get("id")))
            elif method == "notifications/initialized":
                self._introduction.confirmation = line
            elif method == "notifications/cancelled":
                self._open.discard(_key(_member(message.get("params"), "requestId")))
            return self._connection

    def _sent(self, line: bytes, connection: socket.socket) -> bool:
        """Send a line; one that did not leave whole was not understood, and may go again."""
        try:
            connection.sendall(line)
        except OSError:
            self._lost(connection, keep=line)
            return False
        return True

    def _send_again(self, message: Message, line: bytes) -> None:
        with self._changed:
            fresh = self._connection or self._use(self.daemon.reach())
            introduced = line in (self._introduction.request, self._introduction.confirmation)
            answered = _is_request(message) and _key(message["id"]) not in self._open
        if not introduced and not answered:
            fresh.sendall(line)

    def _refuse(self, message: Message, error: AstraError | OSError) -> None:
        key = _key(message.get("id"))
        with self._changed:
            waits = key in self._open
            self._open.discard(key)
        if waits:
            facts = error.as_dict() if isinstance(error, AstraError) else _gone()
            self.to_client(_error(key, facts))

    # From the daemon

    def listen(self) -> None:
        while connection := self._next_connection():
            try:
                for line in _lines(lambda used=connection: used.recv(_CHUNK)):
                    self._from_daemon(line)
            except OSError:
                pass
            self._lost(connection)

    def _next_connection(self) -> socket.socket | None:
        with self._changed:
            while not self._connection and not self._leaving:
                with contextlib.suppress(OSError):
                    if found := self._look():
                        return self._use(found)
                self._changed.wait(_LOOK_AGAIN_SECONDS)
            return self._connection

    def _look(self) -> socket.socket | None:
        """Look for a daemon; start one for a client that still waits to be introduced."""
        if self._introduction.key not in self._open:
            return self.daemon.look()
        try:
            return self.daemon.reach()
        except (AstraError, OSError) as error:
            self._refuse(_parse(self._introduction.request), error)
            return None

    def _from_daemon(self, line: bytes) -> None:
        message = _parse(line)
        if "id" in message and "method" not in message and self._settle(message):
            self.to_client(_LIST_CHANGED)
        else:
            self.to_client(line)

    def _settle(self, answer: Message) -> bool:
        """Note that a request was answered; tell whether it was the relay's own repetition.

        An introduction that was turned down is not repeated: the client goes on without it.
        """
        key = _key(answer["id"])
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

    def _use(self, connection: socket.socket) -> socket.socket:
        """Take a fresh connection into use, and introduce the client to whoever is there."""
        known = self._introduction
        if known.request:
            self._repeated = known.answered
            _say(connection, known.request + known.confirmation)
        self._connection = connection
        self._changed.notify_all()
        return connection

    def _lost(self, connection: socket.socket, keep: bytes = b"") -> None:
        """Answer what was open when the daemon went away, but for what can still be asked."""
        with self._changed:
            if self._connection is not connection:
                return
            connection.close()
            self._connection = None
            kept = {_key(_parse(keep).get("id"))} if keep else set[str]()
            if self._introduction.may_go_again():
                kept.add(self._introduction.key)
            uncertain, self._open = self._open - kept, self._open & kept
            leaving = self._leaving
        if not leaving:
            for key in uncertain:
                self.to_client(_error(key, _gone()))


def _say(connection: socket.socket, first: bytes) -> None:
    """Send the first words on a connection; one that cannot take them is of no use."""
    try:
        connection.sendall(first)
    except OSError:
        connection.close()
        raise


def _gone() -> dict[str, Any]:
    return {
        "code": "uncertain",
        "detail": "the daemon went away before it answered; whether this was done is uncertain",
        "next_step": "look before you try again: the ledger has what was recorded",
    }


def _error(key: str, facts: dict[str, Any]) -> bytes:
    error = {"code": _SERVER_ERROR, "message": facts["detail"], "data": facts}
    text = json.dumps({"jsonrpc": "2.0", "id": json.loads(key), "error": error}, default=str)
    return text.encode() + b"\n"


def _parse(line: bytes) -> Message:
    """Read a message; what is none is carried all the same, for the daemon to object to."""
    try:
        document: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return cast("Message", document) if isinstance(document, dict) else {}


def _is_request(message: Message) -> bool:
    return "id" in message and "method" in message


def _key(identifier: Any) -> str:
    """Tell 1 from "1"."""
    return json.dumps(identifier)


def _member(value: Any, name: str) -> Any:
    return cast("Message", value).get(name) if isinstance(value, dict) else None


def _lines(read: Callable[[], bytes]) -> Any:
    """Give whole lines until the end; what is left without a newline then is nobody's message."""
    rest = b""
    while chunk := read():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line + b"\n"
