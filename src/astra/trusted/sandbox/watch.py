"""Watches what a running box uses up that no per-process limit can bound: disk and memory in all.

Looks are spaced so that watching costs at most a twentieth of the time, and a sudden loss of free
space on the file system brings the next look forward.
"""

import time
from dataclasses import dataclass, field

from astra.trusted.file_ledger.reserve import free_space, is_low
from astra.trusted.policy.manifest import Limits
from astra.trusted.sandbox import grants, memory
from astra.trusted.sandbox.cgroups import MEMORY, PROCESSES, Group
from astra.trusted.sandbox.descendants import list_process_tree

SHORTEST_PAUSE = 0.25
_COST_SHARE = 20
_MEMORY_SHARE = 4


@dataclass(kw_only=True)
class Watch:
    limits: Limits
    writable: tuple[int, ...]
    size_before: int
    entries_before: int
    init: int
    group: Group | None = None
    in_memory: tuple[str, ...] | None = None
    """Places in the box whose files are memory; None for a command that runs unconfined."""
    count_processes: bool = False
    on_low_disk: bool = False
    _next: float = field(default_factory=lambda: time.monotonic() + SHORTEST_PAUSE)
    _next_walk: float = 0.0
    _free_before: int | None = None

    def seconds_until_due(self) -> float:
        return max(0.0, self._next - time.monotonic())

    def check_limits(self) -> str | None:
        """Name the limit that is passed, if one is."""
        start_time = time.monotonic()
        if start_time < self._next:
            return None
        limit_name = self._memory_and_processes()
        measuring_seconds = time.monotonic() - start_time
        limit_name = limit_name or self._check_disk(start_time)
        self._next = time.monotonic() + max(SHORTEST_PAUSE, _MEMORY_SHARE * measuring_seconds)
        return limit_name

    def _memory_and_processes(self) -> str | None:
        if self.group is not None:  # the kernel counts, and better than anybody from outside
            return self.group.find_passed_limit()
        pids = list_process_tree(self.init)
        if self.count_processes and len(pids) > self.limits.processes + 1:
            return PROCESSES
        used = memory.measure(pids, self.in_memory)
        return MEMORY if used > self.limits.memory_bytes else None

    def _check_disk(self, now: float) -> str | None:
        if not self.writable:
            return None
        place = f"/proc/self/fd/{self.writable[0]}"
        free_bytes, _floor = free_space(place)
        self._free_before = free_bytes if self._free_before is None else self._free_before
        is_much = self._free_before - free_bytes >= self.limits.disk_bytes
        # What is missing may be files that nobody can find; on a low disk that is reason enough.
        if is_low(place) and (is_much or not self.on_low_disk):
            return "disk"
        if now < self._next_walk and not is_much:
            return None
        measured = [grants.measure(descriptor) for descriptor in self.writable]
        nameless = grants.measure_nameless(list_process_tree(self.init), self.writable)
        self._next_walk = now + _COST_SHARE * (time.monotonic() - now)
        size, entries = (sum(numbers) for numbers in zip(*measured, strict=True))
        return self._check_disk_limits(size + nameless, entries)

    def _check_disk_limits(self, size: int, entries: int) -> str | None:
        if size - self.size_before > self.limits.disk_bytes:
            return "disk"
        return "files" if entries - self.entries_before > self.limits.disk_files else None
