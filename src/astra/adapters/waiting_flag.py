"""`deployments/human_approval_required.flag`: the changes to tests that wait for a person.

An export of the ledger, for people and scripts that look at files; deleting or editing it decides
nothing, and the next step of any change writes it anew.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.kernel.private_files import write_private

NAME = "human_approval_required.flag"


@dataclass(frozen=True)
class WaitingFlagFile:
    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / NAME

    def write(self, change_ids: Sequence[str]) -> None:
        """Bring the file up to date; on a full disk it waits for the next step of any change."""
        with contextlib.suppress(OSError):
            self._write_or_remove(change_ids)

    def _write_or_remove(self, change_ids: Sequence[str]) -> None:
        if not change_ids:
            self.path.unlink(missing_ok=True)
            return
        write_private(self.path, "".join(f"{name}\n" for name in change_ids).encode())
        self.path.chmod(0o644)
