"""Keeps the connections to other MCP servers: made when needed, ended when their entry changes.

    entry in force → connected → tools looked at → this tool still as signed → call

A tool list is looked at when a server is reached, when it says that the list changed, and once a
minute while it is used. A call of a tool that is not, or not any more, what the operator signed for
is refused before anything is sent.
"""

import hashlib
import shlex
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from astra.adapters.servers.messages import (
    PROTOCOL,
    Connection,
    Message,
    Patience,
    ServerUnavailable,
    quote_server,
    read_result,
)
from astra.trusted.calls.cancellation import Cancellation
from astra.trusted.kernel.errors import AstraError, NotFound, Refused
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.servers.acceptance import DAEMON, ServerBook, Standing, ToolState, subject_of
from astra.trusted.servers.declaration import Declaration, read_declarations
from astra.trusted.settings.server_settings import Mcp, McpServer

STARTED, FAILED = "server_started", "server_failed"
LOOK_AGAIN_SECONDS, IDLE_SECONDS, PAUSE_SECONDS = 60.0, 600.0, 10.0
_HANDSHAKE_SECONDS, _MOST_PAGES = 30.0, 16


@dataclass
class _Reached:
    """A server that is connected, and what it listed when it was last looked at."""

    entry: McpServer
    connection: Connection
    tools: tuple[Declaration, ...] = ()
    looked_at: float = 0.0
    used_at: float = 0.0


@dataclass(frozen=True)
class _Trouble:
    why: str
    at: float


