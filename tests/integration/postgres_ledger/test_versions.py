"""Old and new versions on one chain: what goes on, and what is refused."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from astra.adapters.postgres_ledger.ledger import PostgresLedger
from astra.bootstrap import PROJECTIONS
from astra.trusted.kernel.clock import SystemClock
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.formats import FORMAT, FORMAT_RAISED
from astra.trusted.ledger.record import Event
from postgres_server import Database, new_database

HAPPENED = Event(type="thing_happened", actor="daemon", data={})


@pytest.fixture
def database() -> Iterator[Database]:
    with new_database() as database:
        yield database


def open_ledger(database: Database, folder: Path, *, is_newer: bool = False) -> PostgresLedger:
    """Open the chain as this version; a newer one is played by one that checks no format."""
    folder.mkdir(exist_ok=True)
    projections = [p for p in PROJECTIONS if not (is_newer and p.name == "formats")]
    return PostgresLedger(database.url, folder, projections=tuple(projections), clock=SystemClock())


def test_records_of_a_kind_that_an_older_version_does_not_know_are_passed_over(
    database: Database, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        old = stack.enter_context(closing(open_ledger(database, tmp_path / "old")))
        new = stack.enter_context(closing(open_ledger(database, tmp_path / "new", is_newer=True)))
        new.append([Event(type="thing_of_a_newer_version", actor="daemon", data={"x": 1})])
        records = [*old.append([HAPPENED]), *new.append([HAPPENED])]
        assert [record.sequence for record in records] == [2, 3]


def test_a_raised_format_ends_the_appends_of_older_versions_at_once(
    database: Database, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        old = stack.enter_context(closing(open_ledger(database, tmp_path / "old")))
        new = stack.enter_context(closing(open_ledger(database, tmp_path / "new", is_newer=True)))
        old.append([HAPPENED])
        raised = {"format": FORMAT + 1, "version": "99.0"}
        new.append([Event(type=FORMAT_RAISED, actor="operator", data=raised)])
        with pytest.raises(AstraError) as refusal:
            old.append([HAPPENED])
        assert "99.0" in str(refusal.value.next_step) + str(refusal.value.detail)
        assert new.head().sequence == 2, "nothing of the older version came after it"
        new.append([HAPPENED])
    with pytest.raises(AstraError, match=r"99\.0"):
        open_ledger(database, tmp_path / "old").close()
