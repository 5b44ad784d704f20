"""What every ledger promises, whatever it is made of."""

import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from astra.testing import SetClock
from astra.trusted.kernel.canonical import NotCanonical
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import BadInput, DuplicateKey, StaleVersion
from astra.trusted.ledger import views
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import GENESIS, Event
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED
from every_ledger import LEDGERS, open_ledger

Make = Callable[[], Ledger]


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(params=LEDGERS)
def ledger(request: pytest.FixtureRequest, tmp_path: Path, clock: SetClock) -> Iterator[Ledger]:
    with open_ledger(request.param, tmp_path / "var", clock) as ledger:
        yield ledger


def happened(text: str = "hello", **fields: str) -> Event:
    return Event(type="thing_happened", actor="agent", data={"text": text}, **fields)


def test_the_first_record_links_to_nothing(ledger: Ledger) -> None:
    (record,) = ledger.append([happened()])
    assert record.sequence == 1
    assert record.previous == GENESIS
    assert ledger.head() == (1, record.hash, record.time)


def test_each_record_links_to_the_one_before(ledger: Ledger) -> None:
    first, second = ledger.append([happened(), happened()])
    (third,) = ledger.append([happened()])
    assert [second.previous, third.previous] == [first.hash, second.hash]


def test_events_of_one_append_say_that_they_belong_together(ledger: Ledger) -> None:
    ledger.append([happened()])
    records = ledger.append([happened(), happened(), happened()])
    assert [record.batch for record in records] == [(2, 3)] * 3


def test_what_was_appended_is_in_the_index_when_the_call_returns(ledger: Ledger) -> None:
    (record,) = ledger.append([happened("sail")])
    assert views.records(ledger) == [record]
    assert views.records(ledger)[0].data == {"text": "sail"}


def test_appending_nothing_is_nothing(ledger: Ledger) -> None:
    assert ledger.append([]) == []
    assert ledger.head().is_empty


def test_a_subject_advances_with_every_record_about_it(ledger: Ledger) -> None:
    ledger.append([happened(subject="des_00000001")], expect={"des_00000001": 0})
    ledger.append([happened(subject="des_00000001")], expect={"des_00000001": 1})
    with pytest.raises(StaleVersion) as refused:
        ledger.append([happened(subject="des_00000001")], expect={"des_00000001": 1})
    assert refused.value.facts["version"] == 2
    assert ledger.head().sequence == 2


def test_a_key_is_claimed_once(ledger: Ledger) -> None:
    ledger.append([happened(key="firing:1")])
    with pytest.raises(DuplicateKey):
        ledger.append([happened(key="firing:1")])
    assert ledger.head().sequence == 1


def test_a_batch_that_claims_a_key_twice_is_refused_whole(ledger: Ledger) -> None:
    with pytest.raises(DuplicateKey):
        ledger.append([happened(key="a"), happened(key="a")])
    assert ledger.head().is_empty


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (Event(type="Not A Name", actor="agent"), BadInput),
        (Event(type="thing_happened", actor="agent", correlation="nonsense"), BadInput),
        (Event(type="thing_happened", actor="agent", data={"n": float("nan")}), NotCanonical),
        (Event(type="thing_happened", actor="agent", data={"n": 2**60}), NotCanonical),
        (Event(type="thing_happened", actor="\ud800"), NotCanonical),
        (Event(type="thing_happened", actor="agent", data={"text": "x" * (1 << 20)}), BadInput),
    ],
)
def test_a_batch_with_one_bad_event_leaves_no_trace(
    ledger: Ledger, event: Event, error: type[BadInput]
) -> None:
    with pytest.raises(error):
        ledger.append([happened(), event])
    assert ledger.head().is_empty
    assert views.records(ledger) == []


def test_time_never_decreases(ledger: Ledger, clock: SetClock) -> None:
    (first,) = ledger.append([happened()])
    clock.advance(hours=-5)
    (second,) = ledger.append([happened()])
    assert second.time == first.time


def test_lazy_events_are_chained_and_reach_the_index_soon(ledger: Ledger) -> None:
    (record,) = ledger.append([happened()], lazy=True)
    assert ledger.wait(after=0, timeout=60)
    assert views.records(ledger) == [record]


def test_a_settled_head_can_be_looked_up_at_once(ledger: Ledger) -> None:
    ledger.append([happened()])
    ledger.append([happened("soon")], lazy=True)
    settled = views.settled_head(ledger)
    (found,) = views.records(ledger, after=settled.sequence - 1, limit=1)
    assert (found.sequence, found.hash) == (settled.sequence, settled.hash)


