"""The ledger on local disk: one writer, many readers.

The story of an append: callers queue up, and the first in line commits for all who wait. It
checks what each expects, chains the records, writes them in one call, syncs once, applies them to
the index, and only then does anybody get an answer. So what was acknowledged is on disk, and the
index is never ahead of the disk.

What failed leaves no trace. Where that is not possible (the disk fails, or a sync fails and nobody
knows what was kept), the ledger refuses everything until it is opened anew, and the callers hear
that the outcome is uncertain.
"""

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from astra.trusted.file_ledger import checkpoints, opening, segments, sqlite_index
from astra.trusted.file_ledger.keeper import Keeper
from astra.trusted.file_ledger.owner_lock import OwnerLock
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.file_ledger.reserve import Reserve
from astra.trusted.file_ledger.sqlite_index import IndexBehind, IndexCorrupt, SqliteIndex
from astra.trusted.file_ledger.tail import Tail
from astra.trusted.file_ledger.trouble import kept_for_decisions, unavailable
from astra.trusted.file_ledger.turns import Pending, Turns
from astra.trusted.kernel.clock import Clock, SystemClock, format_time
from astra.trusted.kernel.errors import AstraError, IndexUnavailable
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import chain, checkpoint
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.expectations import Expectations
from astra.trusted.ledger.projection import CORE, Projection
from astra.trusted.ledger.record import Event, Head, Record
from astra.trusted.ledger.timekeeping import time_of_batch
from astra.trusted.ledger.verbs import LedgerVerbs
from astra.trusted.policy import restoring
from astra.trusted.policy.restoring import Hold


