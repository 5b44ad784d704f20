"""Archived months on disk: what stayed here (the remainder), and the file in the archive."""

import gzip
import hashlib
import os
import zlib
from collections.abc import Generator, Iterable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, cast

from astra.trusted.kernel.errors import LedgerArchived, LedgerDamaged
from astra.trusted.ledger import remainder
from astra.trusted.ledger.remainder import Month

_BLOCK = 1 << 16
_PUT_BACK = "mount the archive, or copy the month back into var/ledger, then try again"


def remainder_name(month: str) -> str:
    return f"{month}.remainder.gz"


def read_lines(path: Path) -> Generator[bytes]:
    """Give the lines of a remainder, the header first."""
    try:
        with gzip.open(path, "rb") as file:
            yield from cast("Iterable[bytes]", file)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise LedgerDamaged(
            f"{path.name} cannot be unpacked", next_step="put it back from a backup"
        ) from None


def read_month(path: Path) -> Month:
    with closing(read_lines(path)) as lines:
        return remainder.read_header(next(lines, b""))


def open_archived(path: Path, archive: Path | None = None) -> BinaryIO:
    """Open the file that a remainder stands for, if it is the one that was archived."""
    month = read_month(path)
    place = (archive or Path(month.folder)) / month.file_name
    try:
        file = place.open("rb")
    except OSError as error:
        raise _build_error(month, f"{place} cannot be read: {error.strerror}") from None
    if digest_file(file) != month.sha256:
        file.close()
        raise _build_error(month, f"{place} is not the file that was archived")
    file.seek(0)
    return cast("BinaryIO", _OwnedGzip(file))


def find_whole_file(chain: Path, name: str) -> Path:
    """Name the file with all of a finished month: here or in the archive, else what is left."""
    whole_path, remainder_path = chain / f"{name}.ndjson.gz", chain / remainder_name(name)
    if whole_path.exists() or not remainder_path.exists():
        return whole_path
    try:
        open_archived(remainder_path).close()
    except LedgerArchived:
        return remainder_path
    month = read_month(remainder_path)
    return Path(month.folder) / month.file_name


def digest_file(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def write_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file whole or not at all, and make it durable."""
    temporary = path.with_name(f"{path.name}.tmp")
    with temporary.open("wb") as file:
        file.writelines(chunks)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _OwnedGzip(gzip.GzipFile):
    """Compressed lines that close the file they are read from."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(fileobj=file, mode="rb")
        self._owned = file

    def close(self) -> None:
        super().close()
        self._owned.close()


def _build_error(month: Month, why: str) -> LedgerArchived:
    return LedgerArchived(
        f"records {month.first} to {month.last} ({month.month}) were archived: {why}",
        next_step=_PUT_BACK,
    )
