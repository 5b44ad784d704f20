"""What the app prints, in `logs/app.log` with a cap; the part before it in `logs/app.log.1`."""

import contextlib
import threading
from pathlib import Path

LARGEST = 8 * 1024 * 1024
STARTING = "astra: starting "


def holder_log_path(data_root: Path) -> Path:
    """Name the log of the holders themselves, which is turned over like the daemon's."""
    return data_root / "logs" / "holder.log"


def app_log_path(data_root: Path, holder: str) -> Path:
    """Name the log of a holder's app: the one that serves, or the one that rehearses."""
    return data_root / "logs" / ("app.log" if holder == "holder" else f"{holder}.log")


class AppLog:
    """Never fails its writer: a full disk costs lines, not the app."""

    def __init__(self, path: Path, *, largest: int = LARGEST) -> None:
        self._path = path
        self._largest = largest
        self._lock = threading.Lock()

    def write(self, data: bytes) -> None:
        if not data:
            return
        with self._lock, contextlib.suppress(OSError):
            self._make_room(len(data))
            with self._path.open("ab") as file:
                file.write(data[-self._largest :])

    def _make_room(self, count: int) -> None:
        with contextlib.suppress(FileNotFoundError):
            if self._path.stat().st_size + count > self._largest:
                self._path.replace(self._path.with_name(self._path.name + ".1"))

    def tail(self, most: int = 4000) -> str:
        try:
            with self._path.open("rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - most))
                return file.read(most).decode("utf-8", "replace")
        except OSError:
            return ""
