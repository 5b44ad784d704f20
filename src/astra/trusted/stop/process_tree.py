"""Ends all that an unconfined command started, as far as it can be found.

Every command has a keeper that adopts whatever it leaves behind, so a daemonised grandchild is
still below the keeper in the process tree. Should the keeper be gone (an ordinary user's program
can kill it), what the command started still carries its mark in the environment it was born with.
A process that both lost its keeper and wrote itself a new environment is not found; only a box, or
a control group, can promise more.

A tree that forks faster than it is killed would never end, so it is held still first: a process
with a stop signal pending cannot fork.
"""

import contextlib
import os
import signal
import time
from collections.abc import Generator
from pathlib import Path

from astra.trusted.sandbox import boxes
from astra.trusted.sandbox.boxes import RunningBox
from astra.trusted.sandbox.cgroups import Group
from astra.trusted.sandbox.descendants import list_process_tree

MARK = "BOX_OF_ASTRA"
_ROUNDS = 50
_LOOKS = 20


def end(box: RunningBox, *, patience: float) -> list[int]:
    """Kill the command's processes, its keeper last; name those that are still alive then."""
    end_descendants(box, patience=patience)
    with boxes.hold_process(box) as keeper:
        if keeper is not None:
            boxes.kill(keeper)
            boxes.wait_dead(keeper, 1.0)
    return list_survivors(box)


def end_descendants(box: RunningBox, *, patience: float) -> None:
    deadline = time.monotonic() + patience
    if box.cgroup:
        Group(Path(box.cgroup)).kill()
    for _round in range(_ROUNDS):
        pids = _hold_still(box)
        if not pids:
            break
        with _open_processes(pids) as processes:
            for process in processes:
                _send_signal(process, signal.SIGKILL)
            for process in processes:
                boxes.wait_dead(process, deadline - time.monotonic())
        if time.monotonic() >= deadline:
            break


def list_survivors(box: RunningBox) -> list[int]:
    """List what is still alive of a command, its keeper included."""
    with boxes.hold_process(box) as keeper:
        keeper_pids = [] if keeper is None else [box.pid]
    return sorted({*keeper_pids, *_find_descendants(box)})


def _hold_still(box: RunningBox) -> set[int]:
    paused_pids: set[int] = set()
    for _look in range(_LOOKS):
        fresh = _find_descendants(box) - paused_pids
        if not fresh:
            break
        with _open_processes(fresh) as processes:
            for process in processes:
                _send_signal(process, signal.SIGSTOP)
        paused_pids |= fresh
    return paused_pids


def _find_descendants(box: RunningBox) -> set[int]:
    with boxes.hold_process(box) as keeper:
        tree = set[int]() if keeper is None else set(list_process_tree(box.pid)) - {box.pid}
    if box.cgroup:
        tree |= set(Group(Path(box.cgroup)).members())
    return {pid for pid in tree | _find_marked(box.id) if boxes.is_alive(pid)} - {box.pid}


def _find_marked(box_id: str) -> set[int]:
    mark = f"{MARK}={box_id}".encode()
    return {pid for pid in boxes.all_pids() if mark in _read_environment(pid).split(b"\0")}


def _read_environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


@contextlib.contextmanager
def _open_processes(pids: set[int]) -> Generator[list[int], None, None]:
    """Hold processes by descriptor; one that ended since it was seen is left out."""
    with contextlib.ExitStack() as stack:
        processes: list[int] = []
        for pid in pids:
            with contextlib.suppress(OSError):
                processes.append(os.pidfd_open(pid))
                stack.callback(os.close, processes[-1])
        yield processes


def _send_signal(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(OSError):
        signal.pidfd_send_signal(process, number)