def test_lazy_events_come_before_a_later_durable_one(ledger: Ledger) -> None:
    (lazy,) = ledger.append([happened()], lazy=True)
    (durable,) = ledger.append([happened()])
    assert views.records(ledger) == [lazy, durable]


@pytest.mark.parametrize("field", ["subject", "key"])
def test_lazy_events_promise_nothing_about_subjects_or_keys(ledger: Ledger, field: str) -> None:
    with pytest.raises(BadInput):
        ledger.append([happened(**{field: "des_00000001"})], lazy=True)


def test_many_callers_make_one_unbroken_chain_and_exactly_one_wins_a_key(ledger: Ledger) -> None:
    wins: list[int] = []

    def work(number: int) -> None:
        for turn in range(10):
            ledger.append([happened(f"{number}"), happened(f"{turn}")])
        try:
            ledger.append([happened(key="only-one")])
            wins.append(number)
        except DuplicateKey:
            pass

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = views.records(ledger, limit=1_000)
    assert len(wins) == 1
    assert [record.sequence for record in records] == list(range(1, 322))
    assert all(b.previous == a.hash for a, b in pairwise(records))


def test_a_caller_sees_its_own_append_whoever_else_reads_meanwhile(ledger: Ledger) -> None:
    def newest() -> int:
        return ledger.query("SELECT max(sequence) FROM record")[0][0] or 0

    def read() -> None:
        while not done.is_set():
            newest()

    done = threading.Event()
    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for _ in range(300):
            (record,) = ledger.append([happened()])
            assert newest() == record.sequence
    finally:
        done.set()
        for reader in readers:
            reader.join()


def test_waiting_ends_when_something_arrives_or_the_time_is_up(ledger: Ledger) -> None:
    assert not ledger.wait(after=0, timeout=0)
    arrived: list[bool] = []
    waiter = threading.Thread(target=lambda: arrived.append(ledger.wait(after=0, timeout=60)))
    waiter.start()
    ledger.append([happened()])
    waiter.join()
    assert arrived == [True]


def test_a_story_is_everything_that_shares_its_correlations(ledger: Ledger) -> None:
    story, other = "cor_00000000000000aa", "cor_00000000000000bb"
    ledger.append([happened(correlation=story, subject="des_00000001")])
    ledger.append([happened(correlation=other, subject="des_00000002")])
    ledger.append([happened(correlation=story, subject="chg_00000003")])
    mentioning = Event(
        type="thing_happened",
        actor="agent",
        correlation=other,
        data={"about": {"change": "chg_00000004"}},
    )
    ledger.append([mentioning])
    assert [r.sequence for r in views.story(ledger, "chg_00000003")] == [1, 3]
    assert [r.sequence for r in views.story(ledger, "chg_00000004")] == [2, 4]
    assert [r.sequence for r in views.story(ledger, story)] == [1, 3]
    assert views.story(ledger, "des_ffffffff") == []


def test_records_are_listed_by_type_and_from_a_place_on(ledger: Ledger) -> None:
    ledger.append([happened(), Event(type="flag_set", actor="operator"), happened()])
    assert [r.sequence for r in views.records(ledger, type_="thing_happened")] == [1, 3]
    assert [r.sequence for r in views.records(ledger, after=1, limit=1)] == [2]
    assert [r.sequence for r in views.newest_records(ledger, count=2)] == [2, 3]
    assert [r.sequence for r in views.newest_records(ledger, count=2, type_="thing_happened")] == [
        1,
        3,
    ]


def test_whoever_waits_can_be_woken_without_a_record(ledger: Ledger) -> None:
    heard: list[bool] = []
    waiter = threading.Thread(target=lambda: heard.append(ledger.wait(ledger.head().sequence, 600)))
    waiter.start()
    while waiter.is_alive():
        ledger.wake()
        waiter.join(0.01)
    assert heard == [False]


def accepted(*, signed: bool = True) -> Event:
    return Event(type=CLOCK_ACCEPTED, actor="operator", data={}, signed=signed)


def test_an_acceptance_of_the_clock_lets_time_go_back(ledger: Ledger, clock: SetClock) -> None:
    clock.advance(days=365)
    ledger.append([happened()])
    clock.advance(days=-365)
    (record,) = ledger.append([accepted()])
    (later,) = ledger.append([happened()])
    assert record.time == later.time == format_time(clock.now())


def test_nothing_else_lets_time_go_back(ledger: Ledger, clock: SetClock) -> None:
    clock.advance(days=365)
    (first,) = ledger.append([happened()])
    clock.advance(days=-365)
    (unsigned,) = ledger.append([accepted(signed=False)])
    batch = ledger.append([happened(), accepted()])
    assert {unsigned.time, *(record.time for record in batch)} == {first.time}
