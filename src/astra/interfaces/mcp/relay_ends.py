"""The two ends of the relay: the daemon's socket, and the client's standard output."""

import os
import socket
import threading
from dataclasses import dataclass, field
from pathlib import Path

from astra.interfaces import socket_path
from astra.interfaces.cli import client
from astra.interfaces.mcp.first_answers import FirstAnswers, read_standing
from astra.interfaces.mcp.session import Opening


@dataclass(frozen=True)
class Daemon:
    """Where the daemon is, and what to tell it first."""

    data_root: Path
    opening: Opening

    def reach(self) -> socket.socket:
        """Connect, starting a daemon when there is none.

        What narrows this session is in its first line; a daemon for all does not inherit it.
        """
        session_settings = self.opening.off | {"ASTRA_MCP_TOOL_NAMES"}
        return self._send_opening(
            client.reach(self.data_root, socket_path.MCP, without=session_settings)
        )

    def read_first_answers(self) -> FirstAnswers | None:
        """Give what can be answered before there is a daemon, if it is known how things stand."""
        standing = read_standing(self.data_root / "var" / "run")
        return FirstAnswers(standing=standing, opening=self.opening) if standing else None

    def connect_if_running(self) -> socket.socket | None:
        """Connect if there is one."""
        try:
            return self._send_opening(
                socket_path.connect(self.data_root / "var" / "run", socket_path.MCP)
            )
        except OSError:
            return None

    def _send_opening(self, connection: socket.socket) -> socket.socket:
        send_first_lines(connection, self.opening.to_line())
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


def send_first_lines(connection: socket.socket, first: bytes) -> None:
    """Send the first words on a connection; one that cannot take them is of no use."""
    try:
        connection.sendall(first)
    except OSError:
        connection.close()
        raise
