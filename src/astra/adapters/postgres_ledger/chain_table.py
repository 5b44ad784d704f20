"""The chain as rows: the head that writers take turns to hold, and the records behind it.

A writer that finds the head as its own last commit left it appends in one statement
(`append_directly`). Else it takes a transaction: `lock_head`, `read_after` what others appended,
then `commit_records` (insert, move the head, notify, commit) or `let_go`.

Whoever's connection is lost at the commit does not know how it ended; `find_hash` under a new lock
of the head tells, because the lock is only had when the lost transaction is over. A statement that
the server has not begun yet holds no lock: `bar_late_commits` leaves the head row as another
version of itself, which no such statement takes for the one that it was sent for.
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
_TURN = "pg_current_xact_id()::xid::text"
_ADD = f"""
    WITH added AS (
        INSERT INTO astra.record (sequence, line) SELECT * FROM unnest(%s::bigint[], %s::text[])
    ), moved AS (
        UPDATE astra.head SET sequence = %s, hash = %s, time = %s
    )
    SELECT {_TURN}, pg_notify('{CHANNEL}', %s)
"""  # noqa: S608 - constants of this module
_ADD_DIRECTLY = f"""
    WITH moved AS (
        UPDATE astra.head SET sequence = %s, hash = %s, time = %s
        WHERE sequence = %s AND hash = %s AND xmin::text = %s AND closed = ''
        RETURNING true
    ), added AS (
        INSERT INTO astra.record (sequence, line)
        SELECT row.* FROM moved, unnest(%s::bigint[], %s::text[]) AS row
    )
    SELECT {_TURN}, pg_notify('{CHANNEL}', %s) FROM moved
"""  # noqa: S608 - constants of this module
_BAR = "UPDATE astra.head SET time = time"
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
        self._turn = ""
        """The transaction that left the head row as it is, if it was this writer's own."""

    def append_directly(self, head: Head, records: Sequence[Record]) -> bool:
        """Append in one statement if the head is as this writer left it; raises as a commit does.

        False says that somebody else was there, and that nothing was appended.
        """
        connection = self._connection
        if not self._turn or connection is None or not connecting.is_quiet(connection):
            return False
        place, rows, last = _split_records(records)
        known_head = (head.sequence, head.hash, self._turn)
        self._turn = ""
        try:
            cursor = connection.execute(_ADD_DIRECTLY.encode(), [*place, *known_head, *rows, last])
            answer = cursor.fetchone()
        except psycopg.Error as error:
            self._give_up_commit(connection, error)
        self._turn = str(answer[0]) if answer else ""
        return answer is not None

    def forget_turn(self) -> None:
        """Note that somebody else appended: the next append takes the lock."""
        self._turn = ""

    def bar_late_commits(self) -> None:
        """End the transaction so that no statement sent before it can still append directly."""
        connection = self._reach()
        try:
            connection.execute(_BAR)
            connection.execute("COMMIT")
        except psycopg.Error as error:
            self._give_up(error)

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
        connection = self._reach()
        place, rows, last = _split_records(records)
        self._turn = ""
        try:
            with connection.pipeline():
                cursor = connection.execute(_ADD.encode(), [*rows, *place, last])
                connection.execute("COMMIT")
            answer = cursor.fetchone()
        except psycopg.Error as error:
            self._give_up_commit(connection, error)
        self._turn = str(answer[0]) if answer else ""

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
            self._connection, self._turn = None, ""

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
        """Give a connection: a new one where the server said farewell since the last question."""
        if self._connection is not None and self._is_left(self._connection):
            self.close()
        if self._connection is None or self._connection.closed:
            try:
                self._connection = connecting.connect(self.url)
            except LedgerUnavailable as error:
                raise HeadLost(error.detail) from error
        return self._connection

    def _is_left(self, connection: Connection) -> bool:
        return not self._is_in_transaction(connection) and not connecting.is_quiet(connection)

    def _is_in_transaction(self, connection: Connection) -> bool:
        return connection.info.transaction_status != TransactionStatus.IDLE

    def _give_up_commit(self, connection: Connection, error: psycopg.Error) -> NoReturn:
        if connecting.is_connection_lost(connection, error) or _is_shutdown(error):
            self.close()
            raise CommitLost(str(error)) from error
        self._give_up(error)

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


def _split_records(
    records: Sequence[Record],
) -> tuple[tuple[int, str, str], tuple[list[int], list[str]], str]:
    """Give the place of the last record, the columns of all, and what to notify others of."""
    last = records[-1]
    rows = ([record.sequence for record in records], [record.line for record in records])
    return (last.sequence, last.hash, last.time), rows, str(last.sequence)


def _is_shutdown(error: psycopg.Error) -> bool:
    return isinstance(error, psycopg.errors.AdminShutdown | psycopg.errors.CrashShutdown)
