"""Tells every connected client when the list of tools, or a resource it watches, has changed.

A thread waits for the ledger to move, and looks whether a flag was set or an imported tool came or
went since, and where the watched resources are now; nothing polls.
Clients of the 2025 protocol hear a notification, those of the 2026 protocol on the stream they
asked for.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any

from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourceUpdated,
    ToolsListChanged,
)

from astra.interfaces.mcp import resources
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import flags

_LONGEST_WAIT = 1.0
_MOST_WATCHED = 64


class Announcements:
    def __init__(
        self,
        ledger: Ledger,
        visible: Callable[[], Any],
        imported: Callable[[], object] = lambda: None,
    ) -> None:
        """Take what is visible now, and what is another value when imported tools are others."""
        self._ledger = ledger
        self._visible = visible
        self._imported = imported
        self._bus = InMemorySubscriptionBus()
        self._clients: dict[object, ServerSession] = {}
        self._watched: Counter[str] = Counter()
        self._subscribed: dict[object, set[str]] = {}
        self._versions: dict[str, int] = {}
        self._lock = threading.Lock()
        self._sending: set[asyncio.Task[None]] = set()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.listen = ListenHandler(self._bus)

    def add(self, client: object, channel: ServerSession) -> None:
        self._clients[client] = channel

    def remove(self, client: object) -> None:
        self._clients.pop(client, None)
        for uri in list(self._subscribed.get(client, ())):
            self.unsubscribe(client, uri)

    def subscribe(self, client: object, uri: str) -> bool:
        """Tell a client of the 2025 protocol when a resource moves; of so many at most."""
        uris = self._subscribed.setdefault(client, set())
        if uri in uris:
            return True
        if len(uris) >= _MOST_WATCHED:
            return False
        uris.add(uri)
        self._begin_watching(uri)
        return True

    def unsubscribe(self, client: object, uri: str) -> None:
        uris = self._subscribed.get(client, set())
        if uri in uris:
            uris.discard(uri)
            self._end_watching(uri)
        if not uris:
            self._subscribed.pop(client, None)

    @contextmanager
    def watch(self, uris: Iterable[str]) -> Generator[None]:
        """Watch resources for a stream of the 2026 protocol, as long as it is open."""
        known_uris = [uri for uri in uris if resources.find_call(uri)][:_MOST_WATCHED]
        for uri in known_uris:
            self._begin_watching(uri)
        try:
            yield
        finally:
            for uri in known_uris:
                self._end_watching(uri)

    def _begin_watching(self, uri: str) -> None:
        with self._lock:
            self._watched[uri] += 1
            if uri not in self._versions:
                self._versions[uri] = resources.read_version(self._ledger, uri)

    def _end_watching(self, uri: str) -> None:
        with self._lock:
            self._watched[uri] -= 1
            if self._watched[uri] <= 0:
                del self._watched[uri]
                self._versions.pop(uri, None)

    def _find_moved(self) -> list[str]:
        """Find the watched resources that moved since the last look."""
        moved_uris: list[str] = []
        with self._lock:
            for uri, before in list(self._versions.items()):
                now = resources.read_version(self._ledger, uri)
                if now != before:
                    self._versions[uri] = now
                    moved_uris.append(uri)
        return moved_uris

    def start(self) -> None:
        """Watch from now on; must be called on the event loop."""
        loop = asyncio.get_running_loop()
        initial_state = self._read_position(), self._read_version(), self._visible()
        self._thread = threading.Thread(
            target=self._watch_ledger,
            args=(loop, *initial_state),
            name="mcp-announcements",
            daemon=True,
        )
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self.listen.close()

    def _watch_ledger(
        self, loop: asyncio.AbstractEventLoop, position: int, version: object, tools_before: Any
    ) -> None:
        while not self._stopping.is_set():
            if not self._ledger.wait(position, _LONGEST_WAIT):
                continue
            position, before = self._read_position(), version
            if (
                self._versions
                and (moved_uris := self._find_moved())
                and not self._stopping.is_set()
            ):
                loop.call_soon_threadsafe(self._tell_moved, moved_uris)
            version = self._read_version()
            if version == before or (now := self._visible()) == tools_before:
                continue
            tools_before = now
            if not self._stopping.is_set():
                loop.call_soon_threadsafe(self._tell_all)

    def _read_version(self) -> object:
        """Give what the list of tools follows from."""
        return flags.version(self._ledger), self._imported()

    def _read_position(self) -> int:
        """Give how far the index is; asked before the flags, so that no change falls between."""
        return self._ledger.query("SELECT coalesce(max(sequence), 0) FROM record")[0][0]

    def _tell_all(self) -> None:
        self._spawn_send(self._bus.publish(ToolsListChanged()))
        for channel in list(self._clients.values()):
            self._spawn_send(channel.send_tool_list_changed())

    def _tell_moved(self, uris: list[str]) -> None:
        for uri in uris:
            self._spawn_send(self._bus.publish(ResourceUpdated(uri=uri)))
            for client, channel in list(self._clients.items()):
                if uri in self._subscribed.get(client, ()):
                    self._spawn_send(channel.send_resource_updated(uri))

    def _spawn_send(self, sending: Any) -> None:
        task = asyncio.ensure_future(sending)
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)
