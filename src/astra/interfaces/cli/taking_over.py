"""A daemon that a command started gives way to one that serves the page.

Whoever takes over holds the lock under which commands start daemons, from before the old one is
asked to leave until the new one owns the data root: no other command gets in between.
"""

import contextlib
import fcntl
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

from astra.interfaces.cli.client import Client, start_daemon
from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import DaemonUnavailable, LedgerLocked

_LONGEST_LEAVE_SECONDS = 60


def take_over(context: Context, holder: int) -> None:
    """End the daemon that owns this data root, if a command started it; refuse otherwise."""
    client = Client(context.data_root)
    daemon = _find_daemon(client)
    if daemon is None or not daemon.get("on_demand"):
        url = daemon["url"] if daemon else None
        raise LedgerLocked(
            f"this data root is already owned by process {holder}"
            + (f", which serves {url}" if url else ""),
            next_step="for a link into its page: astra login; or end it with `astra down`",
            pid=holder,
        )
    end_daemon(client)
    context.console.note(f"took over from daemon {daemon['pid']}, which a command had started")


def ensure_page(context: Context) -> None:
    """Have a daemon that serves the page; one that was started without it is started again."""
    client = Client(context.data_root)
    daemon = _find_daemon(client)
    if daemon is not None and (daemon["url"] or not daemon.get("on_demand")):
        return  # one that was told to serve no page says so itself
    with hold_turn(context.data_root):
        if daemon is not None:
            end_daemon(client)
        holder = start_daemon(context.data_root, port=context.settings.port)
    if holder:
        raise DaemonUnavailable(
            f"process {holder} owns this data root and does not answer",
            next_step=f"look at {context.data_root / 'logs' / 'daemon.log'}",
            pid=holder,
        )


@contextlib.contextmanager
def hold_turn(data_root: Path) -> Generator[int, None, None]:
    """Hold the lock under which daemons are started; gives its descriptor."""
    try:
        lock = (data_root / "var" / "run" / "start.lock").open("ab")
    except OSError as error:
        raise DaemonUnavailable(
            f"there is no Astra data root at {data_root}: {error.strerror}",
            code="no_data_root",
            next_step="astra init, or name another one with --data-root",
        ) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def end_daemon(client: Client, *, keep_app: bool = True) -> int:
    """Ask the daemon to leave and wait until it has; it finishes what it has begun."""
    pid = int(client.post("/api/down", {"keep_app": keep_app})["pid"])
    wait_for_exit(pid)
    return pid


def wait_for_exit(pid: int) -> None:
    import select

    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        select.select([descriptor], [], [], _LONGEST_LEAVE_SECONDS)
    finally:
        os.close(descriptor)


def _find_daemon(client: Client) -> dict[str, Any] | None:
    return client.get("/api/status")["daemon"] if client.is_running() else None
