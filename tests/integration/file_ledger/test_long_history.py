"""What a long history needs: places found by halving, a small index, one that is built ahead."""

import dataclasses
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.file_ledger import ahead, segments, sqlite_index
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.file_ledger.places import LedgerPlaces
from astra.trusted.file_ledger.sqlite_index import SqliteIndex
from astra.trusted.file_ledger.stored import ChainFiles
from astra.trusted.kernel.errors import LedgerDamaged
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import chain, views
from astra.trusted.ledger.projection import CORE, MENTIONS, RECORDS
from astra.trusted.ledger.record import EMPTY, Event

KEY = KeyPair.generate()
OTHER_VERSION = (RECORDS, dataclasses.replace(MENTIONS, version=2), *CORE[2:])
TIME = "2026-03-01T12:00:00.000000Z"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def happened(number: int = 0, **members: str) -> Event:
    return Event(type="thing_happened", actor="agent", data={"n": number}, **members)


@contextmanager
def opened(
    var: Path, projections: tuple[sqlite_index.Projection, ...] = CORE
) -> Iterator[FileLedger]:
    ledger = FileLedger(var, projections=projections, key=KEY)
    try:
        yield ledger
    finally:
        ledger.close()


@pytest.fixture
def long_chain(tmp_path: Path) -> Path:
    """A segment of many times the size at which halving ends."""
    records = chain.link([happened(n) for n in range(3000)], after=EMPTY, time=TIME)
    lines = "".join(f"{record.line}\n" for record in records)
    (tmp_path / "2026-03.ndjson").write_text(lines)
    return tmp_path


def test_every_place_of_a_long_segment_is_found(long_chain: Path) -> None:
    whole = list(segments.lines(long_chain))
    for after in (0, 1, 2, 299, 1500, 2997, 2998, 2999, 3000, 9999):
        assert list(segments.lines(long_chain, after=after)) == whole[after:], after


def test_going_to_a_place_reads_little_of_what_is_before_it(long_chain: Path) -> None:
    path = long_chain / "2026-03.ndjson"
    with path.open("r+b") as file:  # what is in front of the place is spoilt, and nobody minds
        file.seek(1000)
        file.write(b"\n" * 2000)
    assert len(list(segments.lines(long_chain, after=2990))) == 10
    with pytest.raises(LedgerDamaged):
        list(segments.lines(long_chain, after=1))


def test_a_damaged_line_behind_the_place_is_met(long_chain: Path) -> None:
    path = long_chain / "2026-03.ndjson"
    path.write_bytes(path.read_bytes().replace(b'{"sequence":2000,', b'{"sequence":2x00,'))
    with pytest.raises(LedgerDamaged):
        list(segments.lines(long_chain, after=1990))


@given(actor=TEXTS, subject=st.none() | TEXTS, key=st.none() | TEXTS, text=TEXTS)
def test_the_index_gives_every_line_as_it_is_in_the_chain(
    actor: str, subject: str | None, key: str | None, text: str
) -> None:
    event = Event(type="thing_happened", actor=actor, subject=subject, key=key, data={"t": text})
    records = chain.link([event], after=EMPTY, time=TIME)
    records += chain.link([event] * 2, after=EMPTY, time=TIME)[1:]
    with closing(SqliteIndex(None, [RECORDS])) as index:
        index.apply(records)
        rows = index.query("SELECT line FROM record ORDER BY sequence")
    assert [line for (line,) in rows] == [record.line for record in records]


def test_a_line_with_other_escapes_than_ours_is_kept_as_it_is() -> None:
    (record,) = chain.link([happened()], after=EMPTY, time=TIME)
    record = chain.parse(record.line.replace('"actor":"agent"', '"actor":"\\u0061gent"'))
    assert record.actor == "agent"
    with closing(SqliteIndex(None, CORE)) as index:
        index.apply([record])
        assert index.query("SELECT line FROM record") == [(record.line,)]


