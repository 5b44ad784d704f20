"""Disk that is kept for stop, rollback and decisions, so that a full disk cannot silence them.

`var/reserve` is a file of real blocks that holds nothing. When the disk is full and something of
that kind has to be written, the file is removed and its blocks are free; until it can be laid down
again, nothing else is recorded. Any process may remove it: its absence is what says so.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.policy.manifest import GIB, MIB

SIZE = 8 * MIB
_TIGHT = MIB
_LEAST_FREE_SHARE = 0.02
_LEAST_FREE, _MOST_KEPT_FREE = 256 * MIB, GIB
_SMALL_DISK_SHARE = 16


@dataclass(frozen=True)
class Reserve:
    var: Path

    @property
    def path(self) -> Path:
        return self.var / "reserve"

    def is_out(self) -> bool:
        """Tell whether the reserve is used up and cannot be laid down again yet."""
        return not self.path.exists() and not self.fill()

    def fill(self) -> bool:
        """Lay the reserve down if there is room for it and as much again."""
        size = self._size()
        if self.path.exists():
            return True
        if free_space(self.var)[0] < 2 * size:
            return False
        draft = self.path.with_name(f".reserve.{os.getpid()}")
        try:
            _allocate(draft, size)
            draft.rename(self.path)
        except OSError:
            draft.unlink(missing_ok=True)
            return False
        return True

    def make_room(self) -> None:
        """Give the reserve up if hardly anything else is free."""
        if free_space(self.var)[0] < _TIGHT:
            self.release()

    def release(self) -> None:
        self.path.unlink(missing_ok=True)

    def is_low(self) -> bool:
        """Tell whether so little is left that no new work of an agent may begin."""
        free, floor = free_space(self.var)
        return free < floor or self.is_out()

    def _size(self) -> int:
        facts = os.statvfs(self.var)
        return min(SIZE, facts.f_blocks * facts.f_frsize // _SMALL_DISK_SHARE)


def free_space(place: Path | str) -> tuple[int, int]:
    """Give the free bytes, and how many have to stay free before anything new begins."""
    facts = os.statvfs(place)
    total = facts.f_blocks * facts.f_frsize
    floor = min(max(_LEAST_FREE, int(total * _LEAST_FREE_SHARE)), _MOST_KEPT_FREE, total // 4)
    return facts.f_bavail * facts.f_frsize, floor


def _allocate(path: Path, size: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
