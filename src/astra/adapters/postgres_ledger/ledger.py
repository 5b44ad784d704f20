"""The ledger in Postgres: several machines append to one chain, each folds it into its own index.

The story of an append: callers of this process queue up, and the first in line commits for all who
wait. It locks the head row, folds what others appended since, checks what each caller expects,
chains the records, inserts them, moves the head and commits. Then it applies them to the index, and
only then does anybody get an answer. Lines and hashes are those of the file ledger. Where nobody
else appended since this process did, all of that is one statement, which the database refuses if
somebody did; whatever would be refused here is looked at again under the lock.

A connection that breaks before the commit left nothing: it is tried again. One that breaks at the
commit is settled first: once the head can be locked again, the lost transaction is over, and its
first record is at its place or is not.

What others append is heard by LISTEN, and asked for every second besides (`following`). Answers are
never older than a few seconds: who cannot reach the database for longer gets an error instead.
"""

import logging
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from astra.adapters.postgres_ledger import connecting, schema
from astra.adapters.postgres_ledger.chain_table import (
    PAGE,
    ChainTable,
    CommitLost,
    HeadLost,
    LockedHead,
)
from astra.adapters.postgres_ledger.following import Follower
from astra.trusted.file_ledger import checkpoints, opening
from astra.trusted.file_ledger.indexed import Choice, IndexedLedger, choose_none
from astra.trusted.file_ledger.owner_lock import OwnerLock
from astra.trusted.file_ledger.reserve import Reserve
from astra.trusted.file_ledger.trouble import unavailable_error
from astra.trusted.file_ledger.turns import Pending
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import LedgerDamaged, LedgerUnavailable, LedgerUncertain
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import chain, fencing
from astra.trusted.ledger.projection import CORE, Projection
from astra.trusted.ledger.record import GENESIS, Head, Record

if TYPE_CHECKING:
    from astra.trusted.ledger.fencing import Fence

PATIENCE_SECONDS = 15.0
"""How long an append is tried again while the head or the database cannot be had."""
OLDEST_ANSWER_SECONDS = 10.0
_PAUSE = 0.1
_log = logging.getLogger("astra.postgres")
T = TypeVar("T")


