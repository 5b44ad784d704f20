"""Desires as a person meets them: strongest first, fading, coming back, and never lost."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.bootstrap import PROJECTIONS
from astra.desires import book as queries
from astra.desires import views as tables
from astra.desires.book import Desires
from astra.desires.model import Desire, Filter
from astra.testing import GateInMemory, RootInMemory
from astra.trusted.file_ledger.sqlite_index import SqliteIndex
from astra.trusted.kernel.clock import parse_time
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.ledger import chain, views

Want = Callable[..., Desire]


def texts(book: Desires, **wanted: Any) -> list[str]:
    return [desire.text for desire in book.list_desires(Filter(**wanted), limit=200).items]


def test_the_id_is_the_hash_of_text_and_timestamp(book: Desires, want: Want) -> None:
    made = want("learn to sail")
    (record,) = views.records(book.ledger, type_="desire_recorded")
    named = hashlib.sha256(f"learn to sail{record.data['timestamp']}".encode()).hexdigest()
    assert made.id == f"des_{named[:8]}"


def test_an_id_that_is_taken_is_lengthened(want: Want) -> None:
    first, second, third = want("sail"), want("sail"), want("sail")
    assert [len(made.id) for made in (first, second, third)] == [12, 16, 20]
    assert third.id.startswith(second.id)


def test_a_desire_starts_at_full_strength_unless_told_otherwise(want: Want) -> None:
    assert want("sail").strength == 1.0
    assert want("row", strength=0.3).strength == 0.3


def test_what_was_said_is_kept(book: Desires, want: Want) -> None:
    made = want("sail", tags=["sea", "sea", " Wind "], context={"conversation": 7})
    assert book.get(made.id) == replace(made)
    assert made.tags == ("sea", "Wind")
    assert made.context == {"conversation": 7}


def test_strength_halves_in_a_half_life(gate: GateInMemory, book: Desires, want: Want) -> None:
    made = want("sail", strength=0.8)
    gate.root.clock.advance(days=14)
    assert book.get(made.id).strength == pytest.approx(0.4, rel=1e-12)
    gate.root.clock.advance(days=7)
    assert book.get(made.id).strength == pytest.approx(0.8 * 0.5**1.5, rel=1e-12)


def test_time_passing_writes_nothing(gate: GateInMemory, book: Desires, want: Want) -> None:
    want("sail")
    head = book.ledger.head()
    gate.root.clock.advance(days=300)
    book.list_desires()
    assert book.ledger.head() == head


def test_a_clock_that_goes_back_makes_nothing_stronger(
    gate: GateInMemory, book: Desires, want: Want
) -> None:
    made = want("sail", strength=0.5)
    gate.root.clock.advance(days=-30)
    assert book.get(made.id).strength == pytest.approx(0.5, rel=1e-12)


def test_an_older_strong_one_falls_behind_a_newer_weak_one(
    gate: GateInMemory, book: Desires, want: Want
) -> None:
    want("old", strength=1.0)
    gate.root.clock.advance(days=14)
    want("new", strength=0.6)
    assert texts(book) == ["new", "old"]


def test_of_two_equal_ones_the_first_recorded_comes_first(book: Desires, want: Want) -> None:
    for text in ("c", "a", "b"):
        want(text)
    assert texts(book) == ["c", "a", "b"]


def test_reinforcing_raises_what_is_left_and_starts_anew(
    gate: GateInMemory, book: Desires, want: Want
) -> None:
    made = want("sail", strength=0.8)
    gate.root.clock.advance(days=14)
    assert book.reinforce(made.id, 0.3, actor="agent:test").strength == pytest.approx(0.7)
    gate.root.clock.advance(days=14)
    found = book.get(made.id)
    assert found.strength == pytest.approx(0.35)
    assert found.reinforcements == 1


def test_reinforcing_stops_at_one(book: Desires, want: Want) -> None:
    made = want("sail", strength=0.9)
    assert book.reinforce(made.id, 1.0, actor="agent:test").strength == 1.0
    assert book.get(made.id).strength == 1.0


def test_below_the_threshold_a_desire_leaves_the_list_by_itself(
    gate: GateInMemory, book: Desires, want: Want
) -> None:
    made = want("sail", tags=["sea"])
    gate.root.clock.advance(days=14 * math.log2(10) - 0.001)
    assert texts(book) == ["sail"]
    gate.root.clock.advance(days=0.002)
    assert texts(book) == texts(book, tag="sea") == texts(book, search="sail") == []
    assert book.get(made.id).state == "faded"
    assert texts(book, faded=True) == ["sail"]


def test_a_faded_one_comes_back_when_it_is_reinforced(
    gate: GateInMemory, book: Desires, want: Want
) -> None:
    made = want("sail", tags=["sea"])
    gate.root.clock.advance(days=100)
    book.reinforce(made.id, actor="agent:test")
    assert texts(book) == texts(book, tag="sea") == ["sail"]


def test_pruning_puts_away_the_faded_and_nothing_else(
    gate: GateInMemory, book: Desires, want: Want
) -> None:
    old = want("old")
    gate.root.clock.advance(days=100)
    want("new")
    assert book.prune(actor="user:1000", correlation="cor_0000000000000002") == 1
    assert texts(book, faded=True) == ["new"]
    assert book.get(old.id).state == "pruned"
    assert "old" in "".join(record.line for record in views.story(book.ledger, old.id))


def test_pruning_nothing_records_nothing(book: Desires, want: Want) -> None:
    want("sail")
    head = book.ledger.head()
    assert book.prune(actor="user:1000", correlation="cor_0000000000000002") == 0
    assert book.ledger.head() == head


def test_a_pruned_one_comes_back_when_it_is_reinforced(
    gate: GateInMemory, book: Desires, want: Want
) -> None:
    made = want("sail")
    gate.root.clock.advance(days=100)
    book.prune(actor="user:1000", correlation="cor_0000000000000002")
    book.reinforce(made.id, 0.5, actor="agent:test")
    assert texts(book) == ["sail"]


def test_lists_filter_by_strength_tag_and_text(book: Desires, want: Want) -> None:
    want("Learn to SAIL", strength=0.9, tags=["Sea"])
    want("learn to row", strength=0.5, tags=["sea", "lake"])
    want("Straße am Meer", strength=0.3)
    assert texts(book, min_strength=0.4) == ["Learn to SAIL", "learn to row"]
    assert texts(book, tag="SEA") == ["Learn to SAIL", "learn to row"]
    assert texts(book, tag="lake") == ["learn to row"]
    assert texts(book, tag="nowhere") == []
    assert texts(book, search="learn TO") == ["Learn to SAIL", "learn to row"]
    assert texts(book, search="STRASSE AM") == ["Straße am Meer"]
    assert texts(book, search="%") == texts(book, search="_") == []
    assert texts(book, tag="sea", search="row", min_strength=0.4) == ["learn to row"]


def test_pages_follow_each_other_while_time_passes(
    gate: GateInMemory, book: Desires, want: Want
) -> None:
    for number in range(7):
        want(f"wish {number}", strength=1 - (number // 2) / 10, tags=["all"])
    for wanted in (Filter(), Filter(tag="all")):
        seen, cursor = [], None
        while True:
            page = book.list_desires(wanted, limit=2, cursor=cursor)
            seen += [desire.text for desire in page.items]
            gate.root.clock.advance(hours=1)
            if (cursor := page.next) is None:
                break
        assert seen == [f"wish {number}" for number in range(7)]


@pytest.mark.parametrize("cursor", ["", "x", "1", "nan", "1:y", "1:0x1p99999", f"{1 << 70}:0x1p0"])
def test_a_cursor_that_is_none_is_refused(book: Desires, want: Want, cursor: str) -> None:
    want("sail")
    with pytest.raises(BadInput, match="cursor"):
        book.list_desires(cursor=cursor)


def test_an_unknown_desire_is_not_found(book: Desires) -> None:
    for identifier in ("des_00000000", "\x1b[2J", "x" * 10_000):
        with pytest.raises(NotFound) as missing:
            book.get(identifier)
        assert len(missing.value.detail) < 100
    with pytest.raises(NotFound):
        book.reinforce("des_00000000", actor="agent:test")


@pytest.mark.parametrize(
    "fields",
    [
        {"text": ""},
        {"text": " \n"},
        {"text": "x" * 2001},
        {"text": "a\0b"},
        {"text": "\ud800"},
        {"strength": -0.1},
        {"strength": 1.1},
        {"strength": float("nan")},
        {"tags": [""]},
        {"tags": ["x" * 65]},
        {"tags": ["\udfff"]},
        {"tags": [str(number) for number in range(21)]},
        {"context": "x" * 8001},
        {"context": {"deep": {"a": float("inf")}}},
    ],
)
def test_what_is_no_desire_is_refused_and_leaves_no_trace(
    book: Desires, want: Want, fields: dict[str, Any]
) -> None:
    head = book.ledger.head()
    with pytest.raises(BadInput) as refused:
        want(**{"text": "sail", **fields})
    assert refused.value.next_step
    assert book.ledger.head() == head


def test_secrets_do_not_reach_the_chain(book: Desires, want: Want) -> None:
    token = "ghp_" + "a1B2" * 9
    made = want(f"use {token}", tags=[token], context={"note": token})
    assert token not in str(made)
    assert token not in "".join(record.line for record in views.records(book.ledger))


# The half-life


def test_the_first_desire_records_the_half_life_it_fades_with(book: Desires, want: Want) -> None:
    want("sail")
    want("row")
    types = [record.type for record in views.records(book.ledger, after=1)]
    assert types == ["desire_half_life_set", "desire_recorded", "desire_recorded"]


def test_a_new_half_life_counts_from_its_record_on(
    gate: GateInMemory, book: Desires, want: Want
) -> None:
    made = want("sail")
    gate.root.clock.advance(days=14)
    faster = replace(book, half_life_days=7.0)
    faster.settle()
    assert faster.get(made.id).strength == pytest.approx(0.5, rel=1e-12)
    gate.root.clock.advance(days=7)
    assert faster.get(made.id).strength == pytest.approx(0.25, rel=1e-12)


def test_settling_on_the_same_half_life_records_nothing(book: Desires, want: Want) -> None:
    book.settle()
    assert book.ledger.head().sequence == 1
    want("sail")
    head = book.ledger.head()
    book.settle()
    assert book.ledger.head() == head


def test_a_new_half_life_neither_revives_nor_reorders(
    gate: GateInMemory, book: Desires, want: Want
) -> None:
    faded = want("faded")
    gate.root.clock.advance(days=50)
    want("a", strength=0.5)
    gate.root.clock.advance(days=10)
    want("b", strength=0.4)
    before = texts(book)
    slower = replace(book, half_life_days=3650.0)
    slower.settle()
    assert texts(slower) == before
    assert slower.get(faded.id).state == "faded"


def test_the_tables_are_the_same_whatever_the_settings_of_who_rebuilds_them(
    gate: GateInMemory, book: Desires, want: Want
) -> None:
    want("sail", tags=["sea"])
    gate.root.clock.advance(days=3)
    replace(book, half_life_days=2.0).settle()
    book.reinforce(want("row").id, actor="agent:test")
    rebuilt = SqliteIndex(None, PROJECTIONS)
    rebuilt.apply(chain.parse(line) for line in gate.root.ledger.lines)
    for table in ("fading", "desire", "desire_tag", "due_step"):
        asked = f"SELECT * FROM {table} ORDER BY 1, 2"
        assert rebuilt.query(asked) == book.ledger.query(asked)
    rebuilt.close()


# Naive bookkeeping as the judge

MOVES = st.one_of(
    st.tuples(st.just("record"), st.floats(0, 1)),
    st.tuples(st.just("reinforce"), st.integers(0, 30), st.floats(0.01, 1)),
    st.tuples(st.just("wait"), st.floats(0, 40)),
    st.tuples(st.just("half-life"), st.floats(0.5, 100)),
    st.tuples(st.just("prune")),
)


@given(st.lists(MOVES, max_size=25))
def test_the_list_is_what_decaying_and_sorting_everything_gives(moves: list[Any]) -> None:
    gate = GateInMemory(RootInMemory())
    book, clock = gate.desires, gate.root.clock
    naive: dict[str, float] = {}
    order: list[str] = []
    for move in moves:
        match move:
            case ("record", strength):
                made = book.record(
                    "wish", strength=strength, actor="a", correlation="cor_0000000000000001"
                )
                naive[made.id] = strength
                order.append(made.id)
            case ("reinforce", number, amount) if order:
                chosen = order[number % len(order)]
                book.reinforce(chosen, amount, actor="a")
                naive[chosen] = min(naive[chosen] + amount, 1.0)
            case ("wait", days):
                before = parse_time(book.ledger.head().time).timestamp(), clock.now().timestamp()
                clock.advance(days=days)
                passed = (clock.now().timestamp() - max(before)) / book.read_fading().half_life
                naive = {each: strength * 0.5**passed for each, strength in naive.items()}
            case ("half-life", days):
                book = replace(book, half_life_days=days)
                book.settle()
            case ("prune",):
                book.prune(actor="a", correlation="cor_0000000000000001")
        assert_same(book, naive)


def assert_same(book: Desires, naive: dict[str, float]) -> None:
    listed = book.list_desires(limit=200).items
    for desire in listed:
        assert 0.0 <= desire.strength <= 1.0
        assert desire.strength == pytest.approx(naive[desire.id], rel=1e-6)
    found = [naive[desire.id] for desire in listed]
    assert all(left >= right * (1 - 1e-6) for left, right in pairwise(found))
    clearly = {each for each, strength in naive.items() if strength > 0.1 * (1 + 1e-6)}
    barely = {each for each, strength in naive.items() if strength >= 0.1 * (1 - 1e-6)}
    assert clearly <= {desire.id for desire in listed} <= barely


def test_listing_and_pruning_are_ranges_of_an_index(book: Desires, want: Want) -> None:
    want("sail", tags=["sea"])
    ranges = [
        (f"{sql}", [*parameters, 10])
        for wanted in (Filter(), Filter(tag="sea"), Filter(min_strength=0.5, faded=True))
        for sql, parameters in [queries._build_query(wanted, 0.0, None)]
    ]
    for sql, parameters in [*ranges, (tables._PRUNE, [1, 0.1, 0.0])]:
        rows = book.ledger.query(f"EXPLAIN QUERY PLAN {sql}", parameters)
        steps = [str(row[-1]) for row in rows if "fading" not in str(row[-1])]
        assert any("SEARCH" in step and "_order (" in step for step in steps)
        assert not any("SCAN d" in step or "TEMP B-TREE" in step for step in steps)
