"""A command on a terminal of its own: what it shows, and keys typed when something is shown."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from warm_start import warm_children

_PATIENCE = 240.0


class Terminal:
    """Runs `astra WORDS` with a controlling terminal; `wait_for` is how tests keep in step."""

    def __init__(
        self,
        *words: str,
        environment: Mapping[str, str],
        folder: Path,
        rows: int = 24,
        columns: int = 80,
    ) -> None:
        self.shown = ""
        self._looked_at = 0
        self._command = warm_children("astra.interfaces.cli.main", *words)
        self._environment = {"TERM": "xterm", **environment}
        self._folder = folder
        self._size = struct.pack("HHHH", rows, columns, 0, 0)

    def __enter__(self) -> Self:
        ready, tell = os.pipe()
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            self._become_command(ready)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, self._size)
        os.write(tell, b"x")
        os.close(ready)
        os.close(tell)
        return self

    def _become_command(self, ready: int) -> None:
        os.read(ready, 1)
        os.chdir(self._folder)
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)  # also where these tests run in the background
        os.execve(self._command[0], self._command, self._environment)

    def wait_for(self, text: str) -> str:
        """Wait until a text is shown behind what was waited for before; gives what led to it."""
        while (end := self.shown.find(text, self._looked_at)) < 0:
            assert self._read(), f"it ended without {text!r}:\n{self.shown}"
        start, self._looked_at = self._looked_at, end + len(text)
        return self.shown[start : self._looked_at]

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def wait_until_over(self) -> int:
        """Read to the end, and give the exit code."""
        while self._read():
            pass
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    @property
    def text(self) -> str:
        """What was shown, without what only moves and colours."""
        return re.sub(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>])", "", self.shown)

    def _read(self) -> bool:
        assert select.select([self._master], [], [], _PATIENCE)[0], self.shown
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # Linux says so when the last process on the terminal is gone
            return False
        self.shown += piece.decode(errors="replace")
        return bool(piece)

    def __exit__(self, *_error: object) -> None:
        os.close(self._master)
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
