"""Opening a ledger: find its end, hear its witnesses, set aside what a crash left behind.

Nothing is repaired before the witnesses (the index and the newest checkpoint) have agreed that the
chain still holds what they remember: where somebody cut it, opening refuses and changes nothing.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from astra.trusted.file_ledger import checkpoints, segments, sqlite_index
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.file_ledger.segments import Tail
from astra.trusted.file_ledger.sqlite_index import IndexCorrupt, SqliteIndex
from astra.trusted.kernel.errors import LedgerDamaged
from astra.trusted.kernel.private_files import sync_folder
from astra.trusted.ledger import checkpoint
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.projection import Projection
from astra.trusted.ledger.record import EMPTY, Event, Head, Record
from astra.trusted.policy import restoring
from astra.trusted.policy.restoring import Hold

_SOUNDNESS_LIMIT = 64 << 20


def read_end(chain: Path) -> tuple[Head, list[tuple[Path, Tail]]]:
    """Find the last good record, and the torn ends of the segments behind it."""
    torn: list[tuple[Path, Tail]] = []
    for segment in reversed(segments.segments(chain)):
        tail = segments.read_tail(chain, segment)
        if tail.rest:
            torn.append((chain / segment.name, tail))
        if tail.last:
            return Head(tail.last.sequence, tail.last.hash, tail.last.time), torn
    return EMPTY, torn


def open_index(folder: Path, projections: Sequence[Projection]) -> SqliteIndex:
    """Open the newest index; a damaged one makes room for a new one."""
    for unfinished in (*folder.glob("building-*"), *folder.glob("check-*")):
        unfinished.unlink()
    path, generation = sqlite_index.find_newest(folder, projections)
    try:
        index = SqliteIndex(path, projections)
        if path.stat().st_size > _SOUNDNESS_LIMIT or index.is_sound():
            return index
        index.close()
    except IndexCorrupt:
        pass
    sqlite_index.remove(path)
    return SqliteIndex(
        folder / sqlite_index.index_file_name(projections, generation + 1), projections
    )


def refuse_if_cut(places: LedgerPlaces, head: Head, index: SqliteIndex) -> None:
    """Raise the alarm where the index or a checkpoint remembers what the chain does not hold."""
    witnesses = [("index", *index.position())]
    if point := checkpoints.newest(places.checkpoints):
        witnesses.append(("newest checkpoint", point.sequence, point.hash))
    for name, sequence, digest in witnesses:
        if sequence and _hash_at(places.chain, sequence, head) != digest:
            raise LedgerDamaged(
                f"the {name} knows record {sequence}, and the chain, which ends at record"
                f" {head.sequence}, does not hold it: records were cut off or rewritten",
                code="ledger_cut",
                next_step="if this is a copy of a data root whose daemon was running, copy it with"
                " `astra backup`, or after `astra down`; if not, run `astra ledger verify`, then"
                " `astra restore BACKUP`",
                sequence=sequence,
            )


def signed_checkpoint(places: LedgerPlaces, public_key: str) -> Checkpoint | None:
    """Give the newest checkpoint that the ledger's own key signed."""
    points = reversed(checkpoints.recent(places.checkpoints))
    return next((point for point in points if checkpoint.is_signed_by(point, public_key)), None)


def missing_checkpoint(first: Record | None, head: Head) -> Iterator[Hold]:
    """Give an alarm for a chain that must have had a checkpoint and has none.

    The first records are acknowledged after their checkpoint, so only a chain that ends with its
    first batch can be without one.
    """
    if first and head.sequence > first.batch[1]:
        detail = (
            f"the chain has {head.sequence} records and no checkpoint: whether records were cut"
            " off cannot be told"
        )
        yield Hold(reason=restoring.NO_CHECKPOINT, detail=detail)


def set_aside(places: LedgerPlaces, path: Path, tail: Tail) -> None:
    """Move a torn end out of the chain: first its copy is safe, then the chain is cut."""
    copy = places.set_aside / f"{path.name}-{tail.good_bytes}-{tail.reason}.bin"
    with copy.open("wb") as file:
        file.write(tail.rest)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(places.set_aside)
    with path.open("r+b") as file:
        file.truncate(tail.good_bytes)
        os.fsync(file.fileno())


def list_untold_tails(places: LedgerPlaces, index: SqliteIndex) -> Iterator[Event]:
    """Give an event for each torn end that the chain does not tell of yet.

    A crash may come between setting aside and recording it, so the files are the memory.
    """
    for copy in sorted(places.set_aside.glob("*.bin")):
        content = copy.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        key = f"set-aside:{copy.name}:{digest[:16]}"
        if not index.query("SELECT 1 FROM unique_key WHERE key = ?", (key,)):
            data = {"file": copy.name, "bytes": len(content), "sha256": digest}
            yield Event(type="ledger_tail_set_aside", actor="daemon", data=data, key=key)


def forgive_full_disk(write_checkpoint: Callable[[], None]) -> None:
    """Write a last checkpoint; on a full disk the one before it holds."""
    with contextlib.suppress(OSError):
        write_checkpoint()


def _hash_at(chain: Path, sequence: int, head: Head) -> str:
    if sequence == head.sequence:
        return head.hash
    if sequence > head.sequence:
        return ""
    record = next(segments.records(chain, after=sequence - 1), None)
    return record.hash if record and record.sequence == sequence else ""
