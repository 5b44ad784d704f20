"""Starts a box across the line between Astra's user and the boxes' user.

Linux keeps mounts and credentials per thread. So a thread made for one launch takes a mount
namespace of its own, stages what is granted, and is the boxes' user while it starts bwrap and sets
the limits of its init process; the rest of Astra keeps its mounts and its uid.
Nothing of Python runs between fork and exec, and a large process is not copied for it: changing the
uid in the child would cost a full fork. The thread has to stay until the box is gone, because bwrap
dies with the thread that started it.

A box waits at two gates on one socket, of which nobody but this process holds the other end. The
first is bwrap's, before it starts anything in the box; limits are set there. bwrap takes the end
of the file for a word to go on, so a shell stands behind it, which does not: it lets the command
run on a line, and leaves where the socket is closed. So nothing runs in the box of a launcher that
died before, at whatever moment. bwrap's monitor asks to die with the launcher just before it lets
its init go on (`PR_SET_PDEATHSIG` in `main`, then a word to the init, in bubblewrap 0.8). Killed in
between, it leaves an init that waits for ever, without a command: the init itself asks to die with
the monitor only later, and no signal that is not sent for it from outside ends the first process of
a namespace. Where the launcher lives, it ends that init. Where the launcher is what died, nobody is
there who could; the init is ended by its mark, by a stop, by `astra down` and by the next start.
"""

import contextlib
import ctypes
import io
import os
import platform
import resource
import socket
import subprocess
import threading
from collections.abc import Callable, Generator
from typing import TypeVar

from astra.trusted.sandbox import landlock, supervision, syscalls
from astra.trusted.sandbox.machine import Identity, no_such_user_error
from astra.trusted.sandbox.outcome import GATE
from astra.trusted.sandbox.preparation import Prepared
from astra.trusted.sandbox.profile import Profile, render_arguments
from astra.trusted.sandbox.supervision import Started

# Calls of one thread only; the C library's own would change every thread of the process.
_OWN_CREDENTIALS = {"x86_64": (116, 119, 117), "aarch64": (159, 149, 147)}
_SPARE_DESCRIPTORS = 24
_BEHIND_GATE = ("/bin/sh", "-c", 'read -r _ || exit 125; exec "$@" </dev/null', GATE)
# A shell reads a line byte by byte where it cannot seek, so what follows it is the command's.
_SPOKEN_TO = ("/bin/sh", "-c", 'read -r _ || exit 125; exec "$@"', GATE)
T = TypeVar("T")


def run_in_own_thread(work: Callable[[], T]) -> T:
    """Do the work in a thread made for it; raise what it raises."""
    results: list[T] = []
    failed: list[BaseException] = []

    def carry_out() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failed.append(error)

    thread = threading.Thread(target=carry_out, name="box")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return results[0]


def start(prepared: Prepared, stack: contextlib.ExitStack, *, mark: str) -> Started:
    """Start the box under a name, up to the gate; only for a thread of its own."""
    profile = prepared.profile
    status, status_theirs = (stack.enter_context(end) for end in socket.socketpair())
    gate_theirs, gate = (stack.enter_context(end) for end in socket.socketpair())
    options, handed = _write_options(prepared, stack)
    theirs = (status_theirs.fileno(), gate_theirs.fileno(), status.fileno())
    option_names = ("--json-status-fd", "--block-fd", "--sync-fd")
    # The box holds our end of the status too: a monitor that fails to say its first word, because
    # Astra is dead, would leave an init behind that waits for it for ever. Neither is a pipe,
    # because a pipe that init holds could be opened again through /proc.
    plumbing = [word for pair in zip(option_names, map(str, theirs), strict=True) for word in pair]
    behind_gate = _SPOKEN_TO if prepared.has_input else _BEHIND_GATE
    with act_as(profile.machine.identity):
        if profile.host_network and landlock.has_port_rules():
            landlock.allow_ports(profile.bind_ports)
        process = stack.enter_context(
            subprocess.Popen(
                [mark, "--args", str(options), *plumbing, "--", *behind_gate, *profile.command],
                executable=profile.machine.bwrap,
                env={},
                cwd="/",
                stdin=gate_theirs.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                pass_fds=(*handed, *theirs, *profile.inherited),
            )
        )
        status_theirs.close()
        gate_theirs.close()
        started_box = supervision.await_init(process, status=status.fileno(), gate=gate.fileno())
        stack.callback(os.close, started_box.init_handle)
        stack.callback(started_box.kill)
        _set_limits(started_box.init, profile, len(handed))
    return started_box


@contextlib.contextmanager
def act_as(identity: Identity) -> Generator[None, None, None]:
    """Be the boxes' user, in this thread only.

    The saved uid stays root, so that the thread can come back; exec forgets it, so that what is
    started here cannot.
    """
    if not identity.dropped:
        yield
        return
    before = os.getgroups()
    try:
        _switch_user(groups=[], gid=identity.gid, uid=identity.uid)
    except OSError as error:
        raise no_such_user_error(identity, error) from None
    try:
        yield
    finally:
        _switch_user(groups=before, gid=0, uid=0)


def _switch_user(*, groups: list[int], gid: int, uid: int) -> None:
    set_groups, set_gids, set_uids = _OWN_CREDENTIALS[platform.machine()]
    group_array = (ctypes.c_uint32 * len(groups))(*groups)
    if uid == 0:
        syscalls.call(set_uids, 0, 0, 0)
    syscalls.call(set_groups, len(groups), ctypes.addressof(group_array))
    syscalls.call(set_gids, gid, gid, 0)
    if uid != 0:
        syscalls.call(set_uids, uid, uid, 0)


def _write_options(prepared: Prepared, stack: contextlib.ExitStack) -> tuple[int, list[int]]:
    """Put the spelled box and all its data into descriptors, where no process list shows them."""
    profile = prepared.profile
    texts = dict(profile.files) | {c.path: "" for c in profile.covers if not c.folder}
    files = {path: _memory_file(text.encode(), stack) for path, text in texts.items()}
    filters = _memory_file(profile.seccomp, stack)
    bwrap_options = [*render_arguments(profile, prepared.sources, files), "--seccomp", str(filters)]
    options = _memory_file("\0".join(bwrap_options).encode(), stack)
    places = [source for source in prepared.sources.values() if isinstance(source, int)]
    return options, [options, filters, *files.values(), *places]


def _set_limits(init: int, profile: Profile, handed: int) -> None:
    """Set the limits on the box's init while its command waits; around bwrap, they count others."""
    for name, (soft, hard) in profile.limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        # bwrap still has its descriptors open at this point.
        least = handed + _SPARE_DESCRIPTORS if name == "NOFILE" else 0
        ceiling = resource.prlimit(init, kind)[1]
        bounds = (max(soft, least), max(hard, least))
        if ceiling != resource.RLIM_INFINITY:
            bounds = (min(bounds[0], ceiling), min(bounds[1], ceiling))
        resource.prlimit(init, kind, bounds)


def _memory_file(data: bytes, stack: contextlib.ExitStack) -> int:
    file = stack.enter_context(io.FileIO(os.memfd_create("astra-box"), "r+"))
    file.write(data)
    file.seek(0)
    return file.fileno()
