"""The parent of one unconfined command: adopts what it leaves behind, and ends it all.

Run as a program: `keeper STATUS GATE`. It waits at the gate for a description of the command, as
one line of JSON, and starts nothing if the gate closes first. When the command ends, or when the
gate closes because Astra died, whatever the command left is killed. As root the keeper stays root
and the command does not, so the command cannot end its keeper.
"""

import contextlib
import ctypes
import json
import os
import resource
import selectors
import signal
import sys
from dataclasses import replace
from typing import Any, NoReturn

from astra.trusted.kernel.errors import AstraError
from astra.trusted.sandbox import boxes, grants
from astra.trusted.stop import process_tree as tree

_SUBREAPER, _NO_NEW_PRIVILEGES = 36, 38
_SIGNALLED, _NO_SUCH_PROGRAM = 128, 127
_LARGEST_DESCRIPTION = 1 << 20
_PATIENCE = 10.0


def main(words: list[str]) -> int:
    status, gate = map(int, words)
    for descriptor in (status, gate):
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - no keyword there
    _enable_prctl(_SUBREAPER)
    os.write(status, json.dumps({"child-pid": os.getpid(), "pid-namespace": 0}).encode() + b"\n")
    described = _receive_description(gate)
    if described is None:
        return 1
    command = os.fork()
    if command == 0:
        _exec_command(described)
    code = _watch_command(command, gate)
    _end_the_rest(described["box"])
    os.write(status, json.dumps({"exit-code": code}).encode() + b"\n")
    return 0


def _receive_description(gate: int) -> dict[str, Any] | None:
    data = b""
    while not data.endswith(b"\n") and len(data) < _LARGEST_DESCRIPTION:
        more = os.read(gate, 65536)
        if not more:
            return None
        data += more
    return json.loads(data)


def _exec_command(described: dict[str, Any]) -> NoReturn:
    """Turn this child into the command, with its limits and, as root, as another user."""
    program = described["command"][0]
    try:
        os.setsid()
        # Before the uid changes: the folders above it may be closed to the command.
        os.fchdir(grants.open_grant(described["workdir"]))
        if described["uid"] is not None:
            os.setgroups([])
            os.setresgid(*[described["gid"]] * 3)
            os.setresuid(*[described["uid"]] * 3)
        # Set-uid programs stay what they are: then every process here can be killed.
        _enable_prctl(_NO_NEW_PRIVILEGES)
        for name, (soft, hard) in described["limits"].items():
            _set_limit(getattr(resource, f"RLIMIT_{name}"), soft, hard)
        os.execvpe(program, described["command"], described["environment"])  # noqa: S606 - its job
    except OSError as error:
        _print_failure(program, error.strerror or str(error))
    except AstraError as error:
        _print_failure(program, error.detail)
    finally:
        os._exit(_NO_SUCH_PROGRAM)


def _print_failure(program: str, why: str) -> None:
    os.write(2, f"astra: execvp {program}: {why}\n".encode("utf-8", "replace"))


def _set_limit(kind: int, soft: int, hard: int) -> None:
    ceiling = resource.getrlimit(kind)[1]
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))


def _watch_command(command: int, gate: int) -> int:
    """Reap until the command ends or the gate closes; give the exit code as a shell would."""
    waking, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    with selectors.DefaultSelector() as ready:
        ready.register(waking, selectors.EVENT_READ)
        ready.register(gate, selectors.EVENT_READ)
        while (code := _reap_children(command)) is None:
            for key, _events in ready.select(1.0):
                if not os.read(key.fd, 4096) and key.fd == gate:
                    return _SIGNALLED + signal.SIGKILL
    return code


def _reap_children(command: int) -> int | None:
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return None
            if pid == command:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else _SIGNALLED - code
    return _NO_SUCH_PROGRAM


def _end_the_rest(box_id: str) -> None:
    own_box = boxes.describe(os.getpid(), pid_namespace=0, kind=boxes.RUN, label="")
    if own_box is not None:
        tree.end_descendants(replace(own_box, id=box_id), patience=_PATIENCE)


def _enable_prctl(option: int) -> None:
    ctypes.CDLL(None).prctl(option, 1, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
