"""Checking a backup where it lies: every piece against its name, every file, and the chain in it.

Done when a backup is made, before it counts, and by `astra backup verify`. Putting one in place
checks the same while it copies, and asks the witness too. The chain is verified from the pieces
themselves; nothing is unpacked to a disk.
"""

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, cast

from astra.adapters.backups.folder import BackupFolder
from astra.adapters.backups.manifest import Entry, Manifest, damaged_backup
from astra.trusted.kernel.errors import LedgerDamaged
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import chain, checkpoint
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.segments import order_segments
from astra.trusted.ledger.verification import Report, verify

_CHAIN, _CHECKPOINTS = "var/ledger/", "var/checkpoints/checkpoints.ndjson"
_KEY = "var/keys/ledger.key"


def check_backup(folder: BackupFolder, manifest: Manifest) -> Report:
    """Read every byte of a backup, and verify its chain up to the record that it names."""
    for entry in manifest.files:
        for _ in folder.read_content(entry):
            pass
    report = check_chain(folder, manifest.entries)
    refuse_damaged_chain(report, next_step="use another backup")
    if (report.records, report.head) != (manifest.sequence, manifest.hash):
        raise damaged_backup("its chain ends at another record than its manifest says")
    return report


def check_pieces(folder: BackupFolder, names: Iterable[str]) -> None:
    """Read pieces back, each of which raises if it is not what its name says."""
    for name in names:
        folder.read_piece(name)


def check_chain(folder: BackupFolder, entries: Sequence[Entry]) -> Report:
    backup = _BackupFiles(folder, {entry.path: entry for entry in entries if entry.kind == "file"})
    with backup.open(_CHECKPOINTS) as file:
        points = list(_read_checkpoints(file))
    return verify(backup.read_segments, checkpoints=points, public_key=_find_public_key(backup))


def refuse_damaged_chain(report: Report, *, next_step: str) -> None:
    if report.problems:
        raise LedgerDamaged(
            f"the chain in this backup is not as it was written: {report.problems[0].detail}",
            next_step=next_step,
        )


@dataclass(frozen=True)
class _BackupFiles:
    folder: BackupFolder
    entries: dict[str, Entry]

    def open(self, path: str) -> IO[bytes]:
        entry = self.entries.get(path)
        if entry is None:
            raise damaged_backup(f"{path!a} is missing")
        return io.BufferedReader(_PieceReader(self.folder.read_content(entry)))

    def read_segments(self) -> Iterator[tuple[str, Iterable[bytes]]]:
        """Give each segment of the chain and its raw lines."""
        names = [path.removeprefix(_CHAIN) for path in self.entries if path.startswith(_CHAIN)]
        for segment in order_segments(names):
            with self.open(f"{_CHAIN}{segment.name}") as file:
                yield segment.name, _unpack_lines(file) if segment.compressed else file


class _PieceReader(io.RawIOBase):
    """The pieces of a file as one stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._waiting = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._waiting:
            self._waiting = memoryview(next(self._pieces, b""))
        count = min(len(buffer), len(self._waiting))
        buffer[:count] = self._waiting[:count]
        self._waiting = self._waiting[count:]
        return count


def _unpack_lines(file: IO[bytes]) -> Iterator[bytes]:
    try:
        yield from cast("Iterable[bytes]", gzip.GzipFile(fileobj=file, mode="rb"))
    except (EOFError, gzip.BadGzipFile, zlib.error):
        yield b"this compressed month cannot be unpacked\n"


def _read_checkpoints(file: Iterable[bytes]) -> Iterator[tuple[int, Checkpoint | None]]:
    for number, raw in enumerate(file, start=1):
        yield number, checkpoint.parse(raw.decode(errors="replace"))


def _find_public_key(backup: _BackupFiles) -> str:
    """Give the key that the chain's checkpoints are signed with: its first record names it."""
    for name, lines in backup.read_segments():
        for raw in islice(lines, int(name.endswith(".remainder.gz")), None):  # behind its header
            if public_key := chain.parse(raw.decode(errors="replace").rstrip("\n")).data.get(
                "ledger_key"
            ):
                return str(public_key)
            break
        break
    with backup.open(_KEY) as file:
        try:
            return KeyPair.from_seed(bytes.fromhex(file.read().decode())).public
        except ValueError:
            raise damaged_backup("its ledger's key is not a key") from None
