"""The ledger on local disk: one writer, many readers.

The story of an append: callers queue up, and the first in line commits for all who wait. It
checks what each expects, chains the records, writes them in one call, syncs once, applies them to
the index, and only then does anybody get an answer. So what was acknowledged is on disk, and the
index is never ahead of the disk.

What failed leaves no trace. Where that is not possible (the disk fails, or a sync fails and nobody
knows what was kept), the ledger refuses everything until it is opened anew, and the callers hear
that the outcome is uncertain.
"""

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from astra.trusted.file_ledger import opening, segments
from astra.trusted.file_ledger.indexed import Choice, IndexedLedger, choose_none
from astra.trusted.file_ledger.owner_lock import OwnerLock
from astra.trusted.file_ledger.reserve import Reserve
from astra.trusted.file_ledger.tail import Tail
from astra.trusted.file_ledger.trouble import unavailable_error
from astra.trusted.file_ledger.turns import Pending
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.projection import CORE, Projection
from astra.trusted.ledger.record import Record


class FileLedger(IndexedLedger):
    def __init__(
        self,
        var: Path,
        *,
        projections: Sequence[Projection] = CORE,
        key: KeyPair | None = None,
        clock: Clock | None = None,
        reserve: Reserve | None = None,
        urgent: Choice = choose_none,
        harmless: Choice = choose_none,
    ) -> None:
        super().__init__(
            var,
            projections=projections,
            key=key,
            clock=clock,
            reserve=reserve,
            urgent=urgent,
            harmless=harmless,
        )
        self._compress_lock = threading.Lock()
        self._unapplied: list[Record] = []
        self._tail = Tail(self.places.chain, entered=self._keeper.compress_soon)
        try:
            self.places.make()
            self._lock = OwnerLock(self.places.lock)
        except OSError as error:
            raise unavailable_error(error) from error
        try:
            self._open_files()
        except OSError as error:
            self._lock.release()
            raise unavailable_error(error) from error
        except BaseException:
            self._lock.release()
            raise
        self._keeper.start()

    # Appending

    def _commit_group(self, group: list[Pending]) -> None:
        if self._tail.broken:
            raise self._tail.broken
        self._make_room(group)
        self._catch_up()
        head = self._stage_group(group)
        staged = [record for pending in group for record in pending.records]
        if not staged:
            return
        self._tail.write(staged)
        self._head = head
        self._unapplied += staged
        if self._last_checkpoint is None and self._key and not self._holds:
            self._sync_and_apply()
            self._write_first_checkpoint()
        elif all(pending.lazy for pending in group if pending.records):
            self._keeper.sync_soon()
        else:
            self._sync_and_apply()
            self._keeper.checkpoint_soon()

    def _sync_and_apply(self) -> None:
        self._apply_durable(self._sync_tail())

    def _sync_tail(self) -> list[Record]:
        """Make everything written so far durable; returns what the index has not seen of it."""
        if self._unapplied:
            self._tail.sync()
        records, self._unapplied = self._unapplied, []
        return records

    # Keeping

    @property
    def trouble(self) -> str:
        """Say what currently fails beside the appends (a checkpoint, a compression), or nothing."""
        broken = self._tail.broken
        return broken.detail if broken else self._keeper.trouble

    def sync(self) -> None:
        with self._turns.busy:
            if self._unapplied and not self._tail.broken:
                self._sync_and_apply()
                self._keep_index(self._index.commit)

    def compress_finished(self) -> None:
        with self._compress_lock:
            for segment in segments.segments(self.places.chain):
                if not segment.compressed and segment.month < self._head.time[:7]:
                    segments.compress(self.places.chain, segment)

    def close(self) -> None:
        self._keeper.stop()
        with self._turns.busy:
            if self._tail.is_open:
                self.sync()
                opening.forgive_full_disk(self.write_checkpoint)
                self._tail.close()
            self._index.close()
            self._lock.release()

    def _open_files(self) -> None:
        self._head, torn = opening.read_end(self.places.chain)
        if self._key:
            self._last_checkpoint = opening.signed_checkpoint(self.places, self._key.public)
        self._index = opening.open_index(self.places.index, self._projections)
        try:
            opening.refuse_if_cut(self.places, self._head, self._index)
            for path, tail in torn:
                opening.set_aside(self.places, path, tail)
            self._index.behind = True
            self._catch_up()
            self._applied_sequence = self._head.sequence
            if self._key and self._last_checkpoint is None:
                self._hold_without_checkpoint()
            self.append(list(opening.list_untold_tails(self.places, self._index)))
        except BaseException:
            self._index.close()
            raise
        self._keeper.compress_soon()
        self._keeper.checkpoint_soon()

    def _read_chain(self, *, after: int = 0) -> Iterable[Record]:
        return segments.records(self.places.chain, after=after)
