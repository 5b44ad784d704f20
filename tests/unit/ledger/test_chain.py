"""Lines of the chain: what was linked is read back the same, and what is no record is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.kernel.errors import LedgerDamaged
from astra.trusted.ledger import chain
from astra.trusted.ledger.record import EMPTY, Event, Record

TIME = "2026-01-31T23:00:00.000000Z"
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def link_one(event: Event) -> Record:
    (record,) = chain.link([event], after=EMPTY, time=TIME)
    return record


@given(
    actor=TEXT,
    subject=st.none() | TEXT,
    key=st.none() | TEXT,
    data=st.dictionaries(TEXT, st.none() | TEXT | st.integers(-100, 100) | st.lists(TEXT)),
)
def test_a_line_is_read_back_as_it_was_linked(
    actor: str, subject: str | None, key: str | None, data: dict[str, object]
) -> None:
    record = link_one(
        Event(type="thing_happened", actor=actor, subject=subject, key=key, data=data)
    )
    again = chain.parse(record.line)
    assert again == record
    assert (again.actor, again.subject, again.key, again.data) == (actor, subject, key, data)
    assert again.as_dict() == json.loads(record.line)


@given(st.data())
def test_a_changed_line_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    line = link_one(Event(type="thing_happened", actor='a "b"', data={"n": [1, "x"]})).line
    position = data.draw(st.integers(0, len(line) - 1))
    changed = line[:position] + data.draw(st.text(max_size=3)) + line[position + 1 :]
    try:
        record = chain.parse(changed)
        assert isinstance(record.data, dict)
    except LedgerDamaged:
        pass


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"data":{}', '"data":[]'),
        ('"data":{}', '"data":{},"more":{}'),
        ('"data":{}', '"data":{'),
        ('"schema":1', '"schema":1,"extra":1'),
        ('"sequence":1', '"sequence":' + "9" * 5000),
        ('"actor":"agent"', '"actor":"a\x01b"'),
        ('"actor":"agent"', '"actor":"a\\q"'),
        ('"actor":"agent"', '"actor":7'),
        (',"key":null', ""),
    ],
)
def test_what_is_no_record_is_refused(before: str, after: str) -> None:
    line = link_one(Event(type="thing_happened", actor="agent")).line
    assert before in line
    with pytest.raises(LedgerDamaged):
        _ = chain.parse(line.replace(before, after)).data
