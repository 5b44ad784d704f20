"""The holder's control socket: one JSON object a line, one answer to each question.

Only the holder's own OS user is listened to. Deep data roots have paths longer than a socket's
address may be, so both sides go through a descriptor of the folder.
"""

import json
import os
import socket
import struct
from pathlib import Path
from typing import Any

from astra.trusted.kernel.errors import AstraError

HOLDER, STAGING = "holder", "staging"
LARGEST_LINE = 1 << 20


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
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        with _Folder(folder) as place:
            connection.connect(f"{place}/{socket_name(name)}")
        connection.sendall(json.dumps(question).encode() + b"\n")
        answer = read_line(connection)
    if "error" in answer:
        error = answer["error"]
        raise HolderRefused(
            error["detail"], next_step=error["next_step"], code=str(error.get("code", "failed"))
        )
    return answer


def read_line(connection: socket.socket) -> dict[str, Any]:
    data = b""
    while not data.endswith(b"\n"):
        more = connection.recv(65536)
        if not more or len(data) > LARGEST_LINE:
            raise ConnectionError("the other side left")
        data += more
    return json.loads(data)


def caller(connection: socket.socket) -> int | None:
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