@dataclass
class ServerHost:
    ledger: Ledger
    servers: Callable[[], Mcp]
    """Gives the servers of the signed configuration; asked anew at every use."""
    connect: Callable[[McpServer, str], Connection]
    """Reaches a server, for the story of its start."""
    is_stopped: Callable[[], bool]
    seconds: Callable[[], float] = time.monotonic
    _reached: dict[str, _Reached] = field(default_factory=dict[str, _Reached])
    _troubles: dict[str, _Trouble] = field(default_factory=dict[str, _Trouble])
    _turns: dict[str, threading.Lock] = field(default_factory=dict[str, threading.Lock])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.book = ServerBook(self.ledger)

    def call(
        self, server: str, tool: str, arguments: dict[str, Any], cancellation: Cancellation
    ) -> Message:
        """Call a tool that is as it was signed; gives what the server answered, unread."""
        reached = self._reach(server)
        self._require_usable(reached, tool)
        reached.used_at = self.seconds()
        patience = Patience(
            seconds=reached.entry.call_seconds,
            is_over=lambda: self._find_end(cancellation),
        )
        params = {"name": tool, "arguments": arguments}
        answer = reached.connection.request("tools/call", params, patience)
        cancellation.raise_if_asked()
        return read_result(server, answer)

    def look(self, server: str) -> tuple[Declaration, ...]:
        """Look at a server's tool list now, whether it was running or not."""
        reached = self._reach(server)
        self._look_at(reached)
        return reached.tools

    def list_due(self) -> list[str]:
        """Name the servers that nobody looked at since their entry was signed."""
        return [
            entry.name
            for entry in self.servers().servers
            if self.book.read_listed(entry.name) is None
            or self.book.read_entry(entry.name) != digest_entry(entry)
        ]

    def settle(self) -> None:
        """End what was signed away or signed anew, and what is idle."""
        current = self.servers()
        with self._lock:
            reached_servers = list(self._reached.values())
        for reached in reached_servers:
            is_idle = self.seconds() - reached.used_at > IDLE_SECONDS
            if is_idle or current.find(reached.entry.name) != reached.entry:
                self._drop(reached)

    def close(self) -> None:
        with self._lock:
            reached_servers = list(self._reached.values())
            self._reached.clear()
        closing = [threading.Thread(target=item.connection.close) for item in reached_servers]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join()

    def find_trouble(self, server: str) -> str:
        """Say why a server does not run, where it was tried and does not."""
        trouble = self._troubles.get(server)
        return trouble.why if trouble else ""

    def is_running(self, server: str) -> bool:
        reached = self._reached.get(server)
        return reached is not None and reached.connection.is_alive()

    def list_standings(self, server: str) -> list[Standing]:
        return self.book.list_standings(server)

    def _find_end(self, cancellation: Cancellation) -> str:
        if cancellation.is_asked():
            return "cancelled by its caller"
        return "stopped by an operator" if self.is_stopped() else ""

    def _require_usable(self, reached: _Reached, tool: str) -> None:
        is_old = self.seconds() - reached.looked_at > LOOK_AGAIN_SECONDS
        if is_old or reached.connection.list_changed():
            self._look_at(reached)
        accepted = self.book.find_usable(reached.entry.name).get(tool)
        live = next((item for item in reached.tools if item.name == tool), None)
        if accepted is None or live is None or live.sha256 != accepted.sha256:
            raise Refused(
                f"{tool} of the server {reached.entry.name} is not what the operator signed for",
                code="tool_changed",
                next_step="go on without it; the operator can look at `astra servers show"
                f" {reached.entry.name}` and accept it",
            )

    def _reach(self, server: str) -> _Reached:
        entry = self.servers().find(server)
        if entry is None:
            raise NotFound(
                f"the signed configuration names no server {server[:50]!r}",
                next_step="astra servers list",
            )
        with self._lock:
            turn = self._turns.setdefault(server, threading.Lock())
        with turn:
            reached = self._reached.get(server)
            if reached and reached.entry == entry and reached.connection.is_alive():
                return reached
            if reached:
                self._drop(reached)
            return self._connect(entry)

    def _connect(self, entry: McpServer) -> _Reached:
        trouble = self._troubles.get(entry.name)
        if trouble and self.seconds() - trouble.at < PAUSE_SECONDS:
            raise ServerUnavailable(
                trouble.why, next_step=f"it is tried again {PAUSE_SECONDS:g} s after it failed"
            )
        story = random_id("cor")
        try:
            reached = self._introduce(entry, self.connect(entry, story), story)
        except AstraError as error:
            self._note_failure(entry.name, error.detail, story)
            raise
        self._troubles.pop(entry.name, None)
        with self._lock:
            self._reached[entry.name] = reached
        return reached

    def _introduce(self, entry: McpServer, connection: Connection, story: str) -> _Reached:
        patience = Patience(
            seconds=_HANDSHAKE_SECONDS, is_over=lambda: self._find_end(Cancellation())
        )
        try:
            params = {
                "protocolVersion": PROTOCOL,
                "capabilities": {},
                "clientInfo": {"name": "astra", "version": "1"},
            }
            hello = read_result(entry.name, connection.request("initialize", params, patience))
            connection.notify("notifications/initialized", {})
            now = self.seconds()
            reached = _Reached(entry=entry, connection=connection, used_at=now)
            self._record_start(entry, hello, story)
            self._look_at(reached)
        except BaseException:  # raised again; nothing that half started stays
            connection.close()
            raise
        return reached

    def _look_at(self, reached: _Reached) -> None:
        name, connection = reached.entry.name, reached.connection
        reached.tools = tuple(
            tool for tool in list_tools(name, connection) if reached.entry.imports(tool.name)
        )
        reached.looked_at = self.seconds()
        self.book.note_look(name, reached.tools, entry=digest_entry(reached.entry))

    def _drop(self, reached: _Reached) -> None:
        with self._lock:
            if self._reached.get(reached.entry.name) is reached:
                del self._reached[reached.entry.name]
        reached.connection.close()

    def _record_start(self, entry: McpServer, hello: Message, story: str) -> None:
        described = hello.get("serverInfo")
        title = cast("Message", described).get("name") if isinstance(described, dict) else None
        data = {"server": entry.name, "calls_itself": quote_server(title)}
        self._record(STARTED, entry.name, data, story)

    def _note_failure(self, server: str, why: str, story: str) -> None:
        """Remember why a server does not run; the same reason again has no record of its own."""
        last_trouble = self._troubles.get(server)
        self._troubles[server] = _Trouble(why, self.seconds())
        if last_trouble is None or last_trouble.why != why:
            self._record(FAILED, server, {"server": server, "why": why[:500]}, story)

    def _record(self, kind: str, server: str, data: dict[str, Any], story: str) -> None:
        subject = subject_of(server)
        self.ledger.append(
            [Event(type=kind, actor=DAEMON, data=data, correlation=story, subject=subject)]
        )


def list_tools(server: str, connection: Connection) -> tuple[Declaration, ...]:
    """Read a whole tool list, page after page, as far as anybody may list."""
    raw: list[object] = []
    cursor: str | None = None
    for _page in range(_MOST_PAGES):
        params = {"cursor": cursor} if cursor else {}
        answer = connection.request("tools/list", params, Patience(seconds=_HANDSHAKE_SECONDS))
        page = read_result(server, answer)
        tools, following = page.get("tools"), page.get("nextCursor")
        raw += tools if isinstance(tools, list) else []
        cursor = following if isinstance(following, str) else None
        if not cursor:
            break
    return read_declarations(raw)


def digest_entry(entry: McpServer) -> str:
    """Name what the operator signed about a server."""
    return hashlib.sha256(repr(entry).encode()).hexdigest()


def split_command(entry: McpServer) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(entry.command))
    except ValueError as error:
        raise ServerUnavailable(
            f"the command of the server {entry.name} cannot be read: {error}",
            next_step="mend its quotes in astra.toml, then astra config sign",
        ) from None


__all__ = ["FAILED", "STARTED", "ServerHost", "ToolState", "digest_entry", "split_command"]
