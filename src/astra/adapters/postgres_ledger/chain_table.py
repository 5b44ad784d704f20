"""The chain as rows: the head that writers take turns to hold, and the records behind it.

One transaction of a writer: `lock_head`, `read_after` what others appended, then `commit_records`
(insert, move the head, notify, commit) or `let_go`. Whoever's connection is lost at the commit does
not know how it ended; `find_hash` under a new lock of the head tells, because the lock is only had
when the lost transaction is over.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import psycopg
from psycopg.pq import TransactionStatus

from astra.adapters.postgres_ledger import connecting
from astra.adapters.postgres_ledger.connecting import Connection
from astra.trusted.kernel.errors import LedgerDamaged, LedgerUnavailable
from astra.trusted.ledger import chain
from astra.trusted.ledger.record import EMPTY, Head, Record

CHANNEL = "astra_chain"
PAGE = 5_000
_LOCK = "BEGIN; SELECT sequence, hash, time, closed FROM astra.head FOR UPDATE"
_AFTER = "SELECT sequence, line FROM astra.record WHERE sequence > %s ORDER BY sequence LIMIT %s"
_INSERT = """
    INSERT INTO astra.record (sequence, line)
    SELECT * FROM unnest(%s::bigint[], %s::text[])
"""
_MOVE = "UPDATE astra.head SET sequence = %s, hash = %s, time = %s"
_NOTIFY = f"SELECT pg_notify('{CHANNEL}', %s)"
_MAY_TRY_AGAIN = (
    psycopg.errors.LockNotAvailable,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.QueryCanceled,
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.AdminShutdown,
    psycopg.errors.CrashShutdown,
    psycopg.errors.CannotConnectNow,
)


class HeadLost(Exception):
    """Nothing was appended: the head was held by another, or the connection broke before commit."""


class CommitLost(Exception):
    """The connection broke at the commit: whether the records are in the chain is not known yet."""


class LockedHead(NamedTuple):
    head: Head
    closed: str
    """Where the chain went on, if it was moved away from this database."""


class ChainTable:
    """One connection to the chain; its owner sees to it that one thread at a time uses it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection: Connection | None = None

    def lock_head(self) -> LockedHead:
        """Begin a transaction and hold the head until it ends; raises HeadLost."""
        connection = self._reach()
        try:
            cursor = connection.execute(_LOCK)
            cursor.nextset()
            ((sequence, digest, time, closed_by),) = cursor.fetchall()
        except psycopg.Error as error:
            self._give_up(error)
        return LockedHead(Head(sequence, digest, time) if sequence else EMPTY, closed_by)

    def read_after(self, sequence: int) -> Iterator[Record]:
        """Give the records behind a place, page by page."""
        return map(chain.parse, self.read_lines(sequence))

    def read_lines(self, sequence: int) -> Iterator[str]:
        """Give the lines behind a place, whatever they are, page by page."""
        while True:
            rows = self._ask(_AFTER, [sequence, PAGE])
            for place, line in rows:
                sequence = place
                yield line
            if len(rows) < PAGE:
                return

    def read_head(self) -> LockedHead:
        rows = self._ask("SELECT sequence, hash, time, closed FROM astra.head", [])
        ((sequence, digest, time, closed_by),) = rows
        return LockedHead(Head(sequence, digest, time) if sequence else EMPTY, closed_by)

    def find_hash(self, sequence: int) -> str:
        """Give the hash of the record at a place, or nothing."""
        rows = self._ask("SELECT line FROM astra.record WHERE sequence = %s", [sequence])
        return chain.parse(rows[0][0]).hash if rows else ""

    def commit_records(self, records: Sequence[Record]) -> None:
        """Insert records, move the head, commit. Raises HeadLost or CommitLost."""
        connection, last = self._reach(), records[-1]
        try:
            with connection.pipeline():
                connection.execute(
                    _INSERT,
                    [[record.sequence for record in records], [record.line for record in records]],
                )
                connection.execute(_MOVE, [last.sequence, last.hash, last.time])
                connection.execute(_NOTIFY, [str(last.sequence)])
                connection.execute("COMMIT")
        except psycopg.Error as error:
            if connecting.is_connection_lost(connection, error) or _is_shutdown(error):
                self.close()
                raise CommitLost(str(error)) from error
            self._give_up(error)

    def check_fence(self, name: str, holder: str, epoch: int) -> bool:
        """Tell whether a lease is still this holder's, inside the transaction that holds the head.

        The row is locked until the transaction ends: nobody takes the lease over in between.
        """
        rows = self._ask(
            "SELECT holder = %s AND epoch = %s AND until > clock_timestamp()"
            " FROM astra.lease WHERE name = %s FOR UPDATE",
            [holder, epoch, name],
        )
        return bool(rows and rows[0][0])

    def let_go(self) -> None:
        """End the transaction without a trace."""
        if self._connection is not None and self._is_in_transaction(self._connection):
            try:
                self._connection.execute("ROLLBACK")
            except psycopg.Error:
                self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _end_hung_writers(self) -> None:
        if self._connection is not None:
            try:
                connecting.end_hung_writers(self._connection)
            except psycopg.Error:
                self.close()

    def _ask(self, query: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        connection = self._reach()
        try:
            return connection.execute(query.encode(), parameters).fetchall()
        except psycopg.Error as error:
            self._give_up(error)

    def _reach(self) -> Connection:
        if self._connection is None or self._connection.closed:
            try:
                self._connection = connecting.connect(self.url)
            except LedgerUnavailable as error:
                raise HeadLost(error.detail) from error
        return self._connection

    def _is_in_transaction(self, connection: Connection) -> bool:
        return connection.info.transaction_status != TransactionStatus.IDLE

    def _give_up(self, error: psycopg.Error) -> NoReturn:
        connection = self._connection
        if connection is None or connecting.is_connection_lost(connection, error):
            self.close()
            raise HeadLost(str(error)) from error
        self.let_go()
        if isinstance(error, psycopg.errors.LockNotAvailable):
            self._end_hung_writers()
        if isinstance(error, _MAY_TRY_AGAIN):
            raise HeadLost(str(error)) from error
        if isinstance(error, psycopg.errors.UniqueViolation):
            raise LedgerDamaged(
                "the database holds a record behind its own head: somebody else wrote there",
                next_step="astra ledger verify",
            ) from error
        raise LedgerUnavailable(
            f"the database refused: {str(error).splitlines()[0]}; nothing was recorded",
            next_step="see the server's log, then try again",
        ) from error


def _is_shutdown(error: psycopg.Error) -> bool:
    return isinstance(error, psycopg.errors.AdminShutdown | psycopg.errors.CrashShutdown)
