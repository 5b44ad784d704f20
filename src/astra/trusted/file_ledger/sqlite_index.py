"""The index: projections of the chain in SQLite.

Invariants:
- It holds nothing that the chain does not say; deleting it loses nothing.
- `position` (sequence and hash of the last record applied) moves in the same transaction as the
  tables, and only over records that are already on disk. So it is never ahead of an honest chain.
- Records that are durable wait in memory (`defer`) until somebody reads, or until they are many:
  whoever reads folds and commits them first, so everybody sees everything that was acknowledged,
  and a burst of appends that nobody reads in between costs one fold and one commit. A single row is
  read inside the open transaction instead (`query_row`): work that reads a row between any two
  appends would otherwise commit for each.
- The file name carries a digest of the projections, so a new version of Astra builds its own index
  beside the old one. A rebuilt index is a new file, never renamed over one that is open.
"""

import hashlib
import inspect
import itertools
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from functools import cache
from itertools import chain
from operator import itemgetter, length_hint
from pathlib import Path
from typing import Any, TypeVar

from astra.trusted.ledger import folding, upcasting
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import GENESIS, Record

T = TypeVar("T")
Position = tuple[int, str]
_CHUNK = 5_000
_MOST_DEFERRED = 256
"""Records that wait for a reader; what a reader has to fold first stays within milliseconds."""
_DURABLE = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA wal_autocheckpoint = 10000;
"""
_NOT_DURABLE = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
_BUILDING_CACHE, _SERVING_CACHE, _READING_CACHE = 64 << 10, 8 << 10, 512
"""Kibibytes of pages in memory. While serving, the kernel keeps the file's pages as well."""
_MOST_IDLE = 8
"""Readers that wait for the next question; each holds pages of its own, for as long as it lives."""
_POSITION = "CREATE TABLE position (sequence INTEGER, hash TEXT)"
_ADVANCE = "UPDATE position SET sequence = ?, hash = ?"
_UNREADABLE = (
    *(ArithmeticError, AttributeError, LookupError, TypeError, ValueError),
    *(sqlite3.DataError, sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError),
)
"""What a record that is not understood raises: in the projection, or in a table that refuses it."""


class IndexCorrupt(Exception):
    """SQLite says the file is not what it wrote; the answer is to rebuild from the chain."""


class IndexBehind(Exception):
    """Records could not be written (a full disk, say): from its position on, some are missing."""


