"""One process owns a data root: an flock that the kernel releases when its holder dies.

The file also says who holds it. Its content is a courtesy for error messages; only the lock counts,
so a file left behind by a dead process is no obstacle.
"""

import fcntl
import os
from pathlib import Path

from astra.trusted.kernel.errors import LedgerLocked


class OwnerLock:
    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            pid = find_holder(path)
            raise LedgerLocked(
                f"this data root is already owned by process {pid or 'unknown'}",
                next_step="use that daemon, or end it with `astra down`",
                pid=pid,
            ) from None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        os.close(self._descriptor)


def find_holder(path: Path) -> int | None:
    """Name the process that holds the lock now, or None where nobody does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        text = os.pread(descriptor, 32, 0).strip()
        return int(text) if text.isdigit() else None
    else:
        return None
    finally:
        os.close(descriptor)