class PostgresLedger(IndexedLedger):
    gathering_share = 0.5

    def __init__(
        self,
        url: str,
        var: Path,
        *,
        projections: Sequence[Projection] = CORE,
        key: KeyPair | None = None,
        clock: Clock | None = None,
        reserve: Reserve | None = None,
        urgent: Choice = choose_none,
        harmless: Choice = choose_none,
        patience: float = PATIENCE_SECONDS,
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
        self.url, self._patience = url, patience
        self._table, self._reader = ChainTable(url), ChainTable(url)
        self._damage: LedgerDamaged | None = None
        self._fences: dict[Fence, bool] = {}
        self._heard_at = time.monotonic()
        self.lost_heads = 0
        """How often the head was lost to another writer, or with a connection, and tried again."""
        connecting.check_server(url)
        schema.check_tables(url)
        try:
            self.places.make()
            self._lock = OwnerLock(self.places.lock)
        except OSError as error:
            raise unavailable_error(error) from error
        try:
            self._open_index()
        except BaseException:  # raised again; nothing half open stays
            self._table.close()
            self._reader.close()
            self._lock.release()
            raise
        self._follower = Follower(url, self)
        self._follower.start()
        self._keeper.start()

    # Appending

    def _commit_group(self, group: list[Pending]) -> None:
        if self._damage:
            raise self._damage
        self._make_room(group)
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return self._commit_once(group)
            except CommitLost as lost:
                if self._settle_commit(group, lost, deadline):
                    return None
            except HeadLost as lost:
                if time.monotonic() >= deadline:
                    raise _lost_head_error(lost) from lost
                self._say_lost(lost)
            _reset_group(group)

    def _commit_once(self, group: list[Pending]) -> None:
        if self._commit_directly(group):
            return
        with self._hold_head():
            self._catch_up()
            self._fences.clear()
            head = self._stage_group(group)
            staged = _list_staged(group)
            if not staged:
                return
            self._table.commit_records(staged)
        self._accept_commit(staged, head)

    def _commit_directly(self, group: list[Pending]) -> bool:
        """Append on the head as it is known here; False where that needs the lock."""
        if any(pending.fence for pending in group):
            return False
        self._catch_up()
        before = self._head
        head = self._stage_group(group)
        staged = _list_staged(group)
        is_refused = any(pending.error for pending in group)
        if is_refused or not staged or not self._table.append_directly(before, staged):
            _reset_group(group)
            return False
        self._accept_commit(staged, head)
        return True

    @contextmanager
    def _hold_head(self) -> Generator[None, None, None]:
        """Hold the head of the chain, with everything folded that others appended before."""
        try:
            locked = self._table.lock_head()
            _refuse_closed(locked)
            self._fold_until(locked.head, self._table)
            yield
        finally:
            self._table.let_go()

    def _accept_commit(self, staged: list[Record], head: Head) -> None:
        self._head, self._heard_at = head, time.monotonic()
        self._apply_durable(staged)
        if self._last_checkpoint is None and self._key and not self._holds:
            self._write_first_checkpoint()
        else:
            self._keeper.checkpoint_soon()

    def _settle_commit(self, group: list[Pending], lost: CommitLost, deadline: float) -> bool:
        """Find out how a commit ended whose connection broke; True if its records are there."""
        staged = _list_staged(group)
        first = staged[0]
        _log.warning("the connection broke at a commit of record %s: %s", first.sequence, lost)
        while True:
            try:
                locked = self._table.lock_head()
                is_there = self._table.find_hash(first.sequence) == first.hash
                self._fold_until(locked.head, self._table)
                self._table.bar_late_commits()
            except HeadLost as error:
                if time.monotonic() >= deadline:
                    raise _uncertain_error() from error
                time.sleep(_PAUSE)
            else:
                return is_there
            finally:
                self._table.let_go()

    def _refuse_pending(self, pending: Pending, *, used_up: bool) -> None:
        super()._refuse_pending(pending, used_up=used_up)
        fence = pending.fence
        if fence is None:
            return
        if fence not in self._fences:
            self._fences[fence] = self._table.check_fence(fence.name, fence.holder, fence.epoch)
        if not self._fences[fence]:
            raise fencing.build_lost_error(fence)

    def _say_lost(self, lost: Exception) -> None:
        self.lost_heads += 1
        _log.warning("an append lost the head of the chain and is tried again: %s", lost)
        time.sleep(_PAUSE)

    # What others append

    def take_in(self, records: Iterable[Record]) -> None:
        """Fold records that others appended; those that are folded already are passed over."""
        with self._turns.busy:
            self._fold_records(records)
            self._heard_at = time.monotonic()

    def confirm_contact(self) -> None:
        """Note that the database answered just now, and had nothing new."""
        self._heard_at = time.monotonic()

    def _fold_until(self, head: Head, table: ChainTable) -> None:
        if head.sequence > self._head.sequence:
            later = table.read_after(self._head.sequence)
            self._fold_records(takewhile(lambda record: record.sequence <= head.sequence, later))
        if (head.sequence, head.hash) != (self._head.sequence, self._head.hash):
            self._refuse_damage(self._head.sequence)
        self._heard_at = time.monotonic()

    def _fold_records(self, records: Iterable[Record]) -> None:
        source = (record for record in records if record.sequence > self._head.sequence)
        while page := list(islice(source, PAGE)):
            self._table.forget_turn()
            linked: list[Record] = []
            try:
                for record in page:
                    self._check_link(record, self._head)
                    self._head = Head(record.sequence, record.hash, record.time)
                    linked.append(record)
            finally:
                self._apply_durable(linked)
            self._keep_index(self._index.fold)
            self._keeper.checkpoint_soon()

    def _check_link(self, record: Record, head: Head) -> None:
        """Believe no line of the database: each carries its own hash, and names the one before."""
        is_next = record.sequence == head.sequence + 1 and record.previous == head.hash
        if not is_next or not chain.is_intact(f"{record.line}\n".encode()):
            self._refuse_damage(record.sequence)

    def _refuse_damage(self, sequence: int) -> None:
        self._damage = LedgerDamaged(
            f"the chain in the database does not go on as this machine knows it, at record"
            f" {sequence}: records were cut off or rewritten there",
            code="ledger_cut",
            next_step="astra ledger verify; then put the database back from its backup",
            sequence=sequence,
        )
        raise self._damage

    # Reading

    def _ask(self, sql: str, ask_index: Callable[[], T]) -> T:
        if time.monotonic() - self._heard_at > OLDEST_ANSWER_SECONDS:
            self._refresh()
        return super()._ask(sql, ask_index)

    def _refresh(self) -> None:
        """Ask the database now: this machine was paused, or has not reached it for a while."""
        with self._turns.busy:
            try:
                self._fold_until(self._read_head(), self._reader)
            except HeadLost as error:
                raise connecting.unreachable_error(self.url, error) from error

    @property
    def trouble(self) -> str:
        """Say what currently fails beside the appends, or nothing."""
        if self._damage:
            return self._damage.detail
        return self._follower.trouble or self._keeper.trouble

    # Keeping

    def sync(self) -> None:
        """Nothing waits here to become durable: every append is, lazy ones as well."""
        with self._turns.busy:
            self._keep_index(self._index.commit)

    def compress_finished(self) -> None:
        """Nothing to compress here: the database keeps its own files."""

    def close(self) -> None:
        self._follower.stop()
        self._keeper.stop()
        with self._turns.busy:
            if not self._damage:
                opening.forgive_full_disk(self.write_checkpoint)
            self._table.close()
            self._reader.close()
            self._index.close()
            self._lock.release()

    def _sync_tail(self) -> list[Record]:
        return []

    def _read_chain(self, *, after: int = 0) -> Iterable[Record]:
        """Give the records up to the one that was folded last, each of them checked."""
        try:
            last = Head(after, self._reader.find_hash(after) if after else GENESIS, "")
            for record in self._reader.read_after(after):
                if record.sequence > self._head.sequence:
                    break
                self._check_link(record, last)
                last = Head(record.sequence, record.hash, record.time)
                yield record
        except HeadLost as error:
            raise connecting.unreachable_error(self.url, error) from error
        if last.hash != self._head.hash:
            self._refuse_damage(last.sequence)

    def _open_index(self) -> None:
        head = self._read_head()
        if self._key:
            self._last_checkpoint = opening.signed_checkpoint(self.places, self._key.public)
        self._index = opening.open_index(self.places.index, self._projections)
        try:
            self._refuse_if_cut(head)
            self._head = head
            self._index.behind = True
            self._catch_up()
            self._applied_sequence = self._head.sequence
            if self._key and self._last_checkpoint is None:
                self._hold_without_checkpoint()
        except BaseException:  # raised again; nothing half open stays
            self._index.close()
            raise
        self._keeper.checkpoint_soon()

    def _read_head(self) -> Head:
        try:
            return self._reader.read_head().head
        except HeadLost as error:
            raise connecting.unreachable_error(self.url, error) from error

    def _refuse_if_cut(self, head: Head) -> None:
        """Raise the alarm where the index or a checkpoint knows what the database does not hold."""
        witnesses = [("index", *self._index.position())]
        if point := checkpoints.newest(self.places.checkpoints):
            witnesses.append(("newest checkpoint", point.sequence, point.hash))
        for name, sequence, digest in witnesses:
            if sequence and self._reader.find_hash(sequence) != digest:
                raise LedgerDamaged(
                    f"the {name} of this machine knows record {sequence}, and the database, whose"
                    f" chain ends at record {head.sequence}, does not hold it: records were cut off"
                    " or rewritten, or this is another chain",
                    code="ledger_cut",
                    next_step="astra ledger verify; then put the database back from its backup",
                    sequence=sequence,
                )


def _list_staged(group: list[Pending]) -> list[Record]:
    return [record for pending in group for record in pending.records]


def _reset_group(group: list[Pending]) -> None:
    """Forget what was staged and refused: the next try looks at the chain as it is then."""
    for pending in group:
        pending.records, pending.error = [], None


def _refuse_closed(locked: LockedHead) -> None:
    if locked.closed:
        raise LedgerDamaged(
            f"the chain was moved out of this database: {locked.closed}",
            code="ledger_moved",
            next_step=f"unset {connecting.DATABASE_URL} on the machine that has it now",
        )


def _lost_head_error(lost: Exception) -> LedgerUnavailable:
    if isinstance(lost.__cause__, LedgerUnavailable):
        return lost.__cause__
    return LedgerUnavailable(
        f"the head of the chain could not be had: {lost}; nothing was recorded",
        next_step="see who holds it (pg_stat_activity) and that the database runs; try again",
    )


def _uncertain_error() -> LedgerUncertain:
    return LedgerUncertain(
        "the connection to the database broke at the commit, and it has not come back: it is"
        " uncertain whether the last records were kept",
        next_step="mend the database, then look with `astra ledger tail`",
    )
