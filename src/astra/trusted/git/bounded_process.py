r"""Run one program that cannot run away: a deadline, a cap on output, nothing inherited.

The program gets exactly the environment that is described, no terminal, no open descriptors, and a
process group of its own, which is ended whole when time or output runs out.

>>> hello = BoundedCommand(arguments=("/bin/sh", "-c", "echo hello"), timeout=10, output_limit=100)
>>> run_bounded(hello).output
b'hello\n'
"""

import contextlib
import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO

from astra.trusted.kernel.errors import AstraError

_CHUNK = 65536
_LONGEST_COMPLAINT = 65536


class ProgramMissing(AstraError):
    code = "program_missing"


class ProgramTimedOut(AstraError):
    code = "program_timed_out"


class ProgramOutputTooLarge(AstraError):
    code = "program_output_too_large"


@dataclass(frozen=True, kw_only=True)
class BoundedCommand:
    arguments: tuple[str, ...]
    timeout: float
    output_limit: int
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    input: bytes = b""
    memory: int = 0
    """The most memory of its own that it may take, in bytes; 0 where it reads nothing hostile."""


@dataclass(frozen=True, kw_only=True)
class Finished:
    exit_code: int
    output: bytes
    complaint: bytes


def run_bounded(command: BoundedCommand) -> Finished:
    """Run to the end and collect the output; ending early is an error, never half an answer."""
    process = start_bounded(command)
    try:
        output, complaint = _pump_pipes(process, command)
        exit_code = process.wait(timeout=command.timeout)
    except subprocess.TimeoutExpired:
        raise _timeout_error(command) from None
    finally:
        end_process(process)
    return Finished(exit_code=exit_code, output=output, complaint=complaint)


def start_bounded(
    command: BoundedCommand, *, complaints: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Start a program without waiting; the caller ends it with `end`."""
    try:
        process = subprocess.Popen(
            command.arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env=dict(command.environment),
            cwd="/",
            start_new_session=True,
        )
    except FileNotFoundError:
        raise ProgramMissing(
            f"the program {command.arguments[0]} is not installed",
            next_step=f"install {command.arguments[0]}, then try again",
        ) from None
    if command.memory:
        _limit_memory(process.pid, command.memory)
    return process


def _limit_memory(pid: int, most: int) -> None:
    """Limit what a process allocates; files that it only maps to read them do not count."""
    with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
        resource.prlimit(pid, resource.RLIMIT_DATA, (most, most))


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End the whole group of a process we started, and close our ends of its pipes.

    Until its leader is waited for, a group keeps its number, so this cannot hit anybody else.
    """
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            _close_pipe(pipe)


def _close_pipe(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        return


class _Collected(bytearray):
    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit


def _pump_pipes(process: subprocess.Popen[bytes], command: BoundedCommand) -> tuple[bytes, bytes]:
    """Feed the input and gather both outputs at once, so that no full pipe blocks another."""
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise RuntimeError("a bounded process always has three pipes")
    output, complaint = _Collected(command.output_limit), _Collected(_LONGEST_COMPLAINT)
    deadline = time.monotonic() + command.timeout
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, output)
        selector.register(process.stderr, selectors.EVENT_READ, complaint)
        input_feed = _Feed(process.stdin, command.input, selector)
        while selector.get_map():
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise _timeout_error(command)
            for key, _ in selector.select(remaining):
                if key.data is input_feed:
                    input_feed.push()
                else:
                    _collect_chunk(key, selector, command)
    return bytes(output), bytes(complaint)


class _Feed:
    """The input of a process, pushed as fast as the process takes it."""

    def __init__(self, pipe: IO[bytes], data: bytes, selector: selectors.BaseSelector) -> None:
        self.pipe, self.rest, self.selector = pipe, memoryview(data), selector
        if not data:
            _close_pipe(pipe)
            return
        os.set_blocking(pipe.fileno(), False)
        selector.register(pipe, selectors.EVENT_WRITE, self)

    def push(self) -> None:
        try:
            byte_count = os.write(self.pipe.fileno(), self.rest[:_CHUNK])
        except BrokenPipeError:
            byte_count = len(self.rest)
        self.rest = self.rest[byte_count:]
        if not self.rest:
            self.selector.unregister(self.pipe)
            _close_pipe(self.pipe)


def _collect_chunk(
    key: selectors.SelectorKey, selector: selectors.BaseSelector, command: BoundedCommand
) -> None:
    collected: _Collected = key.data
    chunk = os.read(key.fd, _CHUNK)
    if not chunk:
        selector.unregister(key.fileobj)
        return
    collected += chunk
    if len(collected) > collected.limit:
        raise ProgramOutputTooLarge(
            f"{command.arguments[0]} printed more than {collected.limit} bytes and was ended",
            next_step="ask for less at once",
        )


def _timeout_error(command: BoundedCommand) -> ProgramTimedOut:
    return ProgramTimedOut(
        f"{command.arguments[0]} took longer than {command.timeout:g} seconds and was ended",
        next_step="ask for less at once, or try again when the machine is less busy",
    )
