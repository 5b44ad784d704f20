"""Segments on disk: reading them in every form, finding the end of the chain, compressing months.

An archived month is read from the archive, if that is there and holds the file that was archived.

Readers never repair anything and ignore an unterminated last line: a writer may be in the middle of
it. `Tail` describes what the end of a segment looks like; deciding what to do about it is the lock
holder's business.
"""

import gzip
import hashlib
import mmap
import os
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from astra.trusted.file_ledger import archived
from astra.trusted.kernel.errors import LedgerDamaged
from astra.trusted.kernel.private_files import sync_folder
from astra.trusted.ledger import chain
from astra.trusted.ledger.record import Record
from astra.trusted.ledger.segments import Segment, order_segments

_BLOCK = 1 << 16


@dataclass(frozen=True)
class Tail:
    """The end of a segment: its last good record, and where what follows it starts."""

    last: Record | None
    good_bytes: int
    rest: bytes
    reason: str


def segments(folder: Path) -> list[Segment]:
    return order_segments(path.name for path in folder.iterdir())


def open_segment(folder: Path, segment: Segment, archive: Path | None = None) -> BinaryIO:
    """Open the lines of a month, whichever form it has by now.

    It may be compressed, or archived, between listing and opening. Raises `LedgerArchived` where
    it is in an archive that is not there; `archive` is where to look instead of where it was put.
    """
    with suppress(FileNotFoundError):
        if not segment.compressed:
            return (folder / segment.name).open("rb")
    with suppress(FileNotFoundError):
        return cast("BinaryIO", gzip.open(folder / f"{segment.month}.ndjson.gz", "rb"))
    return archived.open_archived(folder / archived.remainder_name(segment.month), archive)


def lines(folder: Path, *, after: int = 0, archive: Path | None = None) -> Iterator[str]:
    """Give the complete lines of the chain whose sequence is behind `after`."""
    for segment in _list_segments_after(folder, after):
        with open_segment(folder, segment, archive) as file:
            if not isinstance(file, gzip.GzipFile):  # there, any place can be gone to
                _seek_line(file, after)
            for raw in file:
                if raw.endswith(b"\n") and sequence_of(raw) > after:
                    yield raw[:-1].decode()


def first_line(folder: Path) -> str | None:
    """Give the first record's line; of an archived month, it stays here."""
    for segment in segments(folder):
        if not segment.archived:
            break
        with closing(archived.read_lines(folder / segment.name)) as stayed:
            _header, line = next(stayed, b""), next(stayed, b"")
            return line[:-1].decode() or None
    return next(lines(folder), None)


def records(folder: Path, *, after: int = 0) -> Iterator[Record]:
    return map(chain.parse, lines(folder, after=after))


def read_tail(folder: Path, segment: Segment) -> Tail:
    """Look at the end of a segment without changing it.

    A crash leaves bytes without a newline or a batch with members missing; a power cut can leave a
    complete line whose bytes are not what was written. All three are told apart in `reason`.
    """
    if segment.compressed:
        return Tail(_last_of_compressed(folder, segment), 0, b"", "")
    path = folder / segment.name
    size = path.stat().st_size
    if size == 0:
        return Tail(None, 0, b"", "")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = data.rfind(b"\n") + 1
        reasons = ["torn_line"] if end < size else []
        last: Record | None = None
        while end and last is None:
            raw = data[data.rfind(b"\n", 0, end - 1) + 1 : end]
            record = chain.parse(raw[:-1].decode()) if chain.is_intact(raw) else None
            if record and chain.completes_batch(record):
                last = record
            else:
                reasons.append("incomplete_batch" if record else "damaged_line")
                end = _step_back_lines(
                    data, end, record.sequence - record.batch[0] + 1 if record else 1
                )
        return Tail(last, end, data[end:], "+".join(dict.fromkeys(reasons)))


def compress(folder: Path, segment: Segment) -> None:
    """Turn a finished month into `.ndjson.gz`; a crash at any point leaves a complete form."""
    source = folder / segment.name
    temporary = folder / f"{segment.name}.gz.tmp"
    before = hashlib.sha256()
    with source.open("rb") as plain, temporary.open("wb") as raw:
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
            while block := plain.read(_BLOCK):
                before.update(block)
                packed.write(block)
        raw.flush()
        os.fsync(raw.fileno())
    if _digest_unpacked(temporary) != before.hexdigest():
        temporary.unlink()
        raise LedgerDamaged(
            f"{segment.name} did not survive compression", next_step="check the disk"
        )
    temporary.rename(folder / f"{segment.name}.gz")
    sync_folder(folder)
    source.unlink()
    sync_folder(folder)


def _last_of_compressed(folder: Path, segment: Segment) -> Record | None:
    raw = b""
    with open_segment(folder, segment) as file:
        for raw in file:  # noqa: B007 - the last one is wanted
            pass
    return chain.parse(raw[:-1].decode()) if raw else None


def _step_back_lines(data: mmap.mmap, end: int, count: int) -> int:
    """Step back over `count` lines."""
    for _ in range(count):
        end = data.rfind(b"\n", 0, max(end - 1, 0)) + 1
    return end


def _list_segments_after(folder: Path, after: int) -> list[Segment]:
    """Leave out the segments that end before the wanted sequence."""
    all_segments = segments(folder)
    for position in range(len(all_segments) - 1, 0, -1):
        first = _first_sequence(folder, all_segments[position])
        if first is not None and first <= after + 1:
            return all_segments[position:]
    return all_segments


def _first_sequence(folder: Path, segment: Segment) -> int | None:
    if segment.archived:
        return archived.read_month(folder / segment.name).first
    with open_segment(folder, segment) as file:
        first = file.readline()
    return sequence_of(first) if first.endswith(b"\n") else None


def _seek_line(file: BinaryIO, after: int) -> None:
    """Go to the start of a line that is at or before the one behind `after`, by halving.

    Sequences grow along a segment. Where a line is damaged the search stays in front of it, and
    whoever reads on from there meets it.
    """
    low, high = 0, file.seek(0, os.SEEK_END) if after else 0
    while high - low > _BLOCK:
        middle = (low + high) // 2
        file.seek(middle)
        file.readline()
        start, raw = file.tell(), file.readline()
        if raw.endswith(b"\n") and _may_pass(raw, after):
            low = start
        else:
            high = middle
    file.seek(low)


def _may_pass(raw: bytes, after: int) -> bool:
    """Tell whether a line is one of those that may be passed over."""
    try:
        return sequence_of(raw) <= after
    except LedgerDamaged:
        return False


def sequence_of(raw: bytes) -> int:
    """Read the number of a record from its line."""
    try:
        return int(raw[len(b'{"sequence":') : raw.index(b",")])
    except ValueError:
        raise LedgerDamaged(
            "a line of the ledger does not start with its sequence",
            next_step="astra ledger verify",
        ) from None


def _digest_unpacked(path: Path) -> str:
    digest = hashlib.sha256()
    with gzip.open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
