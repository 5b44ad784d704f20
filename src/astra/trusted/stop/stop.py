"""Ends every box of a data root, from any process, whatever state the daemon is in.

Kills first and records later: creates `var/stop`, kills by the registry, then whatever else carries
the mark of this data root's boxes (a launcher may have died before it registered one), proves the
deaths, and gives back counts for whoever writes them down. It takes no lock, asks no daemon and
waits for nothing that a box could hold: one SIGKILL to a box's init process ends its whole pid
namespace, and the kernel reports that death only when no process is left in it. Commands
that an operator had run unconfined are ended after the boxes, as far as they can be found
(`unconfined.tree`).
"""

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.file_ledger.reserve import Reserve
from astra.trusted.sandbox import boxes
from astra.trusted.sandbox.boxes import RunningBox
from astra.trusted.sandbox.cgroups import Group
from astra.trusted.stop import process_tree as tree

PATIENCE_SECONDS = 5.0
_ROUNDS = 3
_MONITOR_SECONDS = 1.0
_ENDED, _GONE = "ended", "gone"


@dataclass(frozen=True, kw_only=True)
class Survivor:
    box: str
    label: str
    pids: tuple[int, ...]


_Fate = str | Survivor


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """What stop did: `frozen` says that `var/stop` stands, so nothing new starts."""

    frozen: bool
    ended: int
    already_gone: int
    kept_apps: int
    survivors: tuple[Survivor, ...]
    unreadable: tuple[str, ...]

    @property
    def clean(self) -> bool:
        return self.frozen and not self.survivors and not self.unreadable


def stop_now(
    data_root: Path, *, keep_app: bool = False, patience: float = PATIENCE_SECONDS
) -> Stopped:
    frozen = _freeze_work(data_root)
    fates: dict[str, _Fate] = {}
    registered_boxes, unreadable = boxes.list_registered(data_root)
    for _round in range(_ROUNDS):
        fresh = [
            box
            for box in registered_boxes
            if box.id not in fates and not (keep_app and _is_app(box))
        ]
        fates |= _kill_all(fresh, patience)
        _forget_dead_boxes(data_root, fresh, fates)
        registered_boxes, unreadable = boxes.list_registered(data_root)
    ended, leftover_pids = end_marked(
        data_root, _select_kinds(keep_app=keep_app), patience=patience
    )
    return Stopped(
        frozen=frozen,
        ended=sum(fate == _ENDED for fate in fates.values()) + ended,
        already_gone=sum(fate == _GONE for fate in fates.values()),
        kept_apps=sum(keep_app and _is_app(box) for box in registered_boxes),
        survivors=(
            *(fate for fate in fates.values() if isinstance(fate, Survivor)),
            *(
                Survivor(box="unregistered", label="unregistered", pids=(pid,))
                for pid in leftover_pids
            ),
        ),
        unreadable=tuple(unreadable),
    )


def end_marked(
    data_root: Path, kinds: frozenset[str], *, patience: float = PATIENCE_SECONDS
) -> tuple[int, list[int]]:
    """End the boxes of some kinds by their mark; says how many, and which processes are left."""
    ended: set[int] = set()
    for _round in range(_ROUNDS):
        inits, monitors = _list_marked(data_root, kinds)
        if not inits and not monitors:
            return len(ended), []
        ended |= _kill_marked(data_root, inits, first_wait=0.0, patience=patience)
        # A monitor whose box is gone leaves by itself, and tells its launcher how that ended.
        _kill_marked(data_root, monitors, first_wait=_MONITOR_SECONDS, patience=patience)
    return len(ended), sorted(pid for pids in _list_marked(data_root, kinds) for pid in pids)


def end_one(
    data_root: Path,
    box_id: str,
    *,
    patience: float = PATIENCE_SECONDS,
    why: str = boxes.BY_OPERATOR,
) -> bool:
    """End one box from outside; tell whether it was there and is dead now."""
    for box in boxes.list_registered(data_root)[0]:
        if box.id == box_id:
            boxes.mark_ended(data_root, box, why)
            return _kill_all([box], patience)[box.id] == _ENDED
    return False


