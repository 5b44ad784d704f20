"""The running boxes of a data root, one small file each, so that any process can end them.

A box is named by the pid of its init process, that process's start time, the boot it lives in and
the inode of its pid namespace: a pid alone may belong to somebody else by now. Order matters: a
launcher registers a box, looks for `var/stop` again, and only then lets its command start. Whoever
stops creates `var/stop` first and reads the registry second. So one of the two always sees the
other.

A launcher that dies before it registers leaves no entry. So the processes of every box also carry
a mark in their argument list, which says whose they are without any file (`marked`).
"""

import contextlib
import hashlib
import json
import os
import select
import signal
from collections.abc import Generator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from astra.trusted.kernel.ids import random_id

RUN, APP = "run", "app"
BY_OPERATOR = "stopped by an operator"
_LARGEST_RECORD = 4096
_STOP = "var/stop"
_START_TIME = 19  # place in /proc/PID/stat after the name, counted from the state


@dataclass(frozen=True, kw_only=True)
class RunningBox:
    """One entry; a `pid_namespace` of 0 says that the command runs unconfined, below a keeper."""

    id: str
    kind: str
    label: str
    pid: int
    started: int
    boot: str
    pid_namespace: int
    cgroup: str = ""

    @property
    def confined(self) -> bool:
        return self.pid_namespace != 0


def stop_file(data_root: Path) -> Path:
    return data_root / _STOP


def is_stopped(data_root: Path) -> bool:
    return os.path.lexists(f"{data_root}/{_STOP}")  # asked at every call: a path costs more


def describe(
    pid: int, *, pid_namespace: int, kind: str, label: str, cgroup: str = ""
) -> RunningBox | None:
    start_ticks = read_start_time(pid)
    if start_ticks is None:
        return None
    return RunningBox(
        id=random_id("box"),
        kind=kind,
        label=label,
        pid=pid,
        started=start_ticks,
        boot=read_boot_id(),
        pid_namespace=pid_namespace,
        cgroup=cgroup,
    )


def register(data_root: Path, box: RunningBox) -> None:
    folder = _registry_folder(data_root)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = folder / f".{box.id}"
    draft.write_text(json.dumps(asdict(box)), encoding="utf-8")
    draft.rename(folder / box.id)


def unregister(data_root: Path, box: RunningBox) -> None:
    forget(data_root, box)
    (_registry_folder(data_root) / f"{box.id}.ended").unlink(missing_ok=True)


def forget(data_root: Path, box: RunningBox) -> None:
    (_registry_folder(data_root) / box.id).unlink(missing_ok=True)


def list_registered(data_root: Path) -> tuple[list[RunningBox], list[str]]:
    """Give the boxes on file, and the names of files that cannot be read as one."""
    boxes: list[RunningBox] = []
    try:
        paths, unreadable = _list_entry_files(data_root), list[str]()
    except OSError:  # something else is in its place: what runs is still found by its mark
        return [], [_registry_folder(data_root).name]
    for path in paths:
        try:
            with path.open("rb") as file:
                fields: dict[str, Any] = json.loads(file.read(_LARGEST_RECORD))
            boxes.append(RunningBox(**fields))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, TypeError):
            unreadable.append(path.name)
    return boxes, unreadable


def mark_ended(data_root: Path, box: RunningBox, why: str = BY_OPERATOR) -> None:
    """Note that a box is ended from outside, and why, for its launcher to say so.

    Several may end the same box: its launcher reads one whole reason or none. Who comes after the
    launcher removed its files takes the note away again. A full disk keeps no box alive.
    """
    folder = _registry_folder(data_root)
    note, draft = folder / f"{box.id}.ended", folder / f".{random_id('note')}"
    with contextlib.suppress(OSError):
        draft.write_text(why, encoding="utf-8")
        draft.rename(note)
        if not (folder / box.id).exists():
            note.unlink(missing_ok=True)


