"""The holder's control socket: one JSON object a line, one answer to each question.

Sockets may come with either (SCM_RIGHTS), under the name `sockets`.

Only the holder's own OS user is listened to. Deep data roots have paths longer than a socket's
address may be, so both sides go through a descriptor of the folder.
"""

import json
import os
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from astra.trusted.kernel.errors import AstraError

HOLDER, STAGING = "holder", "staging"
LARGEST_LINE = 1 << 20
SOCKETS, MOST_SOCKETS = "sockets", 8


class HolderRefused(AstraError):
    """What the holder answered instead of doing it."""

    code = "holder_refused"


def socket_name(name: str) -> str:
    return f"{name}.sock"


def listen(folder: Path, name: str) -> socket.socket:
    (folder / socket_name(name)).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        with _Folder(folder) as place:
            listener.bind(f"{place}/{socket_name(name)}")
    finally:
        os.umask(before)
    listener.listen(32)
    return listener


def ask(folder: Path, name: str, question: dict[str, Any], *, seconds: float) -> dict[str, Any]:
    """Ask the holder; raises OSError when there is none."""
    with _connect_holder(folder, name, seconds) as connection:
        return _exchange_lines(connection, question)


def lend_sockets(
    folder: Path, name: str, listeners: Sequence[socket.socket], *, seconds: float
) -> socket.socket:
    """Have the holder keep copies of sockets for as long as the connection that this gives."""
    connection = _connect_holder(folder, name, seconds)
    try:
        _exchange_lines(connection, {"do": "keep"}, listeners)
    except BaseException:  # whatever it was, the caller hears it; only the socket is closed
        connection.close()
        raise
    return connection


def take_sockets(folder: Path, name: str, *, seconds: float) -> list[socket.socket]:
    """Get the sockets that the holder keeps for a daemon that is gone."""
    with _connect_holder(folder, name, seconds) as connection:
        return _exchange_lines(connection, {"do": "give"})[SOCKETS]


def send(
    connection: socket.socket, message: dict[str, Any], handed: Sequence[socket.socket] = ()
) -> None:
    """Send one line, and copies of sockets with its first byte."""
    line = json.dumps(message, default=str).encode() + b"\n"
    if handed:
        socket.send_fds(connection, [line[:1]], [item.fileno() for item in handed])
        line = line[1:]
    connection.sendall(line)


def read_line(connection: socket.socket) -> dict[str, Any]:
    """Read one line; the sockets that came with it are under `sockets`."""
    data, handles = b"", list[int]()
    while not data.endswith(b"\n"):
        more, came, _flags, _address = socket.recv_fds(connection, 65536, MOST_SOCKETS)
        handles += came
        if not more or len(data) > LARGEST_LINE:
            raise ConnectionError("the other side left")
        data += more
    return {**json.loads(data), SOCKETS: [_socket_from_handle(handle) for handle in handles]}


def _connect_holder(folder: Path, name: str, seconds: float) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        with _Folder(folder) as place:
            connection.connect(f"{place}/{socket_name(name)}")
    except BaseException:  # whatever it was, the caller hears it; only the socket is closed
        connection.close()
        raise
    return connection


def _exchange_lines(
    connection: socket.socket, question: dict[str, Any], handed: Sequence[socket.socket] = ()
) -> dict[str, Any]:
    send(connection, question, handed)
    answer = read_line(connection)
    if "error" in answer:
        error = answer["error"]
        raise HolderRefused(
            error["detail"], next_step=error["next_step"], code=str(error.get("code", "failed"))
        )
    return answer


def _socket_from_handle(handle: int) -> socket.socket:
    os.set_inheritable(handle, False)  # noqa: FBT003 - the call has no name for it
    return socket.socket(fileno=handle)


def read_caller_pid(connection: socket.socket) -> int | None:
    """Name the process that asks, if it is of the holder's own user."""
    facts = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid, uid, _gid = struct.unpack("3i", facts)
    return int(pid) if uid in {0, os.geteuid()} else None


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> str:
        self._descriptor = os.open(self._path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        return f"/proc/self/fd/{self._descriptor}"

    def __exit__(self, *_error: object) -> None:
        os.close(self._descriptor)
