"""Connections into the network of a confined app, made from inside by a small program.

The app listens on its own loopback, which nothing outside can reach. A program from Astra's own
files enters that network before the app starts and passes connected sockets out. Nothing passes in.
"""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path

_SECONDS = 5.0


class Dialler:
    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._turn = threading.Lock()

    @staticmethod
    @contextlib.contextmanager
    def start_inside(pid: int, port: int) -> Generator["Dialler", None, None]:
        """Bring a dialler up in the network of a process, for as long as the context lasts."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        namespace = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        command = [sys.executable, "-I", "-S", "-B", str(Path(__file__).with_name("_dial.py"))]
        facts = [str(theirs.fileno()), str(namespace), str(port)]
        with (
            ours,
            theirs,
            subprocess.Popen(
                [*command, *facts],
                env={},
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), namespace),
            ) as program,
        ):
            os.close(namespace)
            theirs.close()
            ours.settimeout(_SECONDS)
            try:
                yield Dialler(ours)
            finally:
                ours.close()
                program.kill()

    def connect(self) -> socket.socket:
        """Connect to the app; raises OSError when it does not listen, or is gone."""
        with self._turn:
            self._channel.send(b".")
            answer, handles, _flags, _address = socket.recv_fds(self._channel, 1, 1)
        if answer != b"+" or not handles:
            raise ConnectionRefusedError("the app does not listen yet")
        os.set_inheritable(handles[0], False)  # noqa: FBT003 - the call has no name for it
        return socket.socket(fileno=handles[0])
