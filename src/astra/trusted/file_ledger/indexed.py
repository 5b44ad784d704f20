"""What every ledger with an index beside its chain does alike, wherever the chain is kept.

Callers queue up and one commits for all who wait (`turns`); the index is a fold of the chain that
can be thrown away and built anew; checkpoints are signed beside it; a held ledger takes only what
is harmless. Where the chain itself is (files here, a database elsewhere) says whoever inherits.
"""

import errno
import os
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from astra.trusted.file_ledger import checkpoints, opening, sqlite_index
from astra.trusted.file_ledger.keeper import Keeper
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.file_ledger.reserve import Reserve
from astra.trusted.file_ledger.sqlite_index import IndexBehind, IndexCorrupt, SqliteIndex
from astra.trusted.file_ledger.trouble import reserved_disk_error, unavailable_error
from astra.trusted.file_ledger.turns import Pending, Turns
from astra.trusted.kernel.clock import Clock, SystemClock, format_time
from astra.trusted.kernel.errors import AstraError, IndexUnavailable
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import chain, checkpoint, fencing
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.expectations import Expectations
from astra.trusted.ledger.projection import CORE, Projection
from astra.trusted.ledger.record import EMPTY, Event, Head, Record
from astra.trusted.ledger.timekeeping import time_of_batch
from astra.trusted.ledger.verbs import LedgerVerbs
from astra.trusted.policy import restoring
from astra.trusted.policy.restoring import Hold

Choice = Callable[[Sequence[Event]], bool]
T = TypeVar("T")


def choose_none(_batch: Sequence[Event]) -> bool:
    return False


class IndexedLedger(LedgerVerbs):
    gathering_share: ClassVar[float] = 0.0
    """For what share of a commit's time the next one waits for whom it served (`turns`)."""
    _index: SqliteIndex

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
        """Prepare a ledger; while the `reserve` is used up, only `urgent` batches are taken.

        While it is held (`hold`), only `harmless` ones are.
        """
        self.places = LedgerPlaces(var)
        self._reserve, self._urgent, self._harmless = reserve, urgent, harmless
        self._holds: dict[str, Hold] = {}
        self._projections = projections
        self._key = key
        self._clock = clock or SystemClock()
        self._turns = Turns(self._commit_group, gathering_share=self.gathering_share)
        self._applied = threading.Condition()
        self._wakes = 0
        self._applied_sequence = 0
        self._head = EMPTY
        self._last_checkpoint: Checkpoint | None = None
        self.asked: set[str] = set()
        """The text of each question once, without what was filled in: to ask how it is answered."""
        self._keeper = Keeper(self)

    # What a chain has to say

    @abstractmethod
    def _commit_group(self, group: list[Pending]) -> None: ...

    @abstractmethod
    def _read_chain(self, *, after: int = 0) -> Iterable[Record]:
        """Give the durable records behind a place."""

    @abstractmethod
    def _sync_tail(self) -> list[Record]:
        """Make everything written so far durable; returns what the index has not seen of it."""

    @abstractmethod
    def sync(self) -> None: ...

    @abstractmethod
    def close(self) -> None: ...

    @property
    @abstractmethod
    def trouble(self) -> str:
        """Say what currently fails beside the appends, or nothing."""

    @abstractmethod
    def compress_finished(self) -> None: ...

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
        return self._turns.take(Pending(events, expect or {}, lazy, fencing.find_fence()))

    def _make_room(self, group: list[Pending]) -> None:
        """Take nothing that the index could not follow: what is refused here did not happen.

        A record that is durable and cannot be indexed would be answered by an error afterwards.
        """
        if self._reserve and any(self._is_urgent(pending) for pending in group):
            self._reserve.make_room()
        if self._reserve and not self._reserve.has_room():
            raise unavailable_error(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    def _stage_group(self, group: list[Pending]) -> Head:
        """Chain what may be appended; a caller whose expectations fail gets its error alone."""
        head = self._head
        now = self._clock.now()
        expectations = Expectations(self._index.query_uncommitted)
        used_up = self._reserve is not None and self._reserve.is_out()
        for pending in group:
            try:
                self._refuse_pending(pending, used_up=used_up)
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

    def _refuse_pending(self, pending: Pending, *, used_up: bool) -> None:
        if used_up and not self._is_urgent(pending):
            raise reserved_disk_error()
        if self._holds and not self._harmless(pending.events):
            raise restoring.build_held_error(self.holds)

    def _is_urgent(self, pending: Pending) -> bool:
        return self._urgent(pending.events)

    def _apply_durable(self, records: list[Record]) -> None:
        """Hand what is durable to the index, and let everybody know who waits for it."""
        self._keep_index(lambda: self._index.defer(records))
        with self._applied:
            self._applied_sequence = self._head.sequence
            self._applied.notify_all()

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
            self._sync_tail()
            sequence, _ = self._index.position()
            try:
                self._index.apply(self._read_chain(after=sequence))
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
        return self._ask(sql, lambda: self._index.query(sql, parameters))

    def query_row(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        return self._ask(sql, lambda: self._index.query_row(sql, parameters))

    def _ask(self, sql: str, ask_index: Callable[[], T]) -> T:
        """Ask the index, which is mended first where it is damaged or behind."""
        self.asked.add(sql)
        try:
            return ask_index()
        except IndexCorrupt:
            self.rebuild()
        except IndexBehind:
            with self._turns.busy:
                self._catch_up()
        return ask_index()

    def position(self) -> int:
        return self._applied_sequence

    def wait(self, after: int, timeout: float) -> bool:
        with self._applied:
            wake_count = self._wakes
            self._applied.wait_for(
                lambda: self._applied_sequence > after or self._wakes > wake_count, timeout
            )
            return self._applied_sequence > after

    def wake(self) -> None:
        with self._applied:
            self._wakes += 1
            self._applied.notify_all()

    # Keeping

    def rebuild(self) -> int:
        """Build the index anew in a file of its own, then use it. Returns the number of records."""
        with self._turns.busy:
            self._sync_tail()
            old = self._index
            _, generation = sqlite_index.find_newest(self.places.index, self._projections)
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

    def write_checkpoint(self) -> None:
        """Settle what was appended lately: commit the index, and sign where the chain is."""
        with self._turns.busy:
            self._keep_index(self._index.commit)
            head = self._head
        if self._key and not head.is_empty and not self._holds:
            time = max(format_time(self._clock.now()), head.time)
            point = checkpoint.sign(head, time=time, key=self._key)
            checkpoints.append(self.places.checkpoints, point)
            self._last_checkpoint = point

    def _write_first_checkpoint(self) -> None:
        """Have one before the first records are acknowledged: from then on, none is an alarm."""
        with suppress(OSError):
            self.write_checkpoint()
        self._keeper.checkpoint_soon()

    def _hold_without_checkpoint(self) -> None:
        first = next(iter(self._read_chain()), None)
        for hold in opening.missing_checkpoint(first, self._head):
            self.hold(hold)

    @property
    def last_checkpoint(self) -> Checkpoint | None:
        """Give the newest checkpoint on disk."""
        return self._last_checkpoint

    def _build_index(self, path: Path) -> SqliteIndex:
        sqlite_index.build(path, self._projections, self._read_chain())
        return SqliteIndex(path, self._projections)

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
