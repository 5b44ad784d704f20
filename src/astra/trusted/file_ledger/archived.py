"""Archived months on disk: what stayed here (the remainder), and the file in the archive.

The archive may be written by others. So a file there is believed by its signed digest alone, which
is compared before the first line is given, and again over the bytes that were really read.
"""

import errno
import gzip
import hashlib
import os
import stat
import zlib
from collections.abc import Generator, Iterable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import BinaryIO, cast

from astra.trusted.kernel.errors import LedgerArchived, LedgerDamaged
from astra.trusted.kernel.private_files import sync_folder
from astra.trusted.ledger import remainder
from astra.trusted.ledger.remainder import Month

_BLOCK = 1 << 16
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
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
    """Open the lines of the file that a remainder stands for, if it is the one that was archived.

    Raises `LedgerArchived` otherwise, also at the end of a file that changed while it was read.
    """
    month = read_month(path)
    return cast("BinaryIO", _CheckedGzip(_open_whole_file(month, archive), month))


def open_whole_file(chain: Path, name: str) -> tuple[str, BinaryIO]:
    """Open all of a finished month: as it is here or in the archive, else what is left of it."""
    with suppress(FileNotFoundError):
        return f"{name}.ndjson.gz", (chain / f"{name}.ndjson.gz").open("rb")
    remainder_path = chain / remainder_name(name)
    month = read_month(remainder_path)
    try:
        return month.file_name, _open_whole_file(month)
    except LedgerArchived:
        return remainder_path.name, remainder_path.open("rb")


def open_regular(path: Path, flags: int = 0) -> BinaryIO:
    """Open a file to read it; a pipe or a device, which could be waited for, is an error."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    file = os.fdopen(descriptor, "rb")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a file")
    return file


def digest_file(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def write_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file whole or not at all, and make it durable."""
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    try:
        descriptor = os.open(temporary, _CREATE, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(descriptor)
        temporary.rename(path)
    except OSError:
        temporary.unlink(missing_ok=True)  # a full disk gets its room back
        raise
    sync_folder(path.parent)


def _open_whole_file(month: Month, archive: Path | None = None) -> BinaryIO:
    place = (archive or Path(month.folder)) / month.file_name
    with ExitStack() as opened:
        try:
            file = opened.enter_context(open_regular(place))
            digest = digest_file(file)
            file.seek(0)
        except OSError as error:
            raise _build_error(month, f"{place} cannot be read: {error.strerror}") from None
        if digest != month.sha256:
            raise _build_error(month, f"{place} is not the file that was archived")
        opened.pop_all()
        return file


class _CheckedFile:
    """A file whose bytes are hashed as they are read, and compared where it ends."""

    def __init__(self, file: BinaryIO, month: Month) -> None:
        self._file, self._month = file, month
        self._digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self._digest.update(block)
        if not block and self._digest.hexdigest() != self._month.sha256:
            raise _build_error(self._month, f"{self._month.file_name} changed while it was read")
        return block

    def close(self) -> None:
        self._file.close()


class _CheckedGzip(gzip.GzipFile):
    """Compressed lines that close the file they are read from."""

    def __init__(self, file: BinaryIO, month: Month) -> None:
        self._owned = _CheckedFile(file, month)
        super().__init__(fileobj=cast("BinaryIO", self._owned), mode="rb")

    def close(self) -> None:
        super().close()
        self._owned.close()


def _build_error(month: Month, why: str) -> LedgerArchived:
    return LedgerArchived(
        f"records {month.first} to {month.last} ({month.month}) were archived: {why}",
        next_step=_PUT_BACK,
    )
