"""The chain of a data root in its files, read without lock and without a daemon."""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.file_ledger import opening, segments
from astra.trusted.ledger.record import Head


@dataclass(frozen=True)
class ChainFiles:
    folder: Path

    def read_lines(self, *, after: int = 0) -> Iterator[str]:
        return segments.lines(self.folder, after=after)

    def read_segments(self) -> Iterator[tuple[str, Iterable[bytes]]]:
        for segment in segments.segments(self.folder):
            with segments.open_segment(self.folder, segment) as file:
                yield segment.name, _unpack_lines(file) if isinstance(file, gzip.GzipFile) else file

    def read_end(self) -> Head:
        return opening.read_end(self.folder)[0]


def _unpack_lines(file: Iterable[bytes]) -> Iterator[bytes]:
    try:
        yield from file
    except (EOFError, gzip.BadGzipFile, zlib.error):
        yield b"this compressed month cannot be unpacked\n"
