"""Runs a command as a plain process and says how it ended, in the same words as a box.

Same order as for a box: the keeper waits at its gate until it is in the registry and `var/stop` has
been looked for again. Granted domains get a proxy on the host's loopback, which a program may use
or go around: nothing holds it there.
"""

import contextlib
import io
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
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
from astra.trusted.kernel.errors import AstraError, BadInput
from astra.trusted.policy.domains import parse_grants
from astra.trusted.policy.manifest import Manifest, check
from astra.trusted.sandbox import boxes, grants, machine, supervision
from astra.trusted.sandbox.boxes import RunningBox
from astra.trusted.sandbox.cgroups import NOT_DELEGATED, Delegation, Group
from astra.trusted.sandbox.launch import (
    Box,
    keep_registered,
    note_limit,
    refuse_when_stopped,
    unavailable_error,
)
from astra.trusted.sandbox.outcome import judge_ending, outcome_from_error
from astra.trusted.sandbox.ports import OnOutput, Outcome
from astra.trusted.sandbox.profile import build_proxy_environment, kernel_limits
from astra.trusted.sandbox.supervision import Started
from astra.trusted.sandbox.watch import Watch
from astra.trusted.stop import process_tree as tree

_PATIENCE = 10.0
# Counted for the whole user, so a limit would hit programs that are none of ours.
_NOT_SET = {"NPROC"}


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
    began = time.monotonic()
    try:
        refuse_when_stopped(data_root)
        manifest = _check_manifest(box)
        with contextlib.ExitStack() as stack:
            keeper = _start_keeper(stack)
            group = stack.enter_context(groups.enter_group(keeper.init, manifest.limits))
            entry = stack.enter_context(keep_registered(data_root, box, keeper, group))
            keeper.entries.append(entry)
            proxy = _start_proxy(manifest, record, announce, internet, stack)
            watch = _make_watch(manifest, keeper, group, stack)
            refuse_when_stopped(data_root)
            keeper.send_description(_describe_command(box, manifest, entry, proxy))
            ending = supervision.follow(
                keeper, limits=manifest.limits, watch=watch, on_output=on_output
            )
            note_limit(ending, group)
            outcome = judge_ending(
                ending,
                stopped=boxes.why_ended(data_root, entry),
                limits=manifest.limits.wall_seconds,
                egress=proxy[0].close() if proxy else NO_EGRESS,
                seconds=time.monotonic() - began,
            )
        return replace(outcome, confined=False)
    except AstraError as error:
        return replace(outcome_from_error(error), confined=False)
    except OSError as error:
        return replace(outcome_from_error(unavailable_error(error)), confined=False)


@dataclass(frozen=True, kw_only=True)
class _Kept(Started):
    """A keeper, with its entry in the registry once it is there.

    Killing the keeper alone would set free what it keeps.
    """

    entries: list[RunningBox] = field(default_factory=list[RunningBox])

    def send_description(self, description: dict[str, object]) -> None:
        data = json.dumps(description).encode() + b"\n"
        with socket.socket(fileno=os.dup(self.gate)) as gate:
            gate.sendall(data)

    def kill(self) -> None:
        for entry in self.entries:
            tree.end(entry, patience=_PATIENCE)
        boxes.kill(self.init_handle)

    def is_dead(self, patience: float) -> bool:
        return super().is_dead(patience) and not any(map(tree.list_survivors, self.entries))


def _check_manifest(box: Box) -> Manifest:
    if not box.command or any("\0" in word for word in box.command):
        raise BadInput("a run needs a command without NUL", next_step="name a program")
    homes = machine.home_folders() if box.homes is None else box.homes
    return check(box.manifest, protected=box.protected, homes=homes)


def _start_keeper(stack: contextlib.ExitStack) -> _Kept:
    reading, writing = os.pipe()
    status = stack.enter_context(io.FileIO(reading, "rb"))
    ours, theirs = (stack.enter_context(end) for end in socket.socketpair())
    process = stack.enter_context(
        subprocess.Popen(
            [
                *(sys.executable, "-I", "-m", "astra.adapters.unconfined.keeper"),
                *(str(writing), str(theirs.fileno())),
            ],
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            pass_fds=(writing, theirs.fileno()),
        )
    )
    os.close(writing)
    theirs.close()
    keeper = supervision.await_init(process, status=status.fileno(), gate=ours.fileno())
    stack.callback(os.close, keeper.init_handle)
    return _Kept(**vars(keeper))


def _start_proxy(
    manifest: Manifest,
    record: Record,
    announce: Announce,
    internet: Internet,
    stack: contextlib.ExitStack,
) -> tuple[EgressProxy, int] | None:
    if not manifest.network_domains:
        return None
    listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    proxy = EgressProxy(
        grants=parse_grants(manifest.network_domains),
        record=record,
        announce=announce,
        internet=internet,
        byte_limit=manifest.limits.network_bytes,
        connection_limit=manifest.limits.connections,
    )
    proxy.serve(listener)
    stack.callback(proxy.close)
    return proxy, listener.getsockname()[1]


def _describe_command(
    box: Box, manifest: Manifest, entry: RunningBox, proxy: tuple[EgressProxy, int] | None
) -> dict[str, object]:
    identity = machine.choose_identity()
    workdir = box.workdir or (manifest.write_paths or ("/tmp",))[0]  # noqa: S108 - no files of ours
    path = ":".join([*box.toolchain.search, "/usr/local/bin", "/usr/bin", "/bin"])
    return {
        "box": entry.id,
        "command": list(box.command),
        "workdir": workdir,
        "environment": {
            "PATH": path,
            "HOME": workdir,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **dict(box.toolchain.environment),
            **(build_proxy_environment(proxy[1]) if proxy else {}),
            **manifest.environment,
            tree.MARK: entry.id,
        },
        "uid": identity.uid if identity.dropped else None,
        "gid": identity.gid,
        "limits": {n: pair for n, pair in kernel_limits(manifest).items() if n not in _NOT_SET},
    }


def _make_watch(
    manifest: Manifest, kept: Started, group: Group | None, stack: contextlib.ExitStack
) -> Watch:
    writable = tuple(grants.open_grant(path) for path in manifest.write_paths)
    for descriptor in writable:
        stack.callback(os.close, descriptor)
    measured = [grants.measure(descriptor) for descriptor in writable]
    return Watch(
        limits=manifest.limits,
        writable=writable,
        size_before=sum(size for size, _ in measured),
        entries_before=sum(count for _, count in measured),
        init=kept.init,
        group=group,
        count_processes=True,
    )
