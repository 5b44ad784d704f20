"""Makes a listening socket inside the network namespace of a box and brings it out.

The box gets a service on its own loopback, the host gets the descriptor, and no socket of the host
enters the box. As root a thread steps into the namespace; as an ordinary user a small program does
(only a process with one thread may enter a user namespace) and passes the socket over SCM_RIGHTS.
The program runs on the host, from Astra's own files, before the command of the box has started.
"""

import array
import fcntl
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from astra.trusted.sandbox import syscalls
from astra.trusted.sandbox._listen import open_listener
from astra.trusted.sandbox.machine import SandboxUnavailable

_SECONDS = 10


def listen_inside(pid: int, ports: tuple[int, ...], *, as_root: bool) -> list[socket.socket]:
    namespace = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        listeners = _by_thread(namespace, ports) if as_root else _by_program(namespace, ports)
    finally:
        os.close(namespace)
    if len(listeners) != len(ports):
        raise SandboxUnavailable(
            "the box's network namespace could not be entered, so it would have no proxy",
            next_step="run astra doctor",
        )
    return listeners


def _by_thread(namespace: int, ports: tuple[int, ...]) -> list[socket.socket]:
    listeners: list[socket.socket] = []

    def step_in() -> None:
        syscalls.enter(namespace, syscalls.NEW_NETWORK)
        listeners.extend(open_listener(port) for port in ports)

    thread = threading.Thread(target=step_in, name="box-listener")
    thread.start()
    thread.join()
    return listeners


def _by_program(namespace: int, ports: tuple[int, ...]) -> list[socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    command = [sys.executable, "-I", "-S", "-B", str(Path(__file__).with_name("_listen.py"))]
    facts = [str(theirs.fileno()), str(namespace), *map(str, ports)]
    with ours, theirs:
        ours.settimeout(_SECONDS)
        with subprocess.Popen(
            [*command, *facts],
            env={},
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(), namespace),
        ) as program:
            theirs.close()
            received = array.array("i")
            _data, ancillary, _flags, _address = ours.recvmsg(
                1, socket.CMSG_SPACE(len(ports) * received.itemsize)
            )
            for _level, _kind, body in ancillary:
                received.frombytes(body[: len(body) - len(body) % received.itemsize])
            program.wait(_SECONDS)
    return [_socket_from_descriptor(descriptor) for descriptor in received]


def _socket_from_descriptor(descriptor: int) -> socket.socket:
    fcntl.fcntl(descriptor, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    return socket.socket(fileno=descriptor)
