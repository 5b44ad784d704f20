"""The file that the chain grows in: the segment of this month, open for appending.

What failed leaves no trace: a write that did not fit is cut off again. Where even that is not
possible, or a sync fails and nobody knows what was kept, it is `broken` from then on.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from astra.trusted.file_ledger import segments
from astra.trusted.file_ledger.trouble import unavailable_error
from astra.trusted.kernel.private_files import sync_folder
from astra.trusted.ledger.record import Record
from astra.trusted.ledger.segments import segment_name

if TYPE_CHECKING:
    from astra.trusted.kernel.errors import LedgerUnavailable


class Tail:
    """The caller sees to it that one thread at a time writes."""

    def __init__(self, folder: Path, *, entered: Callable[[], None]) -> None:
        """Open nothing yet; `entered` is told whenever another segment is begun."""
        self._folder, self._entered = folder, entered
        self._segment, self._size, self._descriptor = "", 0, -1
        self.broken: LedgerUnavailable | None = None

    @property
    def is_open(self) -> bool:
        return self._descriptor >= 0

    def write(self, records: Sequence[Record]) -> None:
        data = "".join(f"{record.line}\n" for record in records).encode()
        try:
            self._enter_segment(
                segment_name(records[0].time, last=self._segment or self._find_last_segment())
            )
            self._write_all(data)
        except OSError as error:
            self._cut_back(error)
            raise unavailable_error(error) from error
        self._size += len(data)

    def sync(self) -> None:
        """Make everything written so far durable."""
        try:
            os.fdatasync(self._descriptor)
        except OSError as error:
            self.broken = unavailable_error(error, uncertain=True)
            raise self.broken from error

    def close(self) -> None:
        os.close(self._descriptor)
        self._descriptor, self._segment = -1, ""

    def _write_all(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def _cut_back(self, cause: OSError) -> None:
        """Remove what a failed write left behind, or refuse everything from here on."""
        try:
            if self.is_open:
                os.ftruncate(self._descriptor, self._size)
        except OSError:
            self.broken = unavailable_error(cause, uncertain=True)

    def _find_last_segment(self) -> str:
        """Name the segment that the chain ends in; one whose end was set aside may be empty."""
        for segment in reversed(segments.segments(self._folder)):
            if segment.compressed or (self._folder / segment.name).stat().st_size:
                return segment_name(segment.month)
        return ""

    def _enter_segment(self, name: str) -> None:
        if name == self._segment:
            return
        if self.is_open:
            os.fdatasync(self._descriptor)
            self.close()
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._descriptor = os.open(self._folder / name, flags, 0o600)
        self._segment, self._size = name, os.fstat(self._descriptor).st_size
        sync_folder(self._folder)
        self._entered()
