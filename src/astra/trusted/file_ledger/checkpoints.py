"""Signed checkpoints in one append-only file outside the chain's folder."""

import os
from collections.abc import Iterator
from pathlib import Path

from astra.trusted.ledger import checkpoint
from astra.trusted.ledger.checkpoint import Checkpoint

_RECENT_BYTES = 1 << 18


def append(path: Path, point: Checkpoint) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        _end_line(path, descriptor)
        os.write(descriptor, f"{point.as_line()}\n".encode())
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


def _end_line(path: Path, descriptor: int) -> None:
    """Give a line torn by a crash its end, so that the next one starts clean."""
    size = os.fstat(descriptor).st_size
    if size:
        with path.open("rb") as file:
            file.seek(size - 1)
            if file.read(1) != b"\n":
                os.write(descriptor, b"\n")
