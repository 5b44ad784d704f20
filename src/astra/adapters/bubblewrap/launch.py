"""Runs a command in a box and says how it ended.

Each launch has a thread of its own, which opens the granted places, starts bwrap and stays until
the box is gone: bwrap dies with the thread that started it, and so does everything inside. Between
fork and exec nothing of Python runs, so callers may have any number of threads.

The command waits at a gate until the box is in the registry and `var/stop` has been looked for once
more; a box that cannot be registered never runs.
"""

import contextlib
import io
import os
import signal
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

from astra.adapters import boxes
from astra.adapters.bubblewrap import grants, listening, machine, staging, supervision
from astra.adapters.bubblewrap.grants import Inspection, UnsafeGrant
from astra.adapters.bubblewrap.machine import Machine
from astra.adapters.bubblewrap.outcome import Outcome, Verdict, never_ran
from astra.adapters.bubblewrap.profile import (
    GATEWAY_PORT,
    PROXY_PORT,
    Cover,
    Profile,
    arguments,
    compile_profile,
    inner_command,
)
from astra.adapters.bubblewrap.supervision import Ending, OnOutput, Started
from astra.adapters.bubblewrap.toolchain import NO_TOOLCHAIN, Toolchain
from astra.adapters.bubblewrap.watch import Watch
from astra.adapters.egress_proxy import (
    NO_EGRESS,
    PUBLIC_INTERNET,
    EgressProxy,
    EgressSummary,
    Internet,
    Record,
)
from astra.adapters.model_gateway import ModelGateway
from astra.kernel.errors import AstraError, Refused
from astra.policy.manifest import Manifest, check, is_within

_KILLED = 128 + signal.SIGKILL
_NO_PROGRAM = "prlimit: failed to execute "
_TOOLCHAIN_HINT = "check its name, and that the box was given the toolchain it needs"
_WRITE_BITS = {"owner": stat.S_IWUSR, "group": stat.S_IWGRP, "others": stat.S_IWOTH}


class Stopped(Refused):
    code = "stopped"


@dataclass(frozen=True, kw_only=True)
class Box:
    """What to run, and all that it may touch."""

    command: tuple[str, ...]
    manifest: Manifest = field(default_factory=Manifest)
    workdir: str | None = None
    toolchain: Toolchain = NO_TOOLCHAIN
    protected: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    kind: str = boxes.RUN
    label: str = ""


def run(
    box: Box,
    *,
    data_root: Path,
    on_output: OnOutput = lambda _stream, _data: None,
    record: Record = lambda _attempt: None,
    internet: Internet = PUBLIC_INTERNET,
    gateway: ModelGateway | None = None,
) -> Outcome:
    """Run the box to its end; whatever keeps it from starting is an outcome, not an exception."""
    job = _Job(
        box=box,
        data_root=data_root,
        on_output=on_output,
        record=record,
        internet=internet,
        gateway=gateway,
    )
    return _in_thread_of_its_own(lambda: _attempt(job))


@dataclass(frozen=True, kw_only=True)
class _Job:
    box: Box
    data_root: Path
    on_output: OnOutput
    record: Record
    internet: Internet
    gateway: ModelGateway | None


@dataclass(frozen=True, kw_only=True)
class _Prepared:
    profile: Profile
    sources: dict[str, int | str]
    writable: tuple[int, ...]
    found: Inspection


def _attempt(job: _Job) -> Outcome:
    began = time.monotonic()
    try:
        _refuse_when_stopped(job.data_root)
        with contextlib.ExitStack() as stack:
            prepared = _prepare(job, stack)
            started = _start(prepared, stack)
            return _see_through(job, prepared, started, stack, began)
    except AstraError as error:
        return never_ran(error)


def _prepare(job: _Job, stack: contextlib.ExitStack) -> _Prepared:
    box, host = job.box, machine.look()
    manifest = check(box.manifest, protected=box.protected, homes=box.homes)
    if host.identity.dropped:
        staging.take_own_mounts()
    opened = _open_all((*manifest.read_paths, *manifest.write_paths), stack)
    found = _inspect(manifest, opened, host)
    guarded = _guarded(manifest)
    opened |= _open_all((*box.toolchain.read_paths, *guarded), stack)
    profile = compile_profile(
        manifest,
        command=box.command,
        machine=host,
        toolchain=box.toolchain,
        workdir=box.workdir,
        covers=(*_hidden(box, host), *found.covers),
        guarded=guarded,
        gateway=job.gateway is not None,
    )
    sources: dict[str, int | str] = {**opened}
    if host.identity.dropped:
        sources = {**staging.stage(opened)}
    writable = tuple(opened[path] for path in manifest.write_paths)
    return _Prepared(profile=profile, sources=sources, writable=writable, found=found)


