"""Token files below `var/approvals`: one a schedule in `pending`, and the log of used ones."""

import os
from pathlib import Path

from astra.trusted.kernel.private_files import write_private

_LARGEST = 64_000


class TokenFiles:
    def __init__(self, folder: Path) -> None:
        self._pending = folder / "pending"
        self._log = folder / "approved.ndjson"

    def read(self, schedule_id: str) -> str | None:
        """Give what the file says; what is no plain file of ours is an empty token."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(self._locate_token(schedule_id), flags)
        except FileNotFoundError:
            return None
        except OSError:
            return ""
        try:
            return os.read(descriptor, _LARGEST).decode(errors="replace")
        except OSError:
            return ""
        finally:
            os.close(descriptor)

    def write(self, schedule_id: str, text: str) -> None:
        self._pending.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(self._locate_token(schedule_id), text.encode())

    def remove(self, schedule_id: str) -> None:
        self._locate_token(schedule_id).unlink(missing_ok=True)

    def list_pending(self) -> list[str]:
        return sorted(path.stem for path in self._pending.glob("sch_*.token"))

    def log(self, line: str) -> None:
        self._log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(self._log, flags, 0o600)
        try:
            os.write(descriptor, line.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def read_log(self) -> str:
        try:
            return self._log.read_text()
        except FileNotFoundError:
            return ""

    def _locate_token(self, schedule_id: str) -> Path:
        return self._pending / f"{schedule_id}.token"
