"""The chain of a data root in its files, read without lock and without a daemon."""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.file_ledger import archived, opening, segments
from astra.trusted.kernel.errors import LedgerArchived, LedgerDamaged
from astra.trusted.ledger.record import Head


@dataclass(frozen=True)
class ChainFiles:
    folder: Path
    archive: Path | None = None
    """Where archived months are, if not where they were put."""

    def read_lines(self, *, after: int = 0) -> Iterator[str]:
        return segments.lines(self.folder, after=after, archive=self.archive)

    def read_segments(self) -> Iterator[tuple[str, Iterable[bytes]]]:
        """Give each month's lines; of one whose archive is not there, what is left of it."""
        for segment in segments.segments(self.folder):
            try:
                file = segments.open_segment(self.folder, segment, self.archive)
            except (LedgerArchived, LedgerDamaged):
                name = archived.remainder_name(segment.month)
                yield name, _unpack_lines(archived.read_lines(self.folder / name))
                continue
            with file:
                if isinstance(file, gzip.GzipFile):
                    yield f"{segment.month}.ndjson.gz", _unpack_lines(file)
                else:
                    yield segment.name, file

    def read_end(self) -> Head:
        return opening.read_end(self.folder)[0]


def _unpack_lines(file: Iterable[bytes]) -> Iterator[bytes]:
    try:
        yield from file
    except (EOFError, gzip.BadGzipFile, zlib.error, LedgerArchived, LedgerDamaged):
        yield b"this compressed month cannot be unpacked\n"
