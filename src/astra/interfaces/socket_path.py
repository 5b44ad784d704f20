"""The daemon's sockets, reached whatever the length of its path.

A socket's address holds 107 bytes. Deep data roots are longer, so both sides go through a
descriptor of the folder.
"""

import os
import socket
from collections.abc import Callable
from pathlib import Path

NAME = "astra.sock"
MCP = "mcp.sock"


def listen(folder: Path, name: str = NAME) -> socket.socket:
    """Listen on a fresh socket; the caller owns the data root, so a leftover one is stale."""
    (folder / name).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        _through(folder, name, listener.bind)
    finally:
        os.umask(before)
    listener.listen(128)
    return listener


def connect(folder: Path, name: str = NAME, *, timeout: float | None = None) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    try:
        _through(folder, name, connection.connect)
    except OSError:
        connection.close()
        raise
    return connection


def _through(folder: Path, name: str, use: Callable[[str], None]) -> None:
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        use(f"/proc/self/fd/{descriptor}/{name}")
    finally:
        os.close(descriptor)