def test_a_record_takes_little_more_room_in_the_index_than_in_the_chain(tmp_path: Path) -> None:
    """A line is not there twice: columns and line together took one and a half times the line."""
    with opened(tmp_path) as ledger:
        ledger.append([happened(n) for n in range(4000)])
        chain_size = sum(path.stat().st_size for path in (tmp_path / "ledger").iterdir())
        with closing(SqliteIndex(tmp_path / "index.sqlite3", [RECORDS])) as index:
            index.apply(segments.records(tmp_path / "ledger"))
        assert (tmp_path / "index.sqlite3").stat().st_size < 0.9 * chain_size


def test_who_reads_sees_what_was_acknowledged_while_others_read_and_append(tmp_path: Path) -> None:
    """Records wait in memory for a reader; none may look before they are folded."""
    failures: list[str] = []

    def append_and_read(number: int) -> None:
        for turn in range(50):
            (record,) = ledger.append([happened(key=f"{number}-{turn}")])
            if not ledger.query("SELECT 1 FROM record WHERE sequence = ?", [record.sequence]):
                failures.append(f"{record.sequence} was acknowledged and is not there")

    with opened(tmp_path) as ledger:
        threads = [threading.Thread(target=append_and_read, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert ledger.compare_rebuilt() == []


def test_records_that_nobody_reads_wait_together_and_no_more_than_some(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        ledger.append([happened()])
        ledger.write_checkpoint()
        (path,) = (tmp_path / "index").glob("index-*.sqlite3")
        with closing(sqlite3.connect(path)) as outside:
            for _ in range(3):
                ledger.append([happened()])
            assert outside.execute("SELECT count(*) FROM record").fetchone()[0] <= 4
            for _ in range(4):
                ledger.append([happened(n) for n in range(200)])
            ledger.query("SELECT 1")
            assert outside.execute("SELECT count(*) FROM record").fetchone() == (804,)


def test_an_index_is_built_ahead_while_another_version_serves_and_the_next_start_uses_it(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as serving:
        serving.append([happened(n) for n in range(100)])
        serving.write_checkpoint()
        assert build_ahead(tmp_path) == 100
        serving.append([happened(100)])
        assert len(views.records(serving, limit=1000)) == 101
    path, _ = sqlite_index.find_newest(tmp_path / "index", OTHER_VERSION)
    identity = path.stat().st_ino
    with opened(tmp_path, OTHER_VERSION) as after:
        assert len(views.records(after, limit=1000)) == 101
        assert after.compare_rebuilt() == []
    assert path.stat().st_ino == identity


def test_an_index_that_is_built_ahead_knows_nothing_that_a_crash_could_take_back(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as serving:
        serving.append([happened(n) for n in range(10)])
        serving.write_checkpoint()
        point = serving.last_checkpoint
        (chain_file,) = (tmp_path / "ledger").iterdir()
        with chain_file.open("ab") as file:  # written by a process that dies before its sync
            (record,) = chain.link([happened(10)], after=serving.head(), time=serving.head().time)
            file.write(f"{record.line}\n".encode())
        assert point
        assert build_ahead(tmp_path) == point.sequence == 10


def test_readers_keep_few_pages_however_long_the_history_is(tmp_path: Path) -> None:
    """There are up to eight, and each would come to hold two megabytes of a large index."""
    with opened(tmp_path) as ledger:
        ledger.append([happened()])
        assert ledger.query("PRAGMA cache_size") == [(-512,)]


def test_building_ahead_again_does_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as serving:
        serving.append([happened()])
        assert build_ahead(tmp_path) == build_ahead(tmp_path) == 1


def build_ahead(var: Path) -> int:
    places = LedgerPlaces(var)
    stored_chain = ChainFiles(places.chain)
    return ahead.build_ahead(places, OTHER_VERSION, stored_chain, public_key=KEY.public)
