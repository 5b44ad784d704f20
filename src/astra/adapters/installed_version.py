"""Builds the index of a version that was installed while this one serves.

A version whose tables are others needs an index of its own, and with a long history that takes
minutes. An installer replaces the files that this process was started from. So those that shape the
tables are looked at now and then. When they are others than at the start, and rest, the command of
the new version builds its index beside the one in use, in a process of its own; this one serves on,
and the restart finds the index. It is the old code that reads the old index, always.

A version that is installed beside this one is not seen; there, `astra ledger rebuild --ahead` is
run by hand.
"""

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from astra.trusted.kernel.errors import IndexUnavailable

WORTH_IT = 100_000
"""Records; an index of fewer is built within seconds of a start."""
_NICENESS = 10
_log = logging.getLogger(__name__)
Stamp = tuple[tuple[int, int, int], ...]


class InstalledVersion:
    def __init__(
        self,
        data_root: Path,
        sources: Sequence[Path],
        *,
        count_records: Callable[[], int],
        worth_it: int = WORTH_IT,
    ) -> None:
        self._command = [sys.executable, "-I", "-m", "astra.interfaces.cli.main"]
        self._command += ["ledger", "rebuild", "--ahead", "--json", "--data-root", str(data_root)]
        self._sources = sources
        self._count_records, self._worth_it = count_records, worth_it
        self._seen = self._settled = self._read_stamp()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._is_leaving = False
        self.state = ""
        """What to tell whoever asks for the status, or nothing."""

    def look(self) -> None:
        """Build the other version's index once its files have stayed the same between two looks."""
        stamp = self._read_stamp()
        if stamp == self._settled:
            return
        if stamp != self._seen:  # an installer may be at work
            self._seen = stamp
            return
        if self._count_records() >= self._worth_it:
            self._build()
        self._settled = stamp

    def leave(self) -> None:
        with self._lock:
            self._is_leaving = True
            if self._process:
                self._process.kill()

    def _build(self) -> None:
        self.state = "another version is installed, and its index is being built: restart later"
        _log.info(self.state)
        process = self._start()
        if process is None:
            return
        _answer, errors = process.communicate()
        if self._is_leaving:
            return
        if process.returncode != 0:
            self.state = "another version is installed, and its index could not be built"
            raise IndexUnavailable(
                f"{self.state}: {errors.strip()[-300:]}", next_step="astra ledger rebuild --ahead"
            )
        self.state = "another version is installed, and its index is built: restart to use it"
        _log.info(self.state)

    def _start(self) -> "subprocess.Popen[str] | None":
        with self._lock:
            if self._is_leaving:
                return None
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd="/",
            )
            os.setpriority(os.PRIO_PROCESS, self._process.pid, _NICENESS)
            return self._process

    def _read_stamp(self) -> Stamp:
        return tuple(_stamp_file(path) for path in self._sources)


def _stamp_file(path: Path) -> tuple[int, int, int]:
    try:
        facts = path.stat()
    except OSError:
        return 0, 0, 0
    return facts.st_ino, facts.st_mtime_ns, facts.st_size
