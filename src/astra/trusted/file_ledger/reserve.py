"""Disk that is kept for stop, rollback and decisions, so that a full disk cannot silence them.

`var/reserve` is a file of real blocks that holds nothing, `var/reserve-inodes` a folder of empty
files: a disk without inodes is as full as one without blocks. When either runs out and something of
that kind has to be written, both are removed, and what they held is free; until they can be laid
down again, nothing else is recorded. Any process may remove them: the absence of `var/reserve` is
what says so.
"""

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.policy.manifest import GIB, MIB

SIZE, INODES = 8 * MIB, 64
_TIGHT, _TIGHT_INODES = MIB, 32
_LEAST_ROOM = 256 * 1024
_LEAST_FREE_SHARE = 0.02
_LEAST_FREE, _MOST_KEPT_FREE = 256 * MIB, GIB
_LEAST_INODES, _MOST_INODES_KEPT_FREE = 1024, 65536
_SMALL_DISK_SHARE = 16


@dataclass(frozen=True)
class Reserve:
    var: Path

    @property
    def path(self) -> Path:
        return self.var / "reserve"

    @property
    def inodes(self) -> Path:
        return self.var / "reserve-inodes"

    def is_out(self) -> bool:
        """Tell whether the reserve is used up and cannot be laid down again yet."""
        return not self.path.exists() and not self.fill()

    def fill(self) -> bool:
        """Lay the reserve down if there is room for it and as much again."""
        if self.path.exists():
            if not self.inodes.exists():  # made by a version that reserved blocks only
                self._fill_inodes()
            return True
        if free_space(self.var)[0] < 2 * self._compute_size() or not self._fill_inodes():
            return False
        draft = self.path.with_name(f".reserve.{os.getpid()}")
        try:
            _allocate_file(draft, self._compute_size())
            draft.rename(self.path)
        except OSError:
            draft.unlink(missing_ok=True)
            return False
        return True

    def make_room(self) -> None:
        """Give the reserve up if hardly anything else is free."""
        if free_space(self.var)[0] < _TIGHT or _is_short(free_inodes(self.var), _TIGHT_INODES):
            self.release()

    def has_room(self) -> bool:
        """Tell whether a few records fit, with what the index writes for them."""
        return free_space(self.var)[0] >= _LEAST_ROOM

    def release(self) -> None:
        self.path.unlink(missing_ok=True)
        shutil.rmtree(self.inodes, ignore_errors=True)

    def is_low(self) -> bool:
        """Tell whether so little is left that no new work of an agent may begin."""
        return is_low(self.var) or self.is_out()

    def _fill_inodes(self) -> bool:
        count = self._inode_count()
        if _is_short(free_inodes(self.var), 2 * count):
            return False
        with contextlib.suppress(OSError):
            self.inodes.mkdir(mode=0o700, exist_ok=True)
            for number in range(count):
                (self.inodes / str(number)).touch(mode=0o600)
            return True
        shutil.rmtree(self.inodes, ignore_errors=True)
        return False

    def _compute_size(self) -> int:
        facts = os.statvfs(self.var)
        return min(SIZE, facts.f_blocks * facts.f_frsize // _SMALL_DISK_SHARE)

    def _inode_count(self) -> int:
        total = os.statvfs(self.var).f_files
        return min(INODES, total // _SMALL_DISK_SHARE)


def is_low(place: Path | str) -> bool:
    """Tell whether blocks or inodes are below what has to stay free before anything new begins."""
    free_bytes, floor = free_space(place)
    inodes = free_inodes(place)
    return free_bytes < floor or (inodes is not None and inodes[0] < inodes[1])


def free_space(place: Path | str) -> tuple[int, int]:
    """Give the free bytes, and how many have to stay free before anything new begins."""
    facts = os.statvfs(place)
    total = facts.f_blocks * facts.f_frsize
    floor = min(max(_LEAST_FREE, int(total * _LEAST_FREE_SHARE)), _MOST_KEPT_FREE, total // 4)
    return facts.f_bavail * facts.f_frsize, floor


def free_inodes(place: Path | str) -> tuple[int, int] | None:
    """Give the free inodes, and how many have to stay free; None where there is no such limit."""
    facts = os.statvfs(place)
    if facts.f_files == 0:  # a file system that makes them as it goes
        return None
    share = int(facts.f_files * _LEAST_FREE_SHARE)
    floor = min(max(_LEAST_INODES, share), _MOST_INODES_KEPT_FREE, facts.f_files // 4)
    return facts.f_favail, floor


def _is_short(inodes: tuple[int, int] | None, least: int) -> bool:
    return inodes is not None and inodes[0] < least


def _allocate_file(path: Path, size: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
