"""Single rows are read beside the writer: at once, without a commit of the index for each."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from astra.bootstrap import PROJECTIONS
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.ledger.record import Event
from astra.trusted.policy.switches import Switches
from astra.trusted.settings import environment

COUNT = "SELECT count(*) FROM record"


def make_event(number: int) -> Event:
    return Event(type="ship_sailed", actor="agent", subject="des_00000001", key=f"sail {number}")


def count_committed(ledger: FileLedger) -> int:
    """Count what another process would see of the index."""
    (path,) = ledger.places.index.glob("index-*.sqlite3")
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return int(connection.execute(COUNT).fetchone()[0])


def test_a_row_is_read_without_committing_and_a_page_commits(tmp_path: Path) -> None:
    with closing(FileLedger(tmp_path)) as ledger:
        ledger.append([make_event(1)])
        ledger.query(COUNT)
        ledger.append([make_event(2)])
        assert ledger.version("des_00000001") == 2
        assert ledger.is_claimed("sail 2")
        assert count_committed(ledger) == 1
        assert ledger.query(COUNT) == [(2,)]
        assert count_committed(ledger) == 2


def test_a_row_of_an_index_that_fell_behind_is_read_when_it_caught_up(tmp_path: Path) -> None:
    with closing(FileLedger(tmp_path)) as ledger:
        ledger.append([make_event(1)])
        ledger._index.behind = True
        ledger.append([make_event(2)])
        assert ledger.version("des_00000001") == 2
        ledger._index.behind = True
        assert ledger.query_row(COUNT) == (2,)


def test_rows_read_by_many_while_others_append_are_never_of_half_a_batch(tmp_path: Path) -> None:
    appending = threading.Event()

    def read_versions(ledger: FileLedger) -> set[int]:
        versions: set[int] = set()
        while not appending.is_set():
            versions.add(ledger.version("des_00000001"))
        return versions

    with closing(FileLedger(tmp_path)) as ledger, ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read_versions, ledger) for _ in range(3)]
        for number in range(100):
            ledger.append([make_event(2 * number), make_event(2 * number + 1)])
        appending.set()
        assert all(version % 2 == 0 for reader in readers for version in reader.result(240))
        assert ledger.version("des_00000001") == 200


def test_the_newest_record_of_a_type_is_read_without_a_commit(tmp_path: Path) -> None:
    with closing(FileLedger(tmp_path)) as ledger:
        ledger.append([make_event(1)])
        ledger.query(COUNT)
        ledger.append([make_event(2)])
        newest = ledger.newest("ship_sailed")
        assert newest is not None
        assert newest.sequence == 2
        assert ledger.newest("ship_sailed", before=2) == ledger.record(1)
        assert ledger.newest("ship_sunk") is None
        assert count_committed(ledger) == 1


def test_flags_are_read_again_without_a_commit_once_one_was_set(tmp_path: Path) -> None:
    name = "AGENT_PLANNING_ENABLED"
    with closing(FileLedger(tmp_path, projections=PROJECTIONS)) as ledger:
        settings = environment.load({"AGENT_DATA_ROOT": str(tmp_path), "HOME": str(tmp_path)})
        switches = Switches(ledger=ledger, settings=settings, stopped=lambda: False)
        assert switches.read_states()[name]
        for number in range(3):
            ledger.append([make_event(number)])
            assert switches.read_states()[name]
        assert count_committed(ledger) == 0
        switches.turn_off(name, actor="operator")
        assert not switches.read_states()[name]
        ledger.append([make_event(4)])
        assert not switches.read_states()[name]