class FileLedger(LedgerVerbs):
    def __init__(
        self,
        var: Path,
        *,
        projections: Sequence[Projection] = CORE,
        key: KeyPair | None = None,
        clock: Clock | None = None,
        reserve: Reserve | None = None,
        urgent: Callable[[Sequence[Event]], bool] = lambda _batch: False,
        harmless: Callable[[Sequence[Event]], bool] = lambda _batch: False,
    ) -> None:
        """Open the ledger; while the `reserve` is used up, only `urgent` batches are taken.

        While it is held (`hold`), only `harmless` ones are.
        """
        self.places = LedgerPlaces(var)
        self._reserve, self._urgent, self._harmless = reserve, urgent, harmless
        self._holds: dict[str, Hold] = {}
        self._projections = projections
        self._key = key
        self._clock = clock or SystemClock()
        self._turns = Turns(self._commit)
        self._compress_lock = threading.Lock()
        self._applied = threading.Condition()
        self._wakes = 0
        self._applied_sequence = 0
        self._last_checkpoint: Checkpoint | None = None
        self._unapplied: list[Record] = []
        self.asked: set[str] = set()
        """The text of each question once, without what was filled in: to ask how it is answered."""
        self._keeper = Keeper(self)
        self._tail = Tail(self.places.chain, entered=self._keeper.compress_soon)
        try:
            self.places.make()
            self._lock = OwnerLock(self.places.lock)
        except OSError as error:
            raise unavailable(error) from error
        try:
            self._open()
        except OSError as error:
            self._lock.release()
            raise unavailable(error) from error
        except BaseException:
            self._lock.release()
            raise
        self._keeper.start()

    # Appending

    def append(
        self,
        events: Sequence[Event],
        *,
        expect: Mapping[str, int] | None = None,
        lazy: bool = False,
    ) -> list[Record]:
        if not events:
            return []
        return self._turns.take(Pending(events, expect or {}, lazy))

    def _commit(self, group: list[Pending]) -> None:
        if self._tail.broken:
            raise self._tail.broken
        if self._reserve and any(self._is_urgent(pending) for pending in group):
            self._reserve.make_room()
        self._refuse_without_room()
        self._catch_up()
        head = self._stage(group)
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

    def _stage(self, group: list[Pending]) -> Head:
        """Chain what may be appended; a caller whose expectations fail gets its error alone."""
        head = self._head
        now = self._clock.now()
        expectations = Expectations(self._index.query_uncommitted)
        used_up = self._reserve is not None and self._reserve.is_out()
        for pending in group:
            try:
                if used_up and not self._is_urgent(pending):
                    raise kept_for_decisions()
                if self._holds and not self._harmless(pending.events):
                    raise restoring.refused(self.holds)
                expectations.check(pending.events, pending.expect, lazy=pending.lazy)
                moment = time_of_batch(pending.events, now=now, head=head)
                pending.records = chain.link(pending.events, after=head, time=moment)
            except AstraError as error:
                pending.error = error
                continue
            expectations.accept(pending.events)
            last = pending.records[-1]
            head = Head(last.sequence, last.hash, last.time)
        return head

    def _is_urgent(self, pending: Pending) -> bool:
        return self._urgent(pending.events)

    def _refuse_without_room(self) -> None:
        """Take nothing that the index could not follow: what is refused here did not happen.

        A record that is durable and cannot be indexed would be answered by an error afterwards.
        """
        if self._reserve and not self._reserve.has_room():
            raise unavailable(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    def _sync_and_apply(self) -> None:
        records = self._sync()
        if not self._index.behind:  # else whoever catches up will find them in the chain
            self._keep_index(lambda: self._index.apply(records))
        with self._applied:
            self._applied_sequence = self._head.sequence
            self._applied.notify_all()

    def _sync(self) -> list[Record]:
        """Make everything written so far durable; returns what the index has not seen of it."""
        if self._unapplied:
            self._tail.sync()
        records, self._unapplied = self._unapplied, []
        return records

    def _keep_index(self, work: Callable[[], None]) -> None:
        """Write to the index; the records are safe already, so failing is not fatal."""
        try:
            with suppress(IndexBehind):
                work()
        except IndexCorrupt:
            self.rebuild()

    def _catch_up(self) -> None:
        if self._index.behind:
            if self._reserve:
                self._reserve.make_room()
            self._sync()
            sequence, _ = self._index.position()
            try:
                self._index.apply(segments.records(self.places.chain, after=sequence))
                self._index.commit()
                self._index.behind = False
            except (IndexBehind, IndexCorrupt) as error:
                raise IndexUnavailable(
                    f"the index cannot be written: {error}",
                    next_step="free some disk space; what was recorded is in the chain and stays",
                ) from error

    # Reading

    def head(self) -> Head:
        return self._head

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        self.asked.add(sql)
        try:
            return self._index.query(sql, parameters)
        except IndexCorrupt:
            self.rebuild()
        except IndexBehind:
            with self._turns.busy:
                self._catch_up()
        return self._index.query(sql, parameters)

    def wait(self, after: int, timeout: float) -> bool:
        with self._applied:
            seen = self._wakes
            self._applied.wait_for(
                lambda: self._applied_sequence > after or self._wakes > seen, timeout
            )
            return self._applied_sequence > after

    def wake(self) -> None:
        with self._applied:
            self._wakes += 1
            self._applied.notify_all()

    @property
    def trouble(self) -> str:
        """Say what currently fails beside the appends (a checkpoint, a compression), or nothing."""
        broken = self._tail.broken
        return broken.detail if broken else self._keeper.trouble

    # Keeping

    def rebuild(self) -> int:
        """Build the index anew in a file of its own, then use it. Returns the number of records."""
        with self._turns.busy:
            self._sync()
            old = self._index
            _, generation = sqlite_index.newest(self.places.index, self._projections)
            name = sqlite_index.index_file_name(self._projections, generation + 1)
            self._index = self._build_index(self.places.index / name)
            old.close()
            if old.path:
                sqlite_index.remove(old.path)
            return self._index.position()[0]

    def compare_rebuilt(self) -> list[str]:
        """Build an index beside the one in use and name what differs."""
        with self._turns.busy:
            self.sync()
            path = self.places.index / f"check-{os.getpid()}.sqlite3"
            sqlite_index.remove(path)
            beside = self._build_index(path)
            try:
                return sqlite_index.differences(self._index, beside)
            finally:
                beside.close()
                sqlite_index.remove(path)

    def sync(self) -> None:
        with self._turns.busy:
            if self._unapplied and not self._tail.broken:
                self._sync_and_apply()
                self._keep_index(self._index.commit)

    def write_checkpoint(self) -> None:
        """Settle what was appended lately: commit the index, and sign where the chain is."""
        with self._turns.busy:
            self._keep_index(self._index.commit)
            head = self._head
        if self._key and not head.empty and not self._holds:
            time = max(format_time(self._clock.now()), head.time)
            point = checkpoint.sign(head, time=time, key=self._key)
            checkpoints.append(self.places.checkpoints, point)
            self._last_checkpoint = point

    def _write_first_checkpoint(self) -> None:
        """Have one before the first records are acknowledged: from then on, none is an alarm."""
        with suppress(OSError):
            self.write_checkpoint()
        self._keeper.checkpoint_soon()

    @property
    def last_checkpoint(self) -> Checkpoint | None:
        """Give the newest checkpoint on disk."""
        return self._last_checkpoint

    # Holding

    @property
    def holds(self) -> tuple[Hold, ...]:
        """Say why nothing may begin here until the operator signs, if something says so."""
        return tuple(self._holds.values())

    def hold(self, hold: Hold) -> None:
        """Take only what is harmless from now on, and vouch for nothing by a checkpoint."""
        with self._turns.busy:
            self._holds[hold.reason] = hold

    def release(self) -> None:
        """Go on: the operator's word for it is in the chain."""
        with self._turns.busy:
            self._holds.clear()
            self.sync()
        self.write_checkpoint()

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
                with contextlib.suppress(OSError):  # on a full disk; the one before it holds
                    self.write_checkpoint()
                self._tail.close()
            self._index.close()
            self._lock.release()

    def _open(self) -> None:
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
                for hold in opening.missing_checkpoint(self.places, self._head):
                    self.hold(hold)
            self.append(list(opening.untold(self.places, self._index)))
        except BaseException:
            self._index.close()
            raise
        self._keeper.compress_soon()
        self._keeper.checkpoint_soon()

    def _build_index(self, path: Path) -> SqliteIndex:
        sqlite_index.build(path, self._projections, segments.records(self.places.chain))
        return SqliteIndex(path, self._projections)
