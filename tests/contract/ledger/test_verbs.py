"""The verbs of the port: what everybody asks of records, alike for every ledger."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.testing import MemoryLedger, SetClock
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from every_ledger import LEDGERS, open_ledger

SHIP, BOAT = "des_00000001", "des_00000002"


@pytest.fixture(params=LEDGERS)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(request.param, tmp_path / "var", SetClock()) as opened:
        opened.append(
            [
                Event(type="ship_built", actor="agent", subject=SHIP, key="built"),
                Event(type="boat_built", actor="agent", subject=BOAT, data={"beside": SHIP}),
                Event(type="ship_sailed", actor="agent", subject=SHIP),
                Event(type="boat_built", actor="agent"),
                Event(type="ship_sailed", actor="agent", subject=SHIP),
                Event(type="crew_rested", actor="agent"),
            ]
        )
        yield opened


def sequences(records: list[Record]) -> list[int]:
    return [record.sequence for record in records]


def test_the_version_of_a_subject_counts_its_records(ledger: Ledger) -> None:
    assert [ledger.version(name) for name in (SHIP, BOAT, "des_00000009")] == [3, 1, 0]


def test_a_key_is_known_once_it_is_claimed(ledger: Ledger) -> None:
    assert ledger.is_claimed("built")
    assert not ledger.is_claimed("sunk")


def test_one_row_is_the_first_of_an_answer_and_sees_what_was_just_appended(ledger: Ledger) -> None:
    newest = "SELECT sequence FROM record WHERE type = ? ORDER BY sequence DESC"
    assert ledger.query_row(newest, ["ship_sailed"]) == (5,)
    assert ledger.query_row(newest, ["never_happened"]) is None
    ledger.append([Event(type="ship_sailed", actor="agent", subject=SHIP)])
    assert ledger.query_row(newest, ["ship_sailed"]) == (7,)


def test_a_wait_goes_beyond_the_position_of_the_index(ledger: Ledger) -> None:
    assert ledger.position() == 6
    assert not ledger.wait(ledger.position(), 0.0)
    assert ledger.wait(ledger.position() - 1, 0.0)
    ledger.append([Event(type="crew_rested", actor="agent")])
    assert ledger.position() == 7


def test_one_record_is_found_by_its_place(ledger: Ledger) -> None:
    record = ledger.record(2)
    assert record is not None
    assert (record.sequence, record.type, record.data) == (2, "boat_built", {"beside": SHIP})
    assert [ledger.record(place) for place in (0, 7, -1)] == [None, None, None]


def test_a_page_of_every_type_lies_between_two_places(ledger: Ledger) -> None:
    assert sequences(ledger.records()) == [1, 2, 3, 4, 5, 6]
    assert sequences(ledger.records(after=2, before=6, limit=2)) == [3, 4]
    assert sequences(ledger.records(after=2, before=6, limit=2, newest_first=True)) == [5, 4]


def test_a_page_of_one_type_and_of_several_is_in_order(ledger: Ledger) -> None:
    assert sequences(ledger.records("ship_sailed")) == [3, 5]
    assert sequences(ledger.records("ship_sailed", "boat_built")) == [2, 3, 4, 5]
    assert sequences(ledger.records("ship_sailed", "boat_built", limit=3)) == [2, 3, 4]
    newest = ledger.records("ship_sailed", "boat_built", after=1, limit=3, newest_first=True)
    assert sequences(newest) == [5, 4, 3]
    assert ledger.records("never_happened") == []


def test_pages_join_up(ledger: Ledger) -> None:
    pages, place = list[list[int]](), 0
    while page := sequences(ledger.records("ship_sailed", "boat_built", after=place, limit=3)):
        pages.append(page)
        place = page[-1]
    assert pages == [[2, 3, 4], [5]]


def test_the_newest_record_is_of_some_types_or_of_any(ledger: Ledger) -> None:
    assert [
        record and record.sequence
        for record in (
            ledger.newest(),
            ledger.newest("ship_sailed"),
            ledger.newest("boat_built", "ship_built"),
            ledger.newest("ship_sailed", before=5),
            ledger.newest("never_happened"),
        )
    ] == [6, 5, 4, 3, None]


def test_the_newest_record_is_asked_anew_once_the_ledger_moved(ledger: Ledger) -> None:
    for sequence in range(7, 12):
        assert ledger.newest("crew_woken") == ledger.newest("crew_woken")
        (woken,) = ledger.append([Event(type="crew_woken", actor="agent")])
        assert ledger.newest("crew_woken") == ledger.newest() == woken
        assert woken.sequence == sequence


def test_nobody_reads_a_newest_record_older_than_one_that_was_acknowledged(ledger: Ledger) -> None:
    """Appends and reads at once: what an append gave is the least that a read may give after it."""
    stale: list[tuple[int, int]] = []

    def append_and_read() -> None:
        for _ in range(25):
            (woken,) = ledger.append([Event(type="crew_woken", actor="agent")])
            newest = ledger.newest("crew_woken")
            if newest is None or newest.sequence < woken.sequence:
                stale.append((woken.sequence, newest.sequence if newest else 0))

    threads = [threading.Thread(target=append_and_read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stale == []
    newest = ledger.newest("crew_woken")
    assert newest is not None
    assert newest.sequence == 106


def test_an_empty_ledger_has_no_newest_record() -> None:
    ledger = MemoryLedger()
    assert ledger.newest() is None
    assert ledger.records() == []


def test_records_of_a_subject_are_those_about_it_and_not_those_that_name_it(ledger: Ledger) -> None:
    assert sequences(ledger.records_of(SHIP)) == [1, 3, 5]
    assert sequences(ledger.records_of(SHIP, "ship_sailed")) == [3, 5]
    assert sequences(ledger.find_mentions(SHIP)) == [1, 2, 3, 5]


def test_records_that_name_an_id_come_in_pages_of_some_types(ledger: Ledger) -> None:
    assert sequences(ledger.find_mentions(SHIP, "boat_built", "ship_built")) == [1, 2]
    assert sequences(ledger.find_mentions(SHIP, after=1, before=5, limit=1)) == [2]
    assert sequences(ledger.find_mentions(SHIP, "ship_sailed", limit=1, newest_first=True)) == [5]
    assert ledger.find_mentions("des_00000009") == []
