"""Runs a command in a box and says how it ended.

The command waits at a gate until the box is in the registry and `var/stop` has been looked for once
more; a box that cannot be registered never runs. Callers may have any number of threads.

    outcome = run(Box(command=("pytest",), manifest=manifest), data_root=root)
"""

import contextlib
import signal
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.egress.egress_proxy import (
    PUBLIC_INTERNET,
    Announce,
    EgressProxy,
    Internet,
    Record,
    ignore_announcement,
)
from astra.trusted.egress.summary import NO_EGRESS
from astra.trusted.kernel.errors import AstraError, Refused
from astra.trusted.policy.manifest import Limits
from astra.trusted.sandbox import boxes, listening, machine, supervision, threshold
from astra.trusted.sandbox.cgroups import MEMORY, NOT_DELEGATED, Delegation, Group
from astra.trusted.sandbox.outcome import judge_ending, outcome_from_error
from astra.trusted.sandbox.ports import OnOutput, Outcome
from astra.trusted.sandbox.preparation import Box, Prepared, prepare
from astra.trusted.sandbox.profile import PROXY_PORT, Profile
from astra.trusted.sandbox.supervision import Ending, Started
from astra.trusted.sandbox.watch import Watch

__all__ = [
    "Box",
    "Stopped",
    "enter_box_group",
    "keep_registered",
    "note_limit",
    "refuse_when_stopped",
    "run",
    "unavailable_error",
]

_NOT_FOR_LACK_OF_PROCESSES = (0, None, 128 + signal.SIGKILL)


class Stopped(Refused):
    code = "stopped"


def run(
    box: Box,
    *,
    data_root: Path,
    on_output: OnOutput = lambda _stream, _data: None,
    record: Record = lambda _attempt: None,
    announce: Announce = ignore_announcement,
    internet: Internet = PUBLIC_INTERNET,
    groups: Delegation = NOT_DELEGATED,
) -> Outcome:
    """Run the box to its end; whatever keeps it from starting is an outcome, not an exception."""
    job = _Job(
        box=box,
        data_root=data_root,
        on_output=on_output,
        record=record,
        announce=announce,
        internet=internet,
        groups=groups,
    )
    return threshold.run_in_own_thread(lambda: _run_job(job))


@dataclass(frozen=True, kw_only=True)
class _Job:
    box: Box
    data_root: Path
    on_output: OnOutput
    record: Record
    announce: Announce
    internet: Internet
    groups: Delegation


def _run_job(job: _Job) -> Outcome:
    began = time.monotonic()
    try:
        refuse_when_stopped(job.data_root)
        with contextlib.ExitStack() as stack:
            prepared, started_box = _set_out(job, stack)
            return _see_through(job, prepared, started_box, stack, began)
    except AstraError as error:
        return outcome_from_error(error)


def _set_out(job: _Job, stack: contextlib.ExitStack) -> tuple[Prepared, Started]:
    try:
        prepared = prepare(job.box, stack, counted=job.groups.folder is not None)
        return prepared, threshold.start(
            prepared, stack, mark=boxes.mark(job.data_root, job.box.kind)
        )
    except OSError as error:
        raise unavailable_error(error) from error


def _see_through(
    job: _Job, prepared: Prepared, started: Started, stack: contextlib.ExitStack, began: float
) -> Outcome:
    limits = prepared.profile.manifest.limits
    group = enter_box_group(job.groups, started.init, limits, stack)
    entry = stack.enter_context(keep_registered(job.data_root, job.box, started, group))
    proxy = _start_proxy(job, prepared.profile, started, stack)
    refuse_when_stopped(job.data_root)
    started.open_gate()
    if job.box.on_started is not None:
        job.box.on_started(started.gate)
    watch = Watch(
        limits=limits,
        writable=prepared.writable,
        size_before=prepared.found.size,
        entries_before=prepared.found.entries,
        init=started.init,
        group=group,
        in_memory=prepared.in_memory,
        on_low_disk=job.box.on_low_disk,
    )
    ending = supervision.follow(
        started,
        limits=limits,
        watch=watch,
        on_output=job.on_output,
        keeps_output=job.box.on_started is None,
    )
    note_limit(ending, group)
    return judge_ending(
        ending,
        stopped=boxes.why_ended(job.data_root, entry),
        limits=limits.wall_seconds,
        egress=proxy.close() if proxy else NO_EGRESS,
        seconds=time.monotonic() - began,
    )


@contextlib.contextmanager
def keep_registered(
    data_root: Path, box: Box, started: Started, group: Group | None
) -> Generator[boxes.RunningBox, None, None]:
    """Keep a started box in the registry until it is proven dead."""
    entry = boxes.describe(
        started.init,
        pid_namespace=started.pid_namespace,
        kind=box.kind,
        label=box.label or box.command[0],
        cgroup=str(group.path) if group else "",
    )
    if entry is None:
        raise machine.SandboxUnavailable(
            "the box ended while it was set up", next_step="run astra doctor"
        )
    try:
        boxes.register(data_root, entry)
    except OSError as error:
        raise unavailable_error(error) from error
    try:
        yield entry
    finally:
        started.kill()
        if started.is_dead(1.0):
            with contextlib.suppress(OSError):  # the entry of a dead box is swept at the next start
                boxes.unregister(data_root, entry)


def enter_box_group(
    groups: Delegation, pid: int, limits: Limits, stack: contextlib.ExitStack
) -> Group | None:
    """Put a box into a group of its own, where there are any; one that cannot be made is said."""
    try:
        return stack.enter_context(groups.enter_group(pid, limits))
    except OSError as error:
        raise unavailable_error(error) from error


def note_limit(ending: Ending, group: Group | None) -> None:
    """Name the limit where the kernel, not the watcher, ended a box or kept it from going on."""
    limit_name = group.find_passed_limit() if group is not None and ending.limit is None else None
    if limit_name == MEMORY or (limit_name and ending.exit_code not in _NOT_FOR_LACK_OF_PROCESSES):
        ending.limit = limit_name


def _start_proxy(
    job: _Job, profile: Profile, started: Started, stack: contextlib.ExitStack
) -> EgressProxy | None:
    """Bring up what the box may talk to, before its command starts."""
    if not profile.proxied:
        return None
    as_root = profile.machine.identity.dropped
    (listener,) = listening.listen_inside(started.init, (PROXY_PORT,), as_root=as_root)
    limits = profile.manifest.limits
    proxy = EgressProxy(
        grants=profile.domains,
        record=job.record,
        announce=job.announce,
        internet=job.internet,
        secrets=job.box.secrets,
        note_secret=job.box.note_secret,
        byte_limit=limits.network_bytes,
        connection_limit=limits.connections,
    )
    proxy.serve(listener)
    stack.callback(proxy.close)
    return proxy


def unavailable_error(error: OSError) -> machine.SandboxUnavailable:
    return machine.SandboxUnavailable(
        f"the box could not be set up: {error}", next_step="run astra doctor"
    )


def refuse_when_stopped(data_root: Path) -> None:
    if boxes.is_stopped(data_root):
        raise Stopped("an operator stopped all work", next_step="astra start")
