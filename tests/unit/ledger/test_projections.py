"""Every projection keeps to its own tables: many records may be folded at once."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from astra.bootstrap import PROJECTIONS
from astra.testing import MemoryLedger
from astra.trusted.file_ledger.sqlite_index import SqliteIndex
from astra.trusted.ledger import chain
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record
from fleet_in_memory import LABELS, FleetInMemory
from holding import CRASHES

TABLES = ("CREATE TABLE thing (id TEXT PRIMARY KEY)",)


def add_thing(record: Record) -> Iterator[Statement]:
    yield "INSERT INTO thing VALUES (?)", (record.actor,)


def remove_thing(_record: Record) -> Iterator[Statement]:
    yield "DELETE FROM thing", ()


def copy_thing(_record: Record) -> Iterator[Statement]:
    yield "INSERT INTO copy SELECT id FROM thing", ()


@pytest.mark.parametrize("apply", [remove_thing, copy_thing])
def test_a_projection_that_touches_a_table_of_another_one_is_refused_in_tests(
    apply: Callable[[Record], Iterator[Statement]],
) -> None:
    things = Projection("things", TABLES, add_thing)
    other = Projection("other", ("CREATE TABLE copy (id TEXT)",), apply)
    ledger = MemoryLedger(projections=(things, other))
    with pytest.raises(AssertionError, match="other touches thing, a table of another one"):
        ledger.append([Event(type="thing_happened", actor="agent", data={})])
    ledger.close()


def dump(index: SqliteIndex) -> dict[str, list[tuple[object, ...]]]:
    return {
        table: sorted(index.query(f"SELECT * FROM {table}"), key=repr) for table in index.tables()
    }


def test_rollouts_folded_at_once_are_what_they_were_record_by_record() -> None:
    """A machine that joins, and a new version, fold everything at once."""
    fleet = FleetInMemory()
    good = fleet.deploy("a")
    bad = fleet.misbehave(CRASHES, "b", LABELS[-1])
    assert (good.state, bad.state) == ("settled", "rolled_back")
    records = [chain.parse(line) for line in fleet.world.root.ledger.lines]
    with (
        closing(SqliteIndex(None, PROJECTIONS)) as slow,
        closing(SqliteIndex(None, PROJECTIONS)) as quick,
    ):
        for record in records:
            slow.apply([record])
        quick.apply(records)
        assert dump(quick) == dump(slow)
