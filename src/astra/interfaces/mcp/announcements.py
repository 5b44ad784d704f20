"""Tells every connected client when the list of tools has changed.

A thread waits for the ledger to move, and looks whether a flag was set since; nothing polls.
Clients of the 2025 protocol hear a notification, those of the 2026 protocol on the stream they
asked for.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import flags

_LONGEST_WAIT = 1.0


class Announcements:
    def __init__(self, ledger: Ledger, visible: Callable[[], Any]) -> None:
        self._ledger = ledger
        self._visible = visible
        self._bus = InMemorySubscriptionBus()
        self._clients: dict[object, ServerSession] = {}
        self._sending: set[asyncio.Task[None]] = set()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.listen = ListenHandler(self._bus)

    def add(self, client: object, channel: ServerSession) -> None:
        self._clients[client] = channel

    def remove(self, client: object) -> None:
        self._clients.pop(client, None)

    def start(self) -> None:
        """Watch from now on; must be called on the event loop."""
        loop = asyncio.get_running_loop()
        seen = self._position(), flags.version(self._ledger), self._visible()
        self._thread = threading.Thread(
            target=self._watch, args=(loop, *seen), name="mcp-announcements", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self.listen.close()

    def _watch(
        self, loop: asyncio.AbstractEventLoop, position: int, version: int, shown: Any
    ) -> None:
        while not self._stopping.is_set():
            if not self._ledger.wait(position, _LONGEST_WAIT):
                continue
            position, before = self._position(), version
            version = flags.version(self._ledger)
            if version == before or (now := self._visible()) == shown:
                continue
            shown = now
            if not self._stopping.is_set():
                loop.call_soon_threadsafe(self._tell_all)

    def _position(self) -> int:
        """Give how far the index is; asked before the flags, so that no change falls between."""
        return self._ledger.query("SELECT coalesce(max(sequence), 0) FROM record")[0][0]

    def _tell_all(self) -> None:
        self._spawn(self._bus.publish(ToolsListChanged()))
        for channel in list(self._clients.values()):
            self._spawn(channel.send_tool_list_changed())

    def _spawn(self, sending: Any) -> None:
        task = asyncio.ensure_future(sending)
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)
