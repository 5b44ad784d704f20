"""Says whose process took a connection, from what the kernel knows and not from what is answered.

Releases that share a port can confuse who gets a connection: one that shuts its listening socket
and listens again changes the order of the sockets, and may be given the probe of its successor. So
a probe is attributed before its question is finished: the kernel names the inode of the socket that
was accepted, and a process of the release has to hold that socket.
"""

import os
import socket
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05
_LOCAL, _REMOTE, _INODE = 1, 2, 9
_MAPPED = "0000000000000000FFFF0000"
_TABLES = (("/proc/self/net/tcp", ""), ("/proc/self/net/tcp6", _MAPPED))


def await_inode(connection: socket.socket, seconds: float) -> str | None:
    """Wait until somebody took the connection up; gives the inode of the accepted socket."""
    names = _format_address(connection.getpeername()), _format_address(connection.getsockname())
    deadline, pause = time.monotonic() + seconds, _FIRST_PAUSE
    while (inode := _find_inode(*names)) is None and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    return inode


def is_held(inode: str, pids: Iterable[int]) -> bool:
    """Tell whether one of the processes holds the socket."""
    return any(f"socket:[{inode}]" in _open_files(pid) for pid in pids)


def _find_inode(local: str, remote: str) -> str | None:
    """Look the connection up from the side that accepts; it has no inode before it is accepted."""
    for path, prefix in _TABLES:
        for line in _read_table(path):
            fields = line.split()
            if fields[_LOCAL : _REMOTE + 1] == [prefix + local, prefix + remote]:
                return fields[_INODE] if fields[_INODE] != "0" else None
    return None


def _read_table(path: str) -> Sequence[str]:
    try:
        return Path(path).read_text(encoding="ascii").splitlines()[1:]
    except OSError:  # a kernel without IPv6 has no table of it
        return ()


def _format_address(address: tuple[str, int]) -> str:
    """Spell an IPv4 address as the kernel's tables do.

    >>> _format_address(("127.0.0.1", 8700))
    '0100007F:21FC'
    """
    number = int.from_bytes(socket.inet_aton(address[0]), "little")
    return f"{number:08X}:{address[1]:04X}"


def _open_files(pid: int) -> set[str]:
    folder, targets = f"/proc/{pid}/fd", set[str]()
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are enough
    except OSError:  # it is gone, or hides what it holds: then nothing is proven
        return targets
    for name in names:
        try:
            targets.add(os.readlink(f"{folder}/{name}"))  # noqa: PTH115 - a link that is no path
        except OSError:
            continue
    return targets
