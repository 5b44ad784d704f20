"""Follows one started box to its end: output, time, limits, and the proof that it is gone."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass, field
from typing import Any

from astra.trusted.policy.manifest import Limits
from astra.trusted.sandbox import boxes
from astra.trusted.sandbox.descendants import list_process_tree
from astra.trusted.sandbox.machine import SandboxUnavailable
from astra.trusted.sandbox.ports import OnOutput
from astra.trusted.sandbox.watch import Watch

_CHUNK = 65536
_SET_UP_SECONDS = 30
_DEATH_SECONDS = 10
_SIGNALLED = 128


@dataclass(kw_only=True)
class Ending:
    """What was seen when a box ended."""

    exit_code: int | None = None
    timed_out: bool = False
    limit: str | None = None
    dead: bool = False
    output: dict[str, bytearray] = field(
        default_factory=lambda: {"stdout": bytearray(), "stderr": bytearray()}
    )


@dataclass(frozen=True, kw_only=True)
class Started:
    """A box whose init process is known and whose command still waits at the gate."""

    process: "subprocess.Popen[bytes]"
    status: int
    gate: int
    init: int
    init_handle: int
    pid_namespace: int

    def open_gate(self) -> None:
        """Let the command run; raises SandboxUnavailable where the box is gone already."""
        try:
            os.write(self.gate, b".\n")
        except BrokenPipeError:  # what was granted went away while the box was set up, say
            raise _set_up_failed(self.process) from None

    def kill(self) -> None:
        boxes.kill(self.init_handle)

    def is_dead(self, patience: float) -> bool:
        return boxes.wait_dead(self.init_handle, patience)


def await_init(process: "subprocess.Popen[bytes]", *, status: int, gate: int) -> Started:
    """Wait for bwrap to name the init process; raises SandboxUnavailable with bwrap's own words."""
    facts = _first_status(status)
    if "child-pid" not in facts:
        raise _set_up_failed(process)
    init = int(facts["child-pid"])
    try:
        handle = os.pidfd_open(init)
    except ProcessLookupError:
        raise _set_up_failed(process) from None
    if init != process.pid and boxes.read_parent(init) != process.pid:
        os.close(handle)
        raise _set_up_failed(process)
    return Started(
        process=process,
        status=status,
        gate=gate,
        init=init,
        init_handle=handle,
        pid_namespace=int(facts["pid-namespace"]),
    )


def follow(
    started: Started,
    *,
    limits: Limits,
    watch: Watch,
    on_output: OnOutput,
    keeps_output: bool = True,
) -> Ending:
    """Read everything until the box is gone, ending it when it passes a limit."""
    watched = _Watched(
        started=started,
        limits=limits,
        watch=watch,
        on_output=on_output,
        keeps_output=keeps_output,
    )
    try:
        with selectors.DefaultSelector() as ready:
            for stream in ("stdout", "stderr"):
                ready.register(getattr(started.process, stream), selectors.EVENT_READ, stream)
            ready.register(started.status, selectors.EVENT_READ, "status")
            while ready.get_map() and watched.read(ready):
                watched.enforce()
    finally:
        started.kill()
        watched.ending.dead = started.is_dead(_DEATH_SECONDS)
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.process.wait(_DEATH_SECONDS)
    return watched.ending


def limit_of_signal(exit_code: int) -> str | None:
    """Name the kernel limit behind an exit code, when the signal says it."""
    return {
        _SIGNALLED + signal.SIGXCPU: "cpu",
        _SIGNALLED + signal.SIGXFSZ: "file size",
    }.get(exit_code)


@dataclass(kw_only=True)
class _Watched:
    started: Started
    limits: Limits
    watch: Watch
    on_output: OnOutput
    keeps_output: bool = True
    """Output of a conversation is for who listens, and is not counted up."""
    ending: Ending = field(default_factory=Ending)

    def __post_init__(self) -> None:
        self._deadline = time.monotonic() + self.limits.wall_seconds
        self._status = b""

    def read(self, ready: selectors.BaseSelector) -> bool:
        """Read what is there; False when a killed box keeps silent with its pipes still open."""
        events = ready.select(self._choose_timeout())
        for key, _events in events:
            data = os.read(key.fd, _CHUNK)
            if not data:
                self._note_end(ready, key)
            elif key.data == "status":
                self._take_status(data)
            elif self.ending.limit != "output":
                if self.keeps_output:
                    self.ending.output[key.data] += data
                self.on_output(key.data, data)
        return bool(events) or not self._is_over()

    def _note_end(self, ready: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        """Listen there no more. Where bwrap's monitor is gone, nobody else would end its init."""
        ready.unregister(key.fileobj)
        if key.data == "status":
            self.started.kill()

    def _take_status(self, data: bytes) -> None:
        self._status += data
        codes = [int(d["exit-code"]) for d in _parse_documents(self._status) if "exit-code" in d]
        if codes:
            self.ending.exit_code = codes[-1]
            # bwrap's own goodbye takes daemonised children down too, a moment later.
            self.started.kill()

    def enforce(self) -> None:
        if self._is_over():
            return
        if sum(map(len, self.ending.output.values())) > self.limits.output_bytes:
            self.ending.limit = "output"
        elif time.monotonic() >= self._deadline:
            self.ending.timed_out = True
        else:
            self.ending.limit = self.watch.check_limits()
        if self._is_over():
            self.started.kill()

    def _choose_timeout(self) -> float:
        if self._is_over():
            return _DEATH_SECONDS
        return min(max(0.0, self._deadline - time.monotonic()), self.watch.seconds_until_due())

    def _is_over(self) -> bool:
        ending = self.ending
        return ending.timed_out or ending.limit is not None or ending.exit_code is not None


def _first_status(status: int) -> dict[str, Any]:
    """Read the first line, which bwrap writes in pieces."""
    data, deadline = b"", time.monotonic() + _SET_UP_SECONDS
    with selectors.DefaultSelector() as ready:
        ready.register(status, selectors.EVENT_READ)
        while b"\n" not in data and ready.select(max(0.0, deadline - time.monotonic())):
            more = os.read(status, _CHUNK)
            if not more:
                break
            data += more
    documents = _parse_documents(data)
    return documents[0] if documents else {}


def _parse_documents(data: bytes) -> list[dict[str, Any]]:
    with contextlib.suppress(ValueError):
        return [json.loads(line) for line in data.splitlines() if line.strip()]
    return []


def _set_up_failed(process: "subprocess.Popen[bytes]") -> SandboxUnavailable:
    for pid in reversed(list_process_tree(process.pid)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    # An init whose monitor was killed is in no tree of ours any more. Until its gate opens it is in
    # the monitor's process group, whose number the kernel keeps while somebody is in it.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    _out, stderr = process.communicate()
    message = stderr.decode("utf-8", "replace").strip() or "bwrap said nothing"
    return SandboxUnavailable(
        f"the box could not be set up: {message}", next_step="run astra doctor"
    )
