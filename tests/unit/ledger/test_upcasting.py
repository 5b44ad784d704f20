"""What earlier versions wrote is read in today's shape, and the chain stays as it is."""

import json

import pytest

from astra.bootstrap import PROJECTIONS
from astra.bootstrap.events import EVENTS
from astra.testing import MemoryLedger, RootInMemory
from astra.trusted.file_ledger.sqlite_index import SqliteIndex
from astra.trusted.ledger import chain, folding, formats, upcasting
from astra.trusted.ledger.folding import RecordUnreadable
from astra.trusted.ledger.formats import FORMAT, RootTooNew
from astra.trusted.ledger.record import EMPTY, Event, Record

EXECUTED = "code_modification_executed"
REQUEST: dict[str, object] = {
    "kind": "tool_call",
    "subject_id": "fetch_url",
    "digest": "0" * 64,
    "expires_at": "2026-03-02T12:00:00.000000Z",
    "summary": "asks to fetch a page",
}


def old_record(type_: str, data: dict[str, object], schema: int = 1) -> Record:
    """Give a record as a version wrote it that knew only some schema."""
    (record,) = chain.link(
        [Event(type=type_, actor="agent", subject="chg_00000001", data=data)],
        after=EMPTY,
        time="2026-03-01T12:00:00.000000Z",
    )
    today = f'"schema":{record.schema},'
    return chain.parse(record.line.replace(today, f'"schema":{schema},'))


def test_an_old_record_is_read_in_todays_shape_and_stays_as_written() -> None:
    record = old_record(EXECUTED, {"commit": "c0ffee"})
    assert record.data == {"commit": "c0ffee", "deploy": False}
    assert record.raw_data == {"commit": "c0ffee"}
    assert record.as_dict()["data"] == record.raw_data == json.loads(record.content)


def test_a_record_of_schema_1_that_says_more_than_the_first_ones_is_believed() -> None:
    assert old_record(EXECUTED, {"commit": "c0ffee", "deploy": True}).data["deploy"] is True


def test_records_are_written_in_the_newest_schema_of_their_type() -> None:
    ledger = MemoryLedger()
    records = ledger.append([Event(type=EXECUTED, actor="a"), Event(type="other_thing", actor="a")])
    assert [record.schema for record in records] == [2, 1]
    assert [chain.parse(line).schema for line in ledger.lines] == [2, 1]


def test_a_ladder_is_climbed_from_the_schema_of_the_record_to_the_newest() -> None:
    for type_, ladder in upcasting.LADDERS.items():
        assert type_ in EVENTS
        newest = upcasting.schema_of(type_)
        assert newest == 1 + len(ladder)
        assert upcasting.read_as_newest(type_, newest, {"as": "it is"}) == {"as": "it is"}


def test_a_record_that_cannot_be_folded_names_itself_and_what_to_do() -> None:
    ledger = MemoryLedger(projections=PROJECTIONS)
    ledger.append([Event(type="thing_happened", actor="agent")])
    broken = Event(type="approval_requested", actor="agent", subject="apr_00000001", data={"a": 1})
    with pytest.raises(RecordUnreadable) as refused:
        ledger.append([broken])
    assert "record 2 (approval_requested, schema 1)" in refused.value.detail
    assert "KeyError" in refused.value.detail
    assert "astra doctor" in refused.value.next_step
    assert refused.value.facts == {"sequence": 2, "type": "approval_requested", "schema": 1}


def test_among_many_records_that_are_folded_at_once_the_culprit_is_named() -> None:
    events = [
        Event(type="desire_half_life_set", actor="agent", subject="chg_00000001", data=data)
        for data in ({"days": 14}, {"weeks": 2}, {"days": 14})
    ]
    records = chain.link(events, after=EMPTY, time="2026-03-01T12:00:00.000000Z")
    index = SqliteIndex(None, PROJECTIONS)
    with pytest.raises(RecordUnreadable) as refused:
        index.apply(records)
    assert refused.value.facts["sequence"] == 2
    index.close()


@pytest.mark.parametrize(
    ("subject", "kind", "why"),
    [
        ("apr_00000001", "tool_call", "UNIQUE constraint failed"),
        ("apr_00000002", ["tool", "call"], "list"),
    ],
)
def test_a_record_that_no_table_takes_is_named_and_never_called_a_full_disk(
    subject: str, kind: object, why: str
) -> None:
    requests = [
        Event(type="approval_requested", actor="agent", subject=subject, data=data)
        for subject, data in (
            ("apr_00000001", REQUEST),
            (subject, REQUEST | {"kind": kind}),
            ("apr_00000003", REQUEST),
        )
    ]
    records = chain.link(requests, after=EMPTY, time="2026-03-01T12:00:00.000000Z")
    index = SqliteIndex(None, PROJECTIONS)
    with pytest.raises(RecordUnreadable, match=why) as refused:
        index.apply(records)
    assert refused.value.facts["sequence"] == 2
    index.close()


def test_folding_into_nothing_counts_what_can_be_read_and_finds_what_cannot() -> None:
    good = old_record("desire_half_life_set", {"days": 14})
    assert folding.check(PROJECTIONS, [good, good]) == 2
    with pytest.raises(RecordUnreadable, match="desire_half_life_set"):
        folding.check(PROJECTIONS, [good, old_record("desire_half_life_set", {"weeks": 2})])


def test_a_root_states_the_highest_format_it_was_written_with_once() -> None:
    root = RootInMemory()
    assert formats.format_of(root.ledger) == 1
    formats.raise_format(root.ledger, version="0.1.0")
    formats.raise_format(root.ledger, version="0.1.0")
    (record,) = root.ledger.records(formats.FORMAT_RAISED)
    assert record.data == {"format": FORMAT, "version": "0.1.0"}
    assert formats.format_of(root.ledger) == FORMAT > 1


@pytest.mark.parametrize("type_", [formats.ROOT_CREATED, formats.FORMAT_RAISED])
def test_a_root_that_a_newer_version_wrote_is_refused_with_the_version_to_use(type_: str) -> None:
    newer = {"format": FORMAT + 1, "version": "7.2.1"}
    with pytest.raises(RootTooNew) as refused:
        folding.check(PROJECTIONS, [old_record(type_, newer)])
    assert "use Astra 7.2.1 or newer" in refused.value.next_step
    assert f"format {FORMAT + 1}" in refused.value.detail