def why_ended(data_root: Path, box: RunningBox) -> str:
    """Say why a box was ended from outside, or nothing if it was not."""
    try:
        return (_registry_folder(data_root) / f"{box.id}.ended").read_text("utf-8") or BY_OPERATOR
    except OSError:
        return BY_OPERATOR if is_stopped(data_root) else ""


@contextlib.contextmanager
def hold_process(box: RunningBox) -> Generator[int | None, None, None]:
    """Hold the init process of a box by descriptor; None when it is gone or is somebody else."""
    try:
        process = os.pidfd_open(box.pid)
    except OSError:
        yield None
        return
    try:
        # Read after the descriptor was opened: equal means that the descriptor is the box.
        same = box.boot == read_boot_id() and read_start_time(box.pid) == box.started
        yield process if same and not wait_dead(process, 0) else None
    finally:
        os.close(process)


def kill(process: int) -> bool:
    """Kill the init process of a box, and with it everything in its pid namespace."""
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return True


def wait_dead(process: int, seconds: float) -> bool:
    """Wait until init is dead, which the kernel allows only when all of its namespace is."""
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(max(0, int(seconds * 1000))))


@dataclass(frozen=True, kw_only=True)
class MarkedProcess:
    """A process of bubblewrap's that belongs to a box: its init, or the monitor outside of it."""

    pid: int
    kind: str
    is_init: bool


def mark(data_root: Path, kind: str) -> str:
    """Give the name under which the processes of a box are started."""
    return f"{_mark_of(data_root)}{kind}"


def list_marked(data_root: Path) -> list[MarkedProcess]:
    """List the processes of boxes of a data root, registered or not."""
    prefix, outside = _mark_of(data_root), _read_namespace(os.getpid())
    processes = ((pid, _program_name(pid)) for pid in all_pids())
    return [
        MarkedProcess(
            pid=pid,
            kind=name.removeprefix(prefix),
            is_init=_read_namespace(pid) not in {outside, ""},
        )
        for pid, name in processes
        if name.startswith(prefix)
    ]


def carries_mark(data_root: Path, pid: int) -> bool:
    return _program_name(pid).startswith(_mark_of(data_root))


def list_members(pid_namespace: int) -> list[int]:
    """List the processes that live in a pid namespace, zombies left out."""
    inside = f"pid:[{pid_namespace}]"
    return [pid for pid in all_pids() if _read_namespace(pid) == inside and is_alive(pid)]


def read_start_time(pid: int) -> int | None:
    fields = _read_stat(pid)
    return int(fields[_START_TIME]) if len(fields) > _START_TIME else None


def read_parent(pid: int) -> int | None:
    fields = _read_stat(pid)
    return int(fields[1]) if len(fields) > 1 else None


def is_alive(pid: int) -> bool:
    return _read_state(pid) not in {"Z", "X", ""}


def all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208


@lru_cache(maxsize=1)
def read_boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _mark_of(data_root: Path) -> str:
    return f"astra-box-{hashlib.sha256(os.fsencode(data_root.resolve())).hexdigest()[:16]}-"


def _program_name(pid: int) -> str:
    try:
        command_line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return command_line.partition(b"\0")[0].decode("utf-8", "replace")


def _registry_folder(data_root: Path) -> Path:
    return data_root / "var" / "run" / "boxes"


def _list_entry_files(data_root: Path) -> list[Path]:
    try:
        names = sorted(os.listdir(_registry_folder(data_root)))  # noqa: PTH208 - names are enough
    except FileNotFoundError:
        return []
    return [_registry_folder(data_root) / name for name in names if "." not in name]


def _read_namespace(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""


def _read_state(pid: int) -> str:
    return (_read_stat(pid) or [""])[0]


def _read_stat(pid: int) -> list[str]:
    """Split /proc/PID/stat after the name, which may hold anything, brackets included."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes().decode("utf-8", "replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()
