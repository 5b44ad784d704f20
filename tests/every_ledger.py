"""Every ledger there is, for the tests that all of them have to pass."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from astra.adapters.postgres_ledger.ledger import PostgresLedger
from astra.testing import MemoryLedger, SetClock
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.ledger.ports import Ledger
from postgres_server import new_database

LEDGERS = ("memory", "file", "postgres")


@contextmanager
def open_ledger(kind: str, var: Path, clock: SetClock) -> Iterator[Ledger]:
    if kind == "memory":
        with closing(MemoryLedger(clock=clock)) as ledger:
            yield ledger
    elif kind == "file":
        with closing(FileLedger(var, clock=clock)) as ledger:
            yield ledger
    else:
        with (
            new_database() as database,
            closing(PostgresLedger(database.url, var, clock=clock)) as ledger,
        ):
            yield ledger