def end_labelled(data_root: Path, label: str, *, why: str = boxes.BY_OPERATOR) -> int:
    """End every box that runs for somebody, by the label it carries; says how many there were."""
    running, _ = boxes.list_registered(data_root)
    mine = [box for box in running if box.label == label]
    return sum(end_one(data_root, box.id, why=why) for box in mine)


def _select_kinds(*, keep_app: bool) -> frozenset[str]:
    return frozenset({boxes.RUN}) if keep_app else frozenset({boxes.RUN, boxes.APP})


def _list_marked(data_root: Path, kinds: frozenset[str]) -> tuple[list[int], list[int]]:
    """List the inits of marked boxes, and the monitors beside them."""
    mine = [process for process in boxes.list_marked(data_root) if process.kind in kinds]
    inits = [process.pid for process in mine if process.is_init]
    return inits, [process.pid for process in mine if not process.is_init]


def _kill_marked(
    data_root: Path, pids: list[int], *, first_wait: float, patience: float
) -> set[int]:
    """Kill the processes that do not leave by themselves; gives those that are dead then."""
    with contextlib.ExitStack() as stack:
        handles: dict[int, int] = {}
        for pid in pids:
            with contextlib.suppress(OSError):
                handle = os.pidfd_open(pid)
                stack.callback(os.close, handle)
                if boxes.carries_mark(data_root, pid):  # read after it is held: it is the same one
                    handles[pid] = handle
        leave_by = time.monotonic() + first_wait
        for handle in handles.values():
            if not boxes.wait_dead(handle, leave_by - time.monotonic()):
                boxes.kill(handle)
        die_by = time.monotonic() + patience
        return {pid for pid in handles if boxes.wait_dead(handles[pid], die_by - time.monotonic())}


def _freeze_work(data_root: Path) -> bool:
    """Create `var/stop`; failing to (a full disk) must not keep anything alive."""
    if not _create_file(boxes.stop_file(data_root)):
        with contextlib.suppress(OSError):
            Reserve(data_root / "var").release()
        _create_file(boxes.stop_file(data_root))
    return boxes.is_stopped(data_root)


def _create_file(path: Path) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))
    except OSError:
        return False
    return True


def _kill_all(found: list[RunningBox], patience: float) -> dict[str, _Fate]:
    """Kill every box before waiting for any, so that a slow death delays no other."""
    with contextlib.ExitStack() as stack:
        processes = {box.id: stack.enter_context(boxes.hold_process(box)) for box in found}
        for box in found:
            process = processes[box.id]
            if process is not None and box.confined:
                boxes.kill(process)
            if process is not None and box.cgroup:
                Group(Path(box.cgroup)).kill()
        deadline = time.monotonic() + patience
        return {
            box.id: _await_fate(box, processes[box.id], deadline - time.monotonic())
            for box in found
        }


def _await_fate(box: RunningBox, process: int | None, patience: float) -> _Fate:
    if not box.confined:
        return _fate_of_tree(box, process, patience)
    if process is None:
        return _GONE
    dead = boxes.wait_dead(process, patience)
    live_pids = {*boxes.list_members(box.pid_namespace), *([] if dead else [box.pid])}
    if live_pids:
        return Survivor(box=box.id, label=box.label, pids=tuple(sorted(live_pids)))
    return _ENDED


def _fate_of_tree(box: RunningBox, keeper: int | None, patience: float) -> _Fate:
    """End an unconfined command, whose processes may outlive their keeper."""
    live_pids = tree.list_survivors(box)
    alive = tree.end(box, patience=max(1.0, patience)) if live_pids else []
    if alive:
        return Survivor(box=box.id, label=box.label, pids=tuple(alive))
    return _ENDED if live_pids or keeper is not None else _GONE


def _forget_dead_boxes(data_root: Path, found: list[RunningBox], fates: dict[str, _Fate]) -> None:
    """Clear the entries of boxes that are proven dead, whose launchers may be dead as well."""
    for box in found:
        if not isinstance(fates[box.id], Survivor):
            with contextlib.suppress(OSError):
                boxes.forget(data_root, box)
                if box.cgroup:
                    Path(box.cgroup).rmdir()


def _is_app(box: RunningBox) -> bool:
    return box.kind == boxes.APP
