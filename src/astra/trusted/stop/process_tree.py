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
from astra.trusted.sandbox.watch import family

MARK = "BOX_OF_ASTRA"
_ROUNDS = 50
_LOOKS = 20


def end(box: RunningBox, *, patience: float) -> list[int]:
    """Kill the command's processes, its keeper last; name those that are still alive then."""
    end_below(box, patience=patience)
    with boxes.held(box) as keeper:
        if keeper is not None:
            boxes.kill(keeper)
            boxes.wait_dead(keeper, 1.0)
    return left(box)


def end_below(box: RunningBox, *, patience: float) -> None:
    deadline = time.monotonic() + patience
    if box.cgroup:
        Group(Path(box.cgroup)).kill()
    for _round in range(_ROUNDS):
        found = _hold_still(box)
        if not found:
            break
        with _opened(found) as processes:
            for process in processes:
                _send(process, signal.SIGKILL)
            for process in processes:
                boxes.wait_dead(process, deadline - time.monotonic())
        if time.monotonic() >= deadline:
            break


def left(box: RunningBox) -> list[int]:
    """List what is still alive of a command, its keeper included."""
    with boxes.held(box) as keeper:
        own = [] if keeper is None else [box.pid]
    return sorted({*own, *_below(box)})


def _hold_still(box: RunningBox) -> set[int]:
    held: set[int] = set()
    for _look in range(_LOOKS):
        fresh = _below(box) - held
        if not fresh:
            break
        with _opened(fresh) as processes:
            for process in processes:
                _send(process, signal.SIGSTOP)
        held |= fresh
    return held


def _below(box: RunningBox) -> set[int]:
    with boxes.held(box) as keeper:
        tree = set[int]() if keeper is None else set(family(box.pid)) - {box.pid}
    if box.cgroup:
        tree |= set(Group(Path(box.cgroup)).members())
    return {pid for pid in tree | _marked(box.id) if boxes.is_alive(pid)} - {box.pid}


def _marked(box_id: str) -> set[int]:
    mark = f"{MARK}={box_id}".encode()
    return {pid for pid in boxes.all_pids() if mark in _environment(pid).split(b"\0")}


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


@contextlib.contextmanager
def _opened(pids: set[int]) -> Generator[list[int], None, None]:
    """Hold processes by descriptor; one that ended since it was seen is left out."""
    with contextlib.ExitStack() as stack:
        processes: list[int] = []
        for pid in pids:
            with contextlib.suppress(OSError):
                processes.append(os.pidfd_open(pid))
                stack.callback(os.close, processes[-1])
        yield processes


def _send(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(OSError):
        signal.pidfd_send_signal(process, number)