def _start(prepared: _Prepared, stack: contextlib.ExitStack) -> Started:
    profile, host = prepared.profile, prepared.profile.machine
    texts = dict(profile.files) | {c.path: "" for c in profile.covers if not c.folder}
    files = {path: _memory_file(text.encode(), stack) for path, text in texts.items()}
    status, status_theirs = _pipe(stack)
    gate_theirs, gate = (stack.enter_context(end) for end in socket.socketpair())
    filters = _memory_file(profile.seccomp, stack)
    words = [
        *arguments(profile, prepared.sources, files),
        *("--seccomp", str(filters), "--json-status-fd", str(status_theirs.fileno())),
        # The box holds the gate's other end too: if Astra dies now, the gate stays shut. The gate
        # is no pipe, because a pipe of init could be opened again through /proc.
        *("--block-fd", str(gate_theirs.fileno()), "--sync-fd", str(gate.fileno())),
    ]
    options = _memory_file("\0".join(words).encode(), stack)
    handles = [s for s in prepared.sources.values() if isinstance(s, int)]
    theirs = (status_theirs.fileno(), gate_theirs.fileno(), gate.fileno())
    dropped = host.identity.dropped
    process = stack.enter_context(
        subprocess.Popen(
            [host.bwrap, "--args", str(options), "--", *inner_command(profile)],
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            pass_fds=(*handles, *files.values(), filters, options, *theirs),
            user=host.identity.uid if dropped else None,
            group=host.identity.gid if dropped else None,
            extra_groups=[] if dropped else None,
        )
    )
    status_theirs.close()
    gate_theirs.close()
    started = supervision.await_init(process, status=status.fileno(), gate=gate.fileno())
    stack.callback(os.close, started.init_handle)
    stack.callback(started.kill)
    return started


def _see_through(
    job: _Job, prepared: _Prepared, started: Started, stack: contextlib.ExitStack, began: float
) -> Outcome:
    entry = stack.enter_context(_registered(job, started))
    proxy = _serve(job, prepared.profile, started, stack)
    _refuse_when_stopped(job.data_root)
    started.open_gate()
    limits = prepared.profile.manifest.limits
    watch = Watch(
        limits=limits,
        writable=prepared.writable,
        size_before=prepared.found.size,
        entries_before=prepared.found.entries,
        init=started.init,
    )
    ending = supervision.follow(started, limits=limits, watch=watch, on_output=job.on_output)
    return _judge(
        ending,
        stopped=boxes.was_ended(job.data_root, entry),
        limits=limits.wall_seconds,
        egress=proxy.close() if proxy else NO_EGRESS,
        seconds=time.monotonic() - began,
    )


def _judge(
    ending: Ending, *, stopped: bool, limits: float, egress: EgressSummary, seconds: float
) -> Outcome:
    verdict, reason, next_step = _verdict(ending, stopped=stopped, seconds=limits)
    limit = ending.limit or supervision.limit_of_signal(ending.exit_code or 0)
    if not ending.dead:
        reason += "; some of its processes did not end yet: run astra stop --now"
    return Outcome(
        verdict=verdict,
        reason=reason,
        next_step=next_step,
        exit_code=ending.exit_code if verdict in {Verdict.SUCCEEDED, Verdict.FAILED} else None,
        limit=limit if verdict is Verdict.KILLED_BY_LIMIT else None,
        seconds=seconds,
        stdout=bytes(ending.output["stdout"]),
        stderr=bytes(ending.output["stderr"]),
        egress=egress,
    )


def _verdict(ending: Ending, *, stopped: bool, seconds: float) -> tuple[Verdict, str, str]:
    """Say how it ended; what Astra did to the box comes before what the box says of itself."""
    code = ending.exit_code
    limit = ending.limit or supervision.limit_of_signal(code or 0)
    if ending.timed_out:
        return Verdict.TIMED_OUT, f"not done after {seconds:g} s", "ask for more time, or do less"
    if limit:
        return Verdict.KILLED_BY_LIMIT, f"passed the limit on {limit}", "use less, or ask for more"
    if stopped and code in {None, _KILLED}:
        return Verdict.STOPPED_BY_OPERATOR, "stopped by an operator", "astra status"
    if code == 0:
        return Verdict.SUCCEEDED, "exit code 0", ""
    return _why_not(code, _last_words(ending))


def _why_not(code: int | None, words: str) -> tuple[Verdict, str, str]:
    if code is None:
        return Verdict.NEVER_RAN, words or "the box ended before its command", "run astra doctor"
    if words.startswith(_NO_PROGRAM):
        name = words.removeprefix(_NO_PROGRAM)
        return Verdict.NEVER_RAN, f"the command cannot be started: {name}", _TOOLCHAIN_HINT
    return Verdict.FAILED, f"exit code {code}", "read its output"


def _last_words(ending: Ending) -> str:
    """Give what was said when it is one line and nothing else: then the command never spoke."""
    text = bytes(ending.output["stderr"]).decode("utf-8", "replace").strip()
    return text if not ending.output["stdout"] and "\n" not in text else ""


