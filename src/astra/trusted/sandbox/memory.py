"""Counts from outside what a box holds in memory, where no control group does it.

Three kinds, each at least as large as the truth:

- private memory of every process, resident or swapped out;
- files in the box's folders in memory, counted by the file system itself, so that a deleted file
  that somebody still holds counts too;
- shared mappings without a file. Their pages stay when a process lets go of them (MADV_DONTNEED)
  or unmaps all but one, so what is mapped says little. But none is larger than the filter allows,
  and each has to stay mapped somewhere to stay at all: so each counts as the largest.

What could be held without being seen is refused by the filter (`seccomp`): memfd, System V segments
above a size, a shared mapping of /dev/zero. Buffers of pipes and sockets are not counted.
"""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from astra.trusted.sandbox.seccomp import LARGEST_SHARED_MAPPING

MOST_MAPS = 16 * 2**20
"""Text that may describe the mappings of a box; more is a bomb of its own kind."""
_SHARED_MAPPING = b"/dev/zero (deleted)"
_PRIVATE = (b"RssAnon:", b"VmSwap:")
TOO_MUCH = 2**62


def measure(pids: Sequence[int], in_memory: Sequence[str] | None) -> int:
    """Count the bytes of a box, whose init is the first; without places, only private ones."""
    private = sum(_count_private_bytes(pid) for pid in pids)
    if in_memory is None:
        return private
    return private + _in_files(pids[0], in_memory) + _in_shared_mappings(pids)


def _count_private_bytes(pid: int) -> int:
    lines = _read_proc_file(f"/proc/{pid}/status", MOST_MAPS).splitlines()
    status_rows = [line.split() for line in lines if line.startswith(_PRIVATE)]
    return sum(int(fields[1]) * 1024 for fields in status_rows)


def _in_files(init: int, places: Sequence[str]) -> int:
    root = f"/proc/{init}/root"
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, NotADirectoryError):
        if os.path.samestat(os.stat(root), os.stat("/")):  # noqa: PTH116 - of another process
            return 0  # it is still being set up, in a root that is the host's
        return sum(_count_used_bytes(root + place) for place in places)
    return 0


def _count_used_bytes(place: str) -> int:
    facts = os.statvfs(place)
    return (facts.f_blocks - facts.f_bfree) * facts.f_frsize


def _in_shared_mappings(pids: Sequence[int]) -> int:
    bytes_left, mappings = MOST_MAPS, set[bytes]()
    for pid in pids:
        text = _read_proc_file(f"/proc/{pid}/maps", bytes_left + 1)
        bytes_left -= len(text)
        if bytes_left < 0:
            return TOO_MUCH
        mappings |= shared_mappings(text)
    return len(mappings) * LARGEST_SHARED_MAPPING


def shared_mappings(maps: bytes) -> set[bytes]:
    """Name the shared mappings without a file by their inode, which processes may share.

    >>> sorted(shared_mappings(b"7f-8f rw-s 00000000 00:01 1027   /dev/zero (deleted)"))
    [b'1027']
    """
    if _SHARED_MAPPING not in maps:
        return set()
    return {line.split()[4] for line in maps.splitlines() if line.endswith(_SHARED_MAPPING)}


def _read_proc_file(path: str, most: int) -> bytes:
    """Read of a process what is there; nothing where it is gone by now."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), Path(path).open("rb") as file:
        return file.read(most)
    return b""
