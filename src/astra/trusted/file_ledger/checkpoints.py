"""Signed checkpoints in one append-only file outside the chain's folder."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from astra.trusted.ledger import checkpoint
from astra.trusted.ledger.checkpoint import Checkpoint

_LONGEST_LINE = 4096
_RECENT_BYTES = 1 << 18


def append(path: Path, point: Checkpoint) -> None:
    """Add a line, whole or not at all; what a crash left of one is cut off first."""
    data = f"{point.as_line()}\n".encode()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        size = _cut_torn_line(descriptor)
        if os.write(descriptor, data) < len(data):
            os.ftruncate(descriptor, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)


def read(path: Path) -> Iterator[tuple[int, Checkpoint | None]]:
    """Give each line's number and checkpoint (None where the line is not one)."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if raw.endswith(b"\n"):
                yield number, checkpoint.parse(raw.decode(errors="replace"))


def newest(path: Path) -> Checkpoint | None:
    return next(reversed(recent(path)), None)


def recent(path: Path) -> list[Checkpoint]:
    """Give the last thousand or so, oldest first; each vouches for everything before it."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _RECENT_BYTES))
            raw = file.read()
    except FileNotFoundError:
        return []
    lines = raw[: raw.rfind(b"\n") + 1].decode(errors="replace").splitlines()
    return [point for line in lines if (point := checkpoint.parse(line))]


def _cut_torn_line(descriptor: int) -> int:
    """Remove a last line without an end, which was never complete; gives the size after that."""
    size = os.fstat(descriptor).st_size
    start = max(0, size - _LONGEST_LINE)
    end = start + os.pread(descriptor, size - start, start).rfind(b"\n") + 1
    if end < size:
        os.ftruncate(descriptor, end)
    return end
