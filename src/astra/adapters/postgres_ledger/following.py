"""Hearing what other machines append: LISTEN wakes, a look every second backs it.

A connection of its own waits for the database to say something. Whatever it says, or after a second
of silence, the records behind the last folded one are asked for. A connection that breaks is made
again; until then the ledger's `trouble` says so. A database that took a question and never answers
does not keep the ledger from closing: the connection is hung up then.
"""

import contextlib
import os
import select
import threading
from collections.abc import Iterable
from typing import Protocol

import psycopg

from astra.adapters.postgres_ledger import connecting
from astra.adapters.postgres_ledger.chain_table import CHANNEL, PAGE
from astra.adapters.postgres_ledger.connecting import Connection
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger import chain
from astra.trusted.ledger.record import Head, Record

LOOK_SECONDS = 1.0
_PAUSE = 0.5
_ANSWER_SECONDS = 2.0
_AFTER = "SELECT line FROM astra.record WHERE sequence > %s ORDER BY sequence LIMIT %s"


class Following(Protocol):
    def head(self) -> Head: ...
    def take_in(self, records: Iterable[Record]) -> None: ...
    def confirm_contact(self) -> None: ...


class Follower:
    def __init__(self, url: str, ledger: Following) -> None:
        self._url, self._ledger = url, ledger
        self._stopping = threading.Event()
        self._reads, self._writes = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._thread = threading.Thread(target=self._run_loop, name="ledger-follower", daemon=True)
        self._connection: Connection | None = None
        self.trouble = ""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        with contextlib.suppress(BlockingIOError):
            os.write(self._writes, b"x")
        self._thread.join(_ANSWER_SECONDS)
        while self._thread.is_alive():
            if self._connection:
                connecting.hang_up(self._connection)
            self._thread.join(_PAUSE)
        os.close(self._reads)
        os.close(self._writes)

    def _run_loop(self) -> None:
        while not self._stopping.is_set():
            try:
                with contextlib.closing(connecting.connect(self._url)) as connection:
                    self._connection = connection
                    connection.execute(f"LISTEN {CHANNEL}".encode())
                    self._follow_chain(connection)
            except (AstraError, psycopg.Error) as error:
                detail = error.detail if isinstance(error, AstraError) else str(error)
                self.trouble = f"following the chain: {detail}"
                self._stopping.wait(_PAUSE)

    def _follow_chain(self, connection: Connection) -> None:
        while not self._stopping.is_set():
            while self._take_page(connection) == PAGE:
                pass
            self.trouble = ""
            self._wait_for_word(connection)

    def _take_page(self, connection: Connection) -> int:
        lines = connection.execute(_AFTER, [self._ledger.head().sequence, PAGE]).fetchall()
        if lines:
            self._ledger.take_in([chain.parse(line) for (line,) in lines])
        else:
            self._ledger.confirm_contact()
        return len(lines)

    def _wait_for_word(self, connection: Connection) -> None:
        """Wait until somebody appended what is not folded yet, or for a second."""
        ready, _, _ = select.select([connection.fileno(), self._reads], [], [], LOOK_SECONDS)
        while connection.fileno() in ready and not self._hears_news(connection):
            ready, _, _ = select.select([connection.fileno(), self._reads], [], [], LOOK_SECONDS)

    def _hears_news(self, connection: Connection) -> bool:
        """Read what the server sent; one's own appends are folded already and are no news."""
        connection.pgconn.consume_input()
        is_news = False
        while notify := connection.pgconn.notifies():
            is_news = is_news or int(notify.extra) > self._ledger.head().sequence
        return is_news