class SqliteIndex:
    def __init__(
        self, path: Path | None, projections: Sequence[Projection], *, journal: str = _DURABLE
    ) -> None:
        self.path = path
        self._journal = journal
        self._projections = projections
        self._idle: list[sqlite3.Connection] = []
        self._shared = threading.RLock()
        self._closed = False
        self._uncommitted = False
        self._deferred: list[Record] = []
        self._concerned: dict[str, list[Projection]] = {}
        self.behind = False
        self._writer = _guard_corruption(lambda: self._open_writer(path or ":memory:"))

    def position(self) -> Position:
        ((sequence, digest),) = self.query_uncommitted("SELECT * FROM position", ())
        return sequence, digest

    def defer(self, records: Sequence[Record]) -> None:
        """Take durable records that follow those before; the next reader folds them first."""
        with self._shared:
            if self.behind:  # whoever catches up will find them in the chain
                return
            self._deferred += records
            if len(self._deferred) >= _MOST_DEFERRED:
                self._fold_deferred()

    def fold(self) -> None:
        """Fold what waits now: for records of others, which this version may have to refuse."""
        with self._shared:
            self._fold_deferred()

    def apply(self, records: Iterable[Record]) -> None:
        """Apply records that directly follow the position, many of them in several commits."""
        source = iter(records)
        while chunk := list(itertools.islice(source, _CHUNK)):
            self._write_or_roll_back(lambda: self._apply_chunk(chunk))
            if len(chunk) == _CHUNK:
                self._write_or_roll_back(self._commit_transaction)

    def commit(self) -> None:
        if self._deferred or self._uncommitted:
            with self._shared:
                self._fold_deferred()
                self._write_or_roll_back(self._commit_transaction)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._read_rows(sql, parameters)

    def query_row(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Give the first row of an answer, beside the writer: nobody can write meanwhile."""
        with self._shared:
            self._fold_deferred()
            if self.behind:
                raise IndexBehind("records are missing")
            return _guard_corruption(lambda: _fetch_first(self._writer.execute(sql, parameters)))

    def query_uncommitted(self, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Ask without committing first: for the one who is about to apply more."""
        with self._shared:
            self._fold_deferred()
            return _guard_corruption(lambda: self._writer.execute(sql, parameters).fetchall())

    def tables(self) -> list[str]:
        names = self._read_rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", ()
        )
        return sorted(name for (name,) in names)

    def is_sound(self) -> bool:
        try:
            return self._read_rows("PRAGMA quick_check(1)", ()) == [("ok",)]
        except IndexCorrupt:
            return False

    def close(self) -> None:
        with self._shared:
            with suppress(IndexBehind, IndexCorrupt):  # the chain knows better
                self.commit()
            for connection in (*self._idle, self._writer):
                with suppress(sqlite3.Error):
                    connection.close()
            self._idle.clear()
            self._closed = True

    def _open_writer(self, path: Path | str) -> sqlite3.Connection:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            connection.executescript(self._journal)
            pages = _BUILDING_CACHE if self._journal == _NOT_DURABLE else _SERVING_CACHE
            connection.execute(f"PRAGMA cache_size = -{pages}")
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                self._create_tables(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for ddl in (
            _POSITION,
            *(ddl for projection in self._projections for ddl in projection.tables),
        ):
            connection.execute(ddl)
        connection.execute("INSERT INTO position VALUES (0, ?)", (GENESIS,))
        connection.execute("COMMIT")

    def _write_or_roll_back(self, work: Callable[[], None]) -> None:
        """Do it, or go back to the last commit and refuse readers until somebody caught up."""
        with self._shared:
            try:
                _guard_corruption(work)
            except BaseException as error:
                with suppress(sqlite3.Error):
                    self._writer.execute("ROLLBACK")
                self.behind, self._uncommitted, self._deferred = True, False, []
                if isinstance(error, sqlite3.Error):
                    raise IndexBehind(str(error)) from error
                raise

    def _fold_deferred(self) -> None:
        """Fold what waits. It leaves the list last: a reader looks there without the lock."""
        if self._deferred:
            self.apply(self._deferred)
            self._deferred = []

    def _apply_chunk(self, chunk: list[Record]) -> None:
        if not self._uncommitted:
            self._writer.execute("BEGIN IMMEDIATE")
            self._uncommitted = True
        present_types = {record.type for record in chunk}
        for projection in self._list_concerned(present_types):
            self._fold_chunk(projection, chunk)
        last = chunk[-1]
        self._writer.execute(_ADVANCE, (last.sequence, last.hash))

    def _list_concerned(self, types: set[str]) -> Sequence[Projection]:
        """Give the projections that look at records of these types.

        Most folds are of one type, and there are dozens of projections: that answer is kept.
        """
        if len(types) > 1:
            return [one for one in self._projections if _concerns(one, types)]
        (type_,) = types
        if type_ not in self._concerned:
            self._concerned[type_] = [one for one in self._projections if _concerns(one, types)]
        return self._concerned[type_]

    def _fold_chunk(self, projection: Projection, chunk: list[Record]) -> None:
        """Run a projection over records; one that it cannot read, or no table takes, is named.

        A statement runs as soon as it is asked for, so the culprit is the last record taken.
        """
        types = projection.types
        records = chunk if types is None else [record for record in chunk if record.type in types]
        remaining = iter(records)
        try:
            self._run_statements(chain.from_iterable(map(projection.apply, remaining)))
        except _UNREADABLE as error:
            culprit = records[len(records) - length_hint(remaining) - 1]
            why = folding.describe_error(error)
            raise folding.unreadable_error(projection, culprit, why) from error

    def _commit_transaction(self) -> None:
        if self._uncommitted:  # another reader may have been first
            self._writer.execute("COMMIT")
            self._uncommitted = False

    def _run_statements(self, statements: Iterable[Statement]) -> None:
        """Run statements in order; neighbours with the same text go to SQLite together."""
        for sql, group in itertools.groupby(statements, key=itemgetter(0)):
            self._writer.executemany(sql, map(itemgetter(1), group))

    def _read_rows(self, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        if self.path is None:
            return self.query_uncommitted(sql, parameters)
        self.commit()
        if self.behind:
            raise IndexBehind("records are missing")
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._open_reader()
        try:
            return _guard_corruption(lambda: connection.execute(sql, parameters).fetchall())
        finally:
            self._put_back(connection)

    def _put_back(self, connection: sqlite3.Connection) -> None:
        with self._shared:
            if not self._closed and len(self._idle) < _MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _open_reader(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode=ro" if self.path else ":memory:",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute(f"PRAGMA cache_size = -{_READING_CACHE}")
        return connection


def _concerns(projection: Projection, types: set[str]) -> bool:
    return projection.types is None or not projection.types.isdisjoint(types)


def _fetch_first(cursor: sqlite3.Cursor) -> tuple[Any, ...] | None:
    """Give the first row, and leave nothing open that would read on."""
    with closing(cursor):
        return cursor.fetchone()


def build(path: Path, projections: Sequence[Projection], records: Iterable[Record]) -> None:
    """Build an index in one go. The file gets its name when it is complete and on disk.

    Until then a crash costs nothing but the work, so there is neither a journal nor a sync.
    """
    unfinished = path.with_name(f"building-{path.name}")
    remove(unfinished)
    try:
        with closing(SqliteIndex(unfinished, projections, journal=_NOT_DURABLE)) as index:
            index.apply(records)
            index.commit()  # closing forgives a failed commit; here it must not pass unseen
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.rename(path)
    finally:
        remove(unfinished)


def index_file_name(projections: Sequence[Projection], generation: int = 1) -> str:
    return f"index-{_digest_projections(projections)}-{generation}.sqlite3"


def list_sources(projections: Sequence[Projection]) -> list[Path]:
    """List the files whose text decides what the index is called."""
    modules = {inspect.getmodule(projection.apply) for projection in projections}
    files = {upcasting.__file__, *(module.__file__ for module in modules if module)}
    return sorted(Path(file) for file in files if file)


def find_newest(folder: Path, projections: Sequence[Projection]) -> tuple[Path, int]:
    """Name the file of the newest generation for these projections, the first if none is there."""
    prefix = f"index-{_digest_projections(projections)}-"
    generations = [
        int(path.name.removeprefix(prefix).removesuffix(".sqlite3"))
        for path in folder.glob(f"{prefix}*.sqlite3")
        if path.name.removeprefix(prefix).removesuffix(".sqlite3").isdigit()
    ]
    generation = max(generations, default=1)
    return folder / index_file_name(projections, generation), generation


def remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def differences(left: SqliteIndex, right: SqliteIndex) -> list[str]:
    """Compare two indexes table by table, row by row."""
    difference_names = [f"table {name}" for name in sorted({*left.tables()} ^ {*right.tables()})]
    for name in sorted({*left.tables()} & {*right.tables()} - {"position"}):
        if _digest_table(left, name) != _digest_table(right, name):
            difference_names.append(f"rows of {name}")  # noqa: PERF401 - reads plainer than a comprehension
    return difference_names


def _digest_table(index: SqliteIndex, table: str) -> str:
    digest = hashlib.sha256()
    assert index.path is not None  # noqa: S101 - only files are compared
    with closing(sqlite3.connect(f"{index.path.as_uri()}?mode=ro", uri=True)) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY {', '.join(columns)}"):  # noqa: S608 - names come from the schema
            digest.update(repr(row).encode())
    return digest.hexdigest()


def _digest_projections(projections: Sequence[Projection]) -> str:
    """Digest the projections' names, tables and the source of the modules that define them.

    What older records are read as shapes the tables as well.
    """
    digest = hashlib.sha256(_POSITION.encode() + _read_source(upcasting.__name__).encode())
    for projection in projections:
        module = inspect.getmodule(projection.apply)
        source = _read_source(module.__name__) if module else ""
        digest.update(repr((projection.name, projection.version, projection.tables)).encode())
        digest.update(source.encode())
    return digest.hexdigest()[:12]


@cache
def _read_source(module: str) -> str:
    """Read it once: an upgrade replaces the files under a process that goes on with its old code.

    Its index must not get the name of the new version's.
    """
    return inspect.getsource(sys.modules[module])


def _guard_corruption(call: Callable[[], T]) -> T:
    """Tell a damaged file apart from a full disk or a wrong query."""
    try:
        return call()
    except sqlite3.DatabaseError as error:
        if type(error) is sqlite3.DatabaseError:  # its subclasses are other faults
            raise IndexCorrupt(str(error)) from error
        raise
