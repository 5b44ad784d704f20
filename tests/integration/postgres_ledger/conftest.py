from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from astra.adapters.postgres_ledger.ledger import PostgresLedger
from astra.testing import SetClock
from postgres_server import Database, PostgresServer, new_database

Open = Callable[..., PostgresLedger]


@pytest.fixture
def database() -> Iterator[Database]:
    with new_database() as database:
        yield database


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """Give a server of its own, for tests that restart it."""
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture
def open_machine(tmp_path: Path) -> Iterator[Open]:
    """Open the ledger of a machine: a data folder of its own on a chain."""
    with ExitStack() as stack:

        def open_one(url: str, name: str = "one", **options: object) -> PostgresLedger:
            ledger = PostgresLedger(url, tmp_path / name / "var", clock=SetClock(), **options)  # pyright: ignore[reportArgumentType]
            stack.callback(ledger.close)
            return ledger

        yield open_one
