"""The file of the index: one connection under a lock, made anew where it cannot be read."""

import sqlite3
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from astra.trusted.kernel.errors import AstraError

VERSION = 1
"""Part of the file's name: another shape is another file, and the old one is removed."""
_TOKENS = "tokenize = 'unicode61 remove_diacritics 0'"
_TABLES = (
    "CREATE TABLE blob (id INTEGER PRIMARY KEY, oid TEXT UNIQUE, lines INTEGER, parsed INTEGER)",
    f"CREATE VIRTUAL TABLE passage USING fts5(text, content='', {_TOKENS})",
    "CREATE VIRTUAL TABLE passage_word USING fts5vocab(passage, row)",
    "CREATE TABLE symbol (blob INTEGER, name TEXT, kind TEXT, start INTEGER, last INTEGER)",
    "CREATE INDEX symbol_blob ON symbol (blob)",
    f"CREATE VIRTUAL TABLE event USING fts5(text, content='', {_TOKENS})",
    "CREATE VIRTUAL TABLE event_word USING fts5vocab(event, row)",
    "CREATE TABLE event_place (id INTEGER PRIMARY KEY, sequence INTEGER, hash TEXT)",
)


class IndexUnavailable(AstraError):
    code = "search_index_unavailable"
    http_status = 503


class SearchDatabase:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self.generation = 0
        """Counts how often the file was made anew: what was kept about it is then wrong."""

    @property
    def path(self) -> Path:
        return self._folder / f"search-{VERSION}.sqlite3"

    @contextmanager
    def use(self) -> Generator[sqlite3.Connection]:
        """Give the connection to one thread; what it writes is committed at the end, or undone."""
        with self._lock:
            connection = self._open()
            try:
                yield connection
                connection.commit()
            except sqlite3.Error as error:
                self._give_up(error)
            except BaseException:  # raised again; half a batch is not written
                with suppress(sqlite3.Error):  # it may be closed already
                    connection.rollback()
                raise

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self.use() as connection:
            return connection.execute(sql, parameters).fetchall()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _give_up(self, error: sqlite3.Error) -> None:
        """Throw the file away where it is damaged: the next question makes it anew."""
        self.close()
        if not isinstance(error, sqlite3.OperationalError):
            self._remove_files()
        raise IndexUnavailable(
            f"the search index failed: {error}",
            next_step="ask again: it is rebuilt from git and the ledger",
        ) from None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = self._connect()
            except sqlite3.DatabaseError:
                self._remove_files()
                self._connection = self._connect()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for file in self._folder.glob("search-*.sqlite3*"):
            if not file.name.startswith(self.path.name):
                file.unlink()
        connection = sqlite3.connect(self.path, check_same_thread=False)
        # A crash may damage the file; it is then made anew, so nothing is synced.
        for pragma in ("journal_mode=TRUNCATE", "synchronous=OFF", "cache_size=-65536"):
            connection.execute(f"PRAGMA {pragma}")
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not tables:
            for table in _TABLES:
                connection.execute(table)
            connection.commit()
        self.generation += 1
        return connection

    def _remove_files(self) -> None:
        for file in self._folder.glob("search-*.sqlite3*"):
            file.unlink(missing_ok=True)
