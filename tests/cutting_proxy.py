"""A proxy on a Unix socket that cuts a connection at the commit, before or after the server had it.

What Postgres answers to a commit is lost when a network breaks; here that happens on demand. It can
also fall silent: it takes what is said and passes nothing on, as a server that was stopped does.
"""

import contextlib
import socket
import threading
from pathlib import Path

BEFORE, AFTER = "before the server had it", "after the server had it"

_COMMITS = (b"COMMIT", b"WITH moved AS")
"""How a commit is told: of a transaction, or of the one statement that appends directly."""


class CuttingProxy:
    def __init__(self, folder: Path, target: Path) -> None:
        self._target = str(target)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        self._sockets: list[socket.socket] = []
        self.cut_at = ""
        self.cuts = 0
        self.is_down = False
        self.is_silent = False
        self.swallowed = threading.Event()
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    def close(self) -> None:
        self._hang_up(self._listener)
        self._acceptor.join()
        for end in self._sockets:
            self._hang_up(end)
            end.close()

    def _hang_up(self, end: socket.socket) -> None:
        """Wake whoever waits on a socket; closing alone would leave that thread waiting."""
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with contextlib.suppress(OSError), self._listener:
            while True:
                client, _ = self._listener.accept()
                if self.is_down:
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                self._sockets += [client, server]
                for pair in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, is_client: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if is_client and self.cut_at and any(mark in data for mark in _COMMITS):
                    self._cut(source, sink, data)
                    return
                if self.is_silent:
                    self.swallowed.set()
                    continue
                sink.sendall(data)
        for end in (source, sink):
            self._hang_up(end)

    def _cut(self, client: socket.socket, server: socket.socket, data: bytes) -> None:
        when, self.cut_at = self.cut_at, ""
        self.cuts += 1
        client.shutdown(socket.SHUT_RDWR)
        if when == AFTER:
            server.sendall(data)
        server.shutdown(socket.SHUT_WR)
