"""The file of the job engine: made whole or not at all, and set aside when it cannot be used.

The database is disposable. A new one is made under another name and gets its own only when it is
complete, so that a kill in between leaves nothing half made. One that cannot be opened or migrated
is renamed with the time, and the newest few are kept for whoever wants to know why.
"""

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

KEPT_ASIDE = 3
_PARTS = ("", "-wal", "-shm", "-journal")
_SURROUNDINGS = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
    }
)


class Damaged(Exception):
    """The file is a database, and its content does not hold together."""


@contextmanager
def hold_lock(path: Path) -> Generator[None, None, None]:
    """Keep other processes out; the lock goes with whoever holds it, also if that is killed."""
    with path.with_name(f"{path.name}.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def prepare(path: Path, migrate: Callable[[str], None]) -> None:
    """See that there is a whole database with the newest tables; raises whatever is wrong."""
    if not path.exists():
        unfinished = path.with_name(f"{path.name}.unfinished")
        _remove_database(unfinished)
        migrate(url(unfinished))
        unfinished.rename(path)
    _check_database(path)
    migrate(url(path))
    path.chmod(0o600)


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def is_to_blame(path: Path, error: BaseException) -> bool:
    """Tell whether a failure comes from the file, and not from the disk or the machine around."""
    if not path.exists():
        return False
    code = next(
        (
            sqlite_code
            for sqlite_code in map(_sqlite_code, _walk_causes(error))
            if sqlite_code is not None
        ),
        None,
    )
    if code is None:
        return not isinstance(error, OSError | MemoryError | ImportError | RuntimeError)
    if code == sqlite3.SQLITE_IOERR_SHORT_READ:
        return True
    if code & 0xFF == sqlite3.SQLITE_CANTOPEN:
        return not (path.is_file() and os.access(path, os.R_OK | os.W_OK))
    return code & 0xFF not in _SURROUNDINGS


def set_aside(path: Path, now: datetime) -> Path:
    """Rename a database with all that belongs to it; older ones beyond a few are removed."""
    aside = path.with_name(f"{path.stem}-set-aside-{now:%Y%m%dT%H%M%S%fZ}{path.suffix}")
    for part in _PARTS[1:]:
        beside = path.with_name(path.name + part)
        if beside.exists():
            beside.rename(aside.with_name(aside.name + part))
    path.rename(aside)
    for old in list_aside(path)[:-KEPT_ASIDE]:
        _remove_database(old)
    return aside


def list_aside(path: Path) -> list[Path]:
    """Give what was set aside, oldest first."""
    return sorted(path.parent.glob(f"{path.stem}-set-aside-*{path.suffix}"))


def _check_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        ((verdict,),) = connection.execute("PRAGMA quick_check(1)")
    if verdict != "ok":
        raise Damaged(str(verdict))


def _remove_database(path: Path) -> None:
    for part in _PARTS:
        place = path.with_name(path.name + part)
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)


def _walk_causes(error: BaseException) -> Iterator[BaseException]:
    """Give an error and everything that it was made from."""
    current: BaseException | None = error
    for _ in range(20):
        if current is None:
            return
        yield current
        original = getattr(current, "orig", None)
        if isinstance(original, BaseException):
            yield original
        current = current.__cause__ or current.__context__


def _sqlite_code(error: BaseException) -> int | None:
    return getattr(error, "sqlite_errorcode", None) if isinstance(error, sqlite3.Error) else None
