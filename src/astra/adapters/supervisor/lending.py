"""Lends the daemon's own listening sockets to the holders, and takes them back after a restart.

The app outlives the daemon, and on the host's network a port that nobody holds is anybody's. So
whoever runs an app also holds the sockets of the dashboard: before the app is started, and for as
long as it runs (`keeping` is the other side). Each loan is a connection that stays open; when the
daemon dies it ends, and the holder answers in the daemon's place that there is none.
"""

import contextlib
import socket
import threading
from collections.abc import Sequence
from pathlib import Path

from astra.adapters.supervisor import channel, takeover
from astra.trusted.kernel.errors import AstraError

_SECONDS = 5.0
_HOLDERS = (channel.HOLDER, channel.STAGING)
_LOOPBACK = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))


class LentListeners:
    def __init__(self, run: Path) -> None:
        self._run = run
        self._listeners: tuple[socket.socket, ...] = ()
        self._loans: dict[str, socket.socket] = {}
        self._lock = threading.Lock()

    def offer(self, listeners: Sequence[socket.socket]) -> None:
        """Have these held by every holder that runs, and by those that are started later."""
        with self._lock:
            self._listeners = tuple(listener.dup() for listener in listeners)
        for name in _HOLDERS:
            self.lend(name)

    def lend(self, name: str) -> bool:
        """Hand copies to one holder; False where there is none, or one too old to know how."""
        with self._lock:
            if not self._listeners:
                return False
            try:
                loan = channel.lend_sockets(self._run, name, self._listeners, seconds=_SECONDS)
            except (OSError, ValueError, AstraError):
                return False
            before, self._loans[name] = self._loans.get(name), loan
            if before is not None:
                before.close()
            return True

    def close(self) -> None:
        """Let go of them; from now on the holders answer."""
        with self._lock:
            for open_socket in (*self._listeners, *self._loans.values()):
                open_socket.close()
            self._listeners = ()
            self._loans.clear()


def take_back_listeners(run: Path, port: int) -> tuple[socket.socket, socket.socket] | None:
    """Get the sockets of both loopback addresses from a holder; port 0 takes whichever it has."""
    for name in _HOLDERS:
        listeners = _take_from_holder(run, name, port)
        loopback_pair = [
            _find_listener(listeners, family, address, port) for family, address in _LOOPBACK
        ]
        first, second = loopback_pair
        fits = first and second and first.getsockname()[1] == second.getsockname()[1]
        for listener in listeners:
            if not fits or listener not in loopback_pair:
                listener.close()
        if first and second and fits:
            return first, second
    return None


def _take_from_holder(run: Path, name: str, port: int) -> list[socket.socket]:
    """Ask the holder; out of one that hangs they are copied without its help."""
    try:
        return channel.take_sockets(run, name, seconds=_SECONDS)
    except (OSError, ValueError, AstraError):
        with takeover.open_lock_holder(run / f"{name}.lock") as mute:
            families = tuple(family for family, _address in _LOOPBACK)
            return takeover.copy_listeners(mute, port, families) if mute and port else []


def _find_listener(
    held: Sequence[socket.socket], family: int, address: str, port: int
) -> socket.socket | None:
    for listener in held:
        with contextlib.suppress(OSError):
            name = listener.getsockname()
            if listener.family == family and name[0] == address and port in {0, name[1]}:
                return listener
    return None
