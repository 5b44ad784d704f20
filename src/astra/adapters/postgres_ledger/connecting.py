"""Connections to the database of a chain: how they are made, and what is refused of a server.

Whoever hangs while holding the head of the chain is ended by the server: `lock_timeout` for those
who wait, `idle_in_transaction_session_timeout` for the one who holds. These limits do not see a
client that was paused between two statements of one batch; whoever waited for a lock in vain ends
it (`end_hung_writers`). A server that was paused itself is waited for no longer than its own limits
would let it work (`Connection.answer_seconds`). A commit is acknowledged when it is on disk. A
pooler that gives each transaction another connection keeps neither settings nor LISTEN, so it is
refused; one that keeps a connection for as long as its client stays is fine.

The address may carry a password, so no message repeats it.
"""

import contextlib
import os
import select
import socket
import time
from contextlib import closing
from typing import Any, TypeVar

import psycopg
from psycopg import conninfo
from psycopg.abc import PQGen
from psycopg.waiting import Ready

from astra.trusted.kernel.errors import BadSetting, LedgerUnavailable

Answer = TypeVar("Answer")
DATABASE_URL = "ASTRA_DATABASE_URL"
LOCK_MILLISECONDS = 5_000
IDLE_IN_TRANSACTION_MILLISECONDS = 3_000
STATEMENT_MILLISECONDS = 60_000
ANSWER_SECONDS = STATEMENT_MILLISECONDS / 1_000 + 5
_CONNECT_SECONDS = 5
_KEEPALIVE = {
    "connect_timeout": _CONNECT_SECONDS,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
_NAME = "astra"
_END_HUNG = """
    SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND application_name = %s
        AND pid <> pg_backend_pid() AND wait_event = 'ClientRead' AND xact_start IS NOT NULL
        AND greatest(xact_start, query_start)
            < clock_timestamp() - %s * interval '1 millisecond'
"""
_WEAK_COMMITS = frozenset({"off", "local"})
_SESSION = f"""
    SET lock_timeout = {LOCK_MILLISECONDS};
    SET idle_in_transaction_session_timeout = {IDLE_IN_TRANSACTION_MILLISECONDS};
    SET statement_timeout = {STATEMENT_MILLISECONDS};
    SET default_transaction_isolation = 'read committed';
    SET client_encoding = 'UTF8'
"""


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that does not wait for ever: a server may take a question and never answer."""

    answer_seconds: float | None = None
    """How long one answer may take, if not as long as usual."""

    def wait(self, gen: PQGen[Answer], *limits: Any, **named_limits: Any) -> Answer:
        limit = ANSWER_SECONDS if self.answer_seconds is None else self.answer_seconds
        try:
            return super().wait(_wait_until(gen, time.monotonic() + limit), *limits, **named_limits)
        except NoAnswer:
            self.pgconn.finish()
            raise


class NoAnswer(psycopg.OperationalError):
    """The server did not answer in time; what it did with the question is not known."""


def connect(url: str) -> Connection:
    """Open a connection whose transactions are explicit; raises LedgerUnavailable."""
    try:
        connection = _open_connection(url)
    except psycopg.Error as error:
        raise unreachable_error(url, error) from error
    try:
        connection.answer_seconds = _CONNECT_SECONDS
        connection.execute(_SESSION.encode())
        _commit_durably(connection)
        connection.answer_seconds = None
    except psycopg.Error as error:
        connection.close()
        raise unreachable_error(url, error) from error
    return connection


def check_server(url: str) -> None:
    """Refuse a database that cannot keep a chain, in words."""
    with closing(connect(url)) as connection:
        ((encoding,),) = connection.execute("SHOW server_encoding").fetchall()
        if encoding != "UTF8":
            raise BadSetting(
                f"the database {describe_address(url)} keeps text as {encoding}; the chain is"
                " UTF-8, byte for byte",
                next_step="create the database with ENCODING 'UTF8' TEMPLATE template0",
                key=DATABASE_URL,
            )
        _refuse_transaction_pooler(url, connection)


def describe_address(url: str) -> str:
    """Name a database without its password."""
    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        return "(an address that cannot be read)"
    host, port = parts.get("host") or "localhost", parts.get("port")
    place = f"{host}:{port}" if port else str(host)
    return f"{parts.get('dbname') or parts.get('user') or 'postgres'} at {place}"


def unreachable_error(url: str, cause: Exception) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"the database {describe_address(url)} does not answer: {_describe_cause(cause)};"
        " nothing was recorded",
        next_step=f"see that it runs and that {DATABASE_URL} names it, then try again",
    )


def is_connection_lost(connection: Connection, error: psycopg.Error) -> bool:
    """Tell a connection that is gone from a statement that the server refused."""
    return connection.closed or connection.broken or error.sqlstate is None


def is_quiet(connection: Connection) -> bool:
    """Tell whether a connection is open and the server said nothing on it, not even a farewell."""
    if connection.closed or connection.broken:
        return False
    readable, _, _ = select.select([connection.fileno()], [], [], 0)
    return not readable


def hang_up(connection: Connection) -> None:
    """Break a connection under a thread that waits for an answer on it."""
    with contextlib.suppress(psycopg.Error, OSError):
        number = os.dup(connection.fileno())
        with socket.socket(fileno=number) as end:
            end.shutdown(socket.SHUT_RDWR)


def end_hung_writers(connection: Connection) -> int:
    """End those in a transaction whose client says nothing; gives how many there were."""
    parameters = [_NAME, IDLE_IN_TRANSACTION_MILLISECONDS]
    return len(connection.execute(_END_HUNG, parameters).fetchall())


def _open_connection(url: str) -> Connection:
    parameters: dict[str, Any] = {**_KEEPALIVE, "application_name": _NAME}
    return Connection.connect(url, autocommit=True, prepare_threshold=2, **parameters)


def _wait_until(steps: PQGen[Answer], deadline: float) -> PQGen[Answer]:
    """Pass the steps of an operation on; who waits says so several times a second."""
    ready = None
    while True:
        try:
            next_wait = steps.send(ready)  # pyright: ignore[reportArgumentType] # None begins it
        except StopIteration as end:
            return end.value
        ready = yield next_wait
        if ready == Ready.NONE and time.monotonic() >= deadline:
            steps.close()
            raise NoAnswer("it took a question and has not answered it")


def _commit_durably(connection: Connection) -> None:
    ((level,),) = connection.execute("SHOW synchronous_commit").fetchall()
    if level in _WEAK_COMMITS:
        connection.execute("SET synchronous_commit = on")


def _refuse_transaction_pooler(url: str, connection: Connection) -> None:
    """Find out whether two clients at once are served by one and the same server process.

    Only a pooler answers with another process id than the one it greeted with.
    """
    first = _ask_process(connection)
    if first == connection.info.backend_pid:
        return
    with closing(_open_connection(url)) as second_connection, second_connection.transaction():
        second = _ask_process(second_connection)
        third = _ask_process(connection)
    if first == second or third != first:
        raise BadSetting(
            f"the database {describe_address(url)} is behind a pooler that gives each transaction"
            " another connection: settings, LISTEN and leases do not hold on it",
            next_step="name the server itself, or a pooler with pool_mode = session",
            key=DATABASE_URL,
        )


def _ask_process(connection: Connection) -> int:
    ((process,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
    return int(process)


def _describe_cause(cause: Exception) -> str:
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    return lines[0] if lines else type(cause).__name__
