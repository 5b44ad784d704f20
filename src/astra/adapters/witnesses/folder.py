"""A folder as a witness: one file for each data root, which only grows.

The folder has to be there: a disk that is not mounted is a witness that cannot be reached, not a
reason to write below its mount point.
"""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.witnesses.lines import MOST_BYTES, read_lines, write_lines
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.witnessing import WitnessUnreachable

_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True, kw_only=True)
class FolderWitness:
    address: str
    root_id: str

    @property
    def path(self) -> Path:
        return Path(self.address) / f"{self.root_id}.ndjson"

    def read(self) -> Sequence[Checkpoint | None]:
        with self._translate_errors():
            self._require_folder()
            try:
                descriptor = os.open(self.path, os.O_RDONLY | _FLAGS)
            except FileNotFoundError:
                return []
            with os.fdopen(descriptor, "rb") as file:
                file.seek(max(0, os.fstat(descriptor).st_size - MOST_BYTES))
                return read_lines(file.read(MOST_BYTES))

    def publish(self, points: Sequence[Checkpoint]) -> None:
        with self._translate_errors():
            self._require_folder()
            mode = os.O_RDWR | os.O_CREAT | os.O_APPEND
            descriptor = os.open(self.path, mode | _FLAGS, 0o644)
            try:
                torn = _is_torn(descriptor)
                os.write(descriptor, (b"\n" if torn else b"") + write_lines(points))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _require_folder(self) -> None:
        if not Path(self.address).is_dir():
            raise NotADirectoryError(20, "there is no such folder", self.address)

    @contextmanager
    def _translate_errors(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise WitnessUnreachable(
                f"the witness {self.address} cannot be used: {error.strerror}",
                next_step="mount or make that folder, and let the daemon's user write there",
            ) from None


def _is_torn(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return bool(size) and os.pread(descriptor, 1, size - 1) != b"\n"