@contextlib.contextmanager
def _registered(job: _Job, started: Started) -> Generator[boxes.RunningBox, None, None]:
    entry = boxes.describe(
        started.init,
        pid_namespace=started.pid_namespace,
        kind=job.box.kind,
        label=job.box.label or job.box.command[0],
    )
    if entry is None:
        raise machine.SandboxUnavailable(
            "the box ended while it was set up", next_step="run astra doctor"
        )
    boxes.register(job.data_root, entry)
    try:
        yield entry
    finally:
        started.kill()
        if boxes.wait_dead(started.init_handle, 1.0):
            boxes.unregister(job.data_root, entry)


def _serve(
    job: _Job, profile: Profile, started: Started, stack: contextlib.ExitStack
) -> EgressProxy | None:
    """Bring up what the box may talk to, before its command starts."""
    ports = (PROXY_PORT,) * bool(profile.domains) + (GATEWAY_PORT,) * (job.gateway is not None)
    if not ports:
        return None
    as_root = profile.machine.identity.dropped
    listeners = dict(
        zip(ports, listening.listen_inside(started.init, ports, as_root=as_root), strict=True)
    )
    if job.gateway is not None:
        job.gateway.serve(listeners[GATEWAY_PORT])
        stack.callback(job.gateway.close)
    if not profile.domains:
        return None
    limits = profile.manifest.limits
    proxy = EgressProxy(
        grants=profile.domains,
        record=job.record,
        internet=job.internet,
        byte_limit=limits.network_bytes,
        connection_limit=limits.connections,
    )
    proxy.serve(listeners[PROXY_PORT])
    stack.callback(proxy.close)
    return proxy


def _inspect(manifest: Manifest, opened: dict[str, int], host: Machine) -> Inspection:
    found = Inspection()
    readable = Inspection(covers=found.covers)
    for path in manifest.write_paths:
        _refuse_unwritable(path, opened[path], host)
        grants.inspect(opened[path], path, writable=True, found=found)
    for path in manifest.read_paths:
        if path not in manifest.write_paths:
            grants.inspect(opened[path], path, writable=False, found=readable)
    grants.refuse_outside_links(found)
    found.covers[:] = dict.fromkeys(found.covers)
    return found


def _refuse_unwritable(path: str, descriptor: int, host: Machine) -> None:
    """Say early that a box could not write where it may: as root it has another uid than Astra."""
    facts, identity = os.fstat(descriptor), host.identity
    who = "others"
    if facts.st_uid == identity.uid:
        who = "owner"
    elif facts.st_gid == identity.gid:
        who = "group"
    if identity.dropped and not facts.st_mode & _WRITE_BITS[who]:
        raise UnsafeGrant(
            f"{path} belongs to another user than the boxes (uid {identity.uid})",
            next_step=f"chown -R {identity.uid}:{identity.gid} {path}",
            path=path,
        )


def _guarded(manifest: Manifest) -> tuple[str, ...]:
    """List the `.git` of each writable folder that is not granted itself."""
    places = (f"{path.rstrip('/')}/.git" for path in manifest.write_paths)
    return tuple(
        place for place in places if place not in manifest.write_paths and os.path.lexists(place)
    )


def _hidden(box: Box, host: Machine) -> tuple[Cover, ...]:
    """Cover protected places that lie inside what every box sees, such as an Astra below /usr."""
    seen = (*host.folders, *host.etc, *box.toolchain.read_paths)
    return tuple(
        Cover(path=place, folder=Path(place).is_dir())
        for place in box.protected
        if any(is_within(place, folder) for folder in seen) and os.path.lexists(place)
    )


def _open_all(paths: tuple[str, ...], stack: contextlib.ExitStack) -> dict[str, int]:
    opened: dict[str, int] = {}
    for path in dict.fromkeys(paths):
        opened[path] = grants.open_grant(path)
        stack.callback(os.close, opened[path])
    return opened


def _refuse_when_stopped(data_root: Path) -> None:
    if boxes.is_stopped(data_root):
        raise Stopped("an operator stopped all work", next_step="astra start")


def _memory_file(data: bytes, stack: contextlib.ExitStack) -> int:
    file = stack.enter_context(io.FileIO(os.memfd_create("astra-box"), "r+"))
    file.write(data)
    file.seek(0)
    return file.fileno()


def _pipe(stack: contextlib.ExitStack) -> tuple[io.FileIO, io.FileIO]:
    reading, writing = os.pipe()
    return (
        stack.enter_context(io.FileIO(reading, "rb")),
        stack.enter_context(io.FileIO(writing, "wb")),
    )


def _in_thread_of_its_own(work: Callable[[], Outcome]) -> Outcome:
    done: list[Outcome] = []
    failed: list[BaseException] = []

    def carry_out() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again by the caller's thread
            failed.append(error)

    thread = threading.Thread(target=carry_out, name="box")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]
