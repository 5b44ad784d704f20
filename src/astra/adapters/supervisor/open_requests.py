"""Counts what is open at an app that is about to be killed, from what the kernel knows.

A request is unanswered when the last data of its connection came in, and none went out since, or
when part of its answer still waits to be sent. An answer that pauses half-way cannot be told from
one that is finished: both count as open connections.
"""

import contextlib
import os
import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from astra.trusted.sandbox import syscalls

_PIDFD_GETFD = 438
_TCP_INFO_SIZE = 160
_ESTABLISHED = 1
_LAST_DATA_SENT, _LAST_DATA_RECEIVED = 44, 52
_NOT_SENT_BYTES, _SEGMENTS_IN, _SEGMENTS_OUT = 144, 152, 156


@dataclass(frozen=True)
class Count:
    unanswered: int = 0
    connections: int = 0


def count_open_requests(pids: Iterable[int], port: int) -> Count:
    """Count the connections to a port that these processes hold, each once."""
    answers: dict[int, bool] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            answers |= _inspect_process(pid, port)
    return Count(unanswered=sum(answers.values()), connections=len(answers))


def _inspect_process(pid: int, port: int) -> dict[int, bool]:
    """Tell by inode whether a connection of this process waits for an answer."""
    answers: dict[int, bool] = {}
    handle = os.pidfd_open(pid)
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - names are enough
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{name}").startswith("socket:"):  # noqa: PTH115
                    answers |= _inspect_socket(handle, int(name), port)
    finally:
        os.close(handle)
    return answers


def _inspect_socket(handle: int, number: int, port: int) -> dict[int, bool]:
    with socket.socket(fileno=syscalls.call(_PIDFD_GETFD, handle, number, 0)) as copied:
        if copied.family not in {socket.AF_INET, socket.AF_INET6}:
            return {}
        facts = copied.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_SIZE)
        if facts[0] != _ESTABLISHED or copied.getsockname()[1] != port:
            return {}
        return {os.fstat(copied.fileno()).st_ino: is_unanswered(facts)}


def is_unanswered(facts: bytes) -> bool:
    """Read it from `struct tcp_info`, whose times are milliseconds ago."""

    def read(offset: int) -> int:
        return int(struct.unpack_from("I", facts, offset)[0])

    if not read(_SEGMENTS_IN):
        return False
    is_newer = read(_LAST_DATA_RECEIVED) < read(_LAST_DATA_SENT)
    return is_newer or not read(_SEGMENTS_OUT) or read(_NOT_SENT_BYTES) > 0
