"""Taking the app's port over from a holder that answers nobody any more.

The listening sockets are copied out of the old process by the kernel (`pidfd_getfd`), which needs
nothing of that process, and only then is it killed. So whoever connects meanwhile waits in the
queue of a socket that somebody still holds, and is answered by the next holder's app. The old
one's boxes die with it. Where the kernel refuses the copy, the port is closed for a moment.

On machines where a process may look only into its own children, the holder names the daemon it
last spoke with as one that may (`let_in`); whoever speaks to a holder can tell it anything anyway.
"""

import contextlib
import ctypes
import fcntl
import os
import socket
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.sandbox import boxes, syscalls

_PIDFD_GETFD = 438
_SET_PTRACER = 0x59616D61
_DEATH_SECONDS = 10.0
_LONGEST_NOTE = 64


@dataclass(frozen=True, kw_only=True)
class LockHolder:
    """The process that holds a holder's lock, by descriptor, and the port that it noted there."""

    pid: int
    port: int
    handle: int


def write_note(lock: Path, port: int) -> None:
    """Say in the lock's file who holds it and which port it serves; only the lock itself counts."""
    lock.write_text(f"{os.getpid()} {port}\n", encoding="ascii")


def allow_copying(pid: int) -> None:
    """Allow a process to copy descriptors out of this one; needless where there is no such rule."""
    ctypes.CDLL(None).prctl(_SET_PTRACER, ctypes.c_ulong(pid), 0, 0, 0)


@contextlib.contextmanager
def open_lock_holder(lock: Path) -> Generator[LockHolder | None, None, None]:
    """Hold the process that has the lock; None where nobody has it, or nobody knows who."""
    with contextlib.ExitStack() as stack:
        pid, port = _read_note(lock)
        handle = -1
        if pid:
            with contextlib.suppress(OSError):
                handle = os.pidfd_open(pid)
                stack.callback(os.close, handle)
        # Read again after it is held: the lock is taken and the note still names it.
        same = handle >= 0 and _read_note(lock) == (pid, port)
        yield LockHolder(pid=pid, port=port, handle=handle) if same else None


def copy_listeners(
    holder: LockHolder, port: int | None = None, families: tuple[int, ...] = (socket.AF_INET,)
) -> list[socket.socket]:
    """Copy the sockets that listen on a port, the public one; none where the kernel refuses."""
    family_ports = {(family, port or holder.port) for family in families}
    copies: list[socket.socket] = []
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{holder.pid}/fd"):  # noqa: PTH208 - names are enough
            with contextlib.suppress(OSError):
                copies += _copy_listener(holder, int(name), family_ports)
    return copies


def kill_holder(holder: LockHolder) -> bool:
    """Kill it; its boxes die with it."""
    return boxes.kill(holder.handle) and boxes.wait_dead(holder.handle, _DEATH_SECONDS)


def _copy_listener(
    holder: LockHolder, number: int, wanted: set[tuple[int, int]]
) -> list[socket.socket]:
    if not str(Path(f"/proc/{holder.pid}/fd/{number}").readlink()).startswith("socket:"):
        return []
    copied = socket.socket(fileno=syscalls.call(_PIDFD_GETFD, holder.handle, number, 0))
    try:
        listens = copied.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        # A unix socket has a path for a name; it is none of these.
        if listens and (int(copied.family), copied.getsockname()[1]) in wanted:
            return [copied]
    except (OSError, IndexError):
        pass
    copied.close()
    return []


def _read_note(lock: Path) -> tuple[int, int]:
    """Read who holds the lock, and its port; zeros where the lock is free."""
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0, 0
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        fields = os.pread(descriptor, _LONGEST_NOTE, 0).split()
        numbers = [int(word) for word in fields if word.isdigit()][:2]
        return (numbers[0], numbers[1]) if len(numbers) == len(("pid", "port")) else (0, 0)
    else:
        return 0, 0
    finally:
        os.close(descriptor)
