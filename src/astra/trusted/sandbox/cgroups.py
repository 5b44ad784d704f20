"""Control groups, where the daemon was given a subtree of its own: limits that count a whole box.

Such a subtree comes from `Delegate=yes` in a systemd unit, or from a container that holds nothing
but Astra. Without one each process is limited by the kernel, a watcher sums up four times a second
(`watch`), and what it could not see, memfd above all, is refused (`seccomp`). What nobody handed
over is never touched, not even by root.
"""

import contextlib
import os
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from astra.trusted.kernel.ids import random_id
from astra.trusted.policy.manifest import Limits

NEEDED = ("memory", "pids")
MEMORY, PROCESSES = "memory", "processes"
BY_WATCHER = (
    "limits by rlimit and watcher, which counts private and shared memory and files in memory;"
    " memfd is refused"
)
_DAEMON = "daemon"
_HANDED_OVER = ("user.delegate", "trusted.delegate")


@dataclass(frozen=True, kw_only=True)
class Delegation:
    """The daemon's own group if it may divide it, or why it may not.

    The folder is kept open: the thread that starts a box as root has mounts of its own, which show
    it no control groups.
    """

    folder: Path | None = None
    why_not: str = ""
    handle: int | None = None

    def in_words(self) -> str:
        if self.folder is None:
            return f"no cgroup delegation ({self.why_not}): {BY_WATCHER}"
        return f"memory and processes of each box by its control group, below {self.folder}"

    @contextlib.contextmanager
    def enter_group(self, pid: int, limits: Limits) -> Generator["Group | None", None, None]:
        """Put a process that has not started its work into a group of its own."""
        if self.folder is None:
            yield None
            return
        box_group = Group(self.folder / random_id("box"), self.handle)
        box_group.make()
        try:
            box_group.limit(limits)
            box_group.take(pid)
            yield box_group
        finally:
            box_group.kill()
            with contextlib.suppress(OSError):
                box_group.remove()


NOT_DELEGATED = Delegation(why_not="not looked for")


@dataclass(frozen=True)
class Group:
    path: Path
    parent: int | None = None
    """The folder it lies in, opened; without it, its path is taken."""

    def make(self) -> None:
        os.mkdir(self._resolve_path(), dir_fd=self.parent)

    def remove(self) -> None:
        os.rmdir(self._resolve_path(), dir_fd=self.parent)

    def limit(self, limits: Limits) -> None:
        self._write_text("pids.max", str(limits.processes))
        self._write_text("memory.max", str(limits.memory_bytes))
        with contextlib.suppress(OSError):
            self._write_text("memory.oom.group", "1")
            self._write_text("memory.swap.max", "0")

    def take(self, pid: int) -> None:
        self._write_text("cgroup.procs", str(pid))

    def kill(self) -> bool:
        """Have the kernel kill everything in the group at once, whatever it forks meanwhile."""
        try:
            self._write_text("cgroup.kill", "1")
        except OSError:
            return False
        return True

    def members(self) -> list[int]:
        return [int(pid) for pid in self._read_text("cgroup.procs").split()]

    def find_passed_limit(self) -> str | None:
        """Name the limit that the kernel held this group to, if it had to."""
        if self._count_events("memory.events", "oom_kill"):
            return MEMORY
        return PROCESSES if self._count_events("pids.events", "max") else None

    def _count_events(self, file: str, event: str) -> int:
        lines = [line.split() for line in self._read_text(file).splitlines()]
        return sum(int(fields[1]) for fields in lines if fields[:1] == [event])

    def _read_text(self, name: str) -> str:
        try:
            descriptor = os.open(
                self._resolve_path(name), os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.parent
            )
        except OSError:
            return ""
        with os.fdopen(descriptor, encoding="utf-8") as file:
            return file.read()

    def _write_text(self, name: str, value: str) -> None:
        descriptor = os.open(
            self._resolve_path(name), os.O_WRONLY | os.O_CLOEXEC, dir_fd=self.parent
        )
        try:
            os.write(descriptor, value.encode())
        finally:
            os.close(descriptor)

    def _resolve_path(self, name: str = "") -> Path:
        return (self.path if self.parent is None else Path(self.path.name)) / name


@dataclass(frozen=True, kw_only=True)
class Host:
    """What is asked of the machine; tests give a folder of the same shape."""

    cgroup: str
    mounts: str
    uid: int
    pid: int
    marks: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))


def take_delegation() -> Delegation:
    """Look whether this process may divide its group, and if so step aside into a leaf of it."""
    host = Host(
        cgroup=_read_text(Path("/proc/self/cgroup")),
        mounts=_read_text(Path("/proc/self/mountinfo")),
        uid=os.geteuid(),
        pid=os.getpid(),
    )
    delegation = find_delegation(host)
    if delegation.folder is None:
        return delegation
    try:
        _step_aside(delegation.folder, host.pid)
        handle = os.open(delegation.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        return Delegation(why_not=f"the group cannot be divided: {error.strerror}")
    return replace(delegation, handle=handle)


def find_delegation(host: Host) -> Delegation:
    folder = find_own_group(host.cgroup, host.mounts)
    why = "there is no cgroup v2" if folder is None else _find_objection(folder, host)
    return Delegation(why_not=why) if why else Delegation(folder=folder)


def find_own_group(cgroup: str, mounts: str) -> Path | None:
    """Find the folder of the group that /proc/self/cgroup and mountinfo describe.

    >>> mounts = "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"
    >>> find_own_group("0::/user.slice/astra.service", mounts)
    PosixPath('/sys/fs/cgroup/user.slice/astra.service')
    """
    names = [line[3:] for line in cgroup.splitlines() if line.startswith("0::/")]
    for line in mounts.splitlines():
        fields, _, kind = line.partition(" - ")
        if names and kind.split(" ")[0] == "cgroup2":
            root, place = fields.split(" ")[3:5]
            below = os.path.relpath(names[0], root)
            return None if below.startswith("..") else Path(os.path.normpath(f"{place}/{below}"))
    return None


def _find_objection(folder: Path, host: Host) -> str:
    """Say why a group may not be divided, or nothing."""
    missing_controllers = set(NEEDED) - set(_read_text(folder / "cgroup.controllers").split())
    if missing_controllers:
        return f"no controller for {' and '.join(sorted(missing_controllers))}"
    if not (folder / "cgroup.events").exists():
        return "the daemon is in the root group"
    if not all(os.access(path, os.W_OK) for path in (folder, folder / "cgroup.subtree_control")):
        return "the group belongs to somebody else"
    if host.uid == 0 and not _was_handed_over(folder, host):
        return "the group was not handed over: a unit needs Delegate=yes"
    other_pids = set(_read_text(folder / "cgroup.procs").split()) - {str(host.pid)}
    return "other programs share the group" if other_pids else ""


def _was_handed_over(folder: Path, host: Host) -> bool:
    """Ask for systemd's mark: root can write everywhere, which is no permission."""
    for name in _HANDED_OVER:
        with contextlib.suppress(OSError):
            if (host.marks.get(name) or os.getxattr(folder, name)) == b"1":
                return True
    return False


def _step_aside(folder: Path, pid: int) -> None:
    """Leave the group for a leaf: only a group without processes of its own can be divided."""
    (folder / _DAEMON).mkdir(exist_ok=True)
    (folder / _DAEMON / "cgroup.procs").write_text(str(pid), encoding="ascii")
    enable = " ".join(f"+{name}" for name in NEEDED)
    (folder / "cgroup.subtree_control").write_text(enable, encoding="ascii")


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
