"""Tampering with a chain: whatever is done to it is noticed, and the place is named."""

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import chain, checkpoint
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.record import EMPTY, Event, Head, Record
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED
from astra.trusted.ledger.verification import Report, verify

KEY = KeyPair.generate()
JANUARY, FEBRUARY = "2026-01-31T23:00:00.000000Z", "2026-02-01T01:00:00.000000Z"


def make_chain(count: int = 10) -> list[Record]:
    """Build a chain over two months, its last record a batch of two."""
    head, records = EMPTY, list[Record]()
    for number in range(1, count, 1):
        events = [Event(type="thing_happened", actor="agent", data={"n": number})]
        if number == count - 1:
            events *= 2
        time = JANUARY if number <= count // 2 else FEBRUARY
        records += chain.link(events, after=head, time=time)
        head = Head(records[-1].sequence, records[-1].hash, time)
    return records


def as_segments(records: Iterable[Record]) -> dict[str, list[bytes]]:
    segments: dict[str, list[bytes]] = {}
    for record in records:
        segments.setdefault(f"{record.time[:7]}.ndjson", []).append(f"{record.line}\n".encode())
    return segments


def check(segments: dict[str, list[bytes]], **witnesses: Any) -> Report:
    return verify(lambda: [(name, list(lines)) for name, lines in segments.items()], **witnesses)


def point(record: Record, key: KeyPair = KEY) -> Checkpoint:
    head = Head(record.sequence, record.hash, record.time)
    return checkpoint.sign(head, time=record.time, key=key)


def kinds(report: Report) -> list[tuple[str, int]]:
    return [(problem.kind, problem.sequence) for problem in report.problems]


def rehashed(line: bytes, **changes: Any) -> bytes:
    """Forge a line: change members and give it a hash of its own."""
    member = json.loads(line) | changes
    del member["hash"]
    body = json.dumps(member, separators=(",", ":"), ensure_ascii=False)[:-1]
    return f'{body},"hash":"{hashlib.sha256(body.encode()).hexdigest()}"}}\n'.encode()


def test_an_honest_chain_is_fine() -> None:
    records = make_chain()
    report = check(
        as_segments(records),
        checkpoints=[(1, point(records[3])), (2, point(records[-1]))],
        public_key=KEY.public,
        index=(10, records[-1].hash),
    )
    assert report.ok
    assert (report.records, report.head) == (10, records[-1].hash)


def test_an_empty_chain_is_fine() -> None:
    assert check({}).ok


@given(st.integers(0, 9), st.data())
def test_any_changed_byte_is_noticed_and_the_record_is_named(
    place: int, data: st.DataObject
) -> None:
    records = make_chain()
    segments = as_segments(records)
    name = f"{records[place].time[:7]}.ndjson"
    offset = [r.sequence for r in records if r.time == records[place].time].index(place + 1)
    line = bytearray(segments[name][offset])
    position = data.draw(st.integers(0, len(line) - 2))
    replacement = data.draw(st.integers(0, 255).filter(lambda b: b not in (line[position], 10)))
    line[position] = replacement
    segments[name][offset] = bytes(line)
    report = check(segments)
    assert not report.ok
    assert place + 1 in [problem.sequence for problem in report.problems]


def test_a_line_that_is_no_json_any_more_is_one_problem_not_three() -> None:
    records = make_chain()
    segments = as_segments(records)
    lines = segments["2026-01.ndjson"]
    lines[2] = lines[2].replace(b'"n":3', b'"n":x')
    report = check(segments, checkpoints=[(1, point(records[2]))], public_key=KEY.public)
    assert kinds(report) == [("edited", 3)]


@pytest.mark.parametrize("place", range(1, 9))
def test_a_record_rewritten_with_a_fresh_hash_is_named(place: int) -> None:
    segments = as_segments(make_chain())
    lines = [line for lines in segments.values() for line in lines]
    forged = rehashed(lines[place], data={"n": 999})
    segments = {
        name: [forged if line == lines[place] else line for line in each]
        for name, each in segments.items()
    }
    assert ("edited", place + 1) in kinds(check(segments))


@pytest.mark.parametrize("place", range(9))
def test_a_removed_record_is_named(place: int) -> None:
    records = make_chain()
    report = check(as_segments(records[:place] + records[place + 1 :]))
    assert ("deleted", place + 1) in kinds(report)


def test_a_removed_month_is_named() -> None:
    segments = as_segments(make_chain())
    del segments["2026-01.ndjson"]
    report = check(segments)
    assert ("deleted", 1) in kinds(report)
    assert "records 1 to 5 are missing" in [problem.detail for problem in report.problems]


def test_an_inserted_record_is_named() -> None:
    segments = as_segments(make_chain())
    lines = segments["2026-01.ndjson"]
    lines.insert(3, rehashed(lines[2], data={"n": 999}))
    assert ("inserted", 3) in kinds(check(segments))


def test_swapped_records_are_named() -> None:
    segments = as_segments(make_chain())
    lines = segments["2026-01.ndjson"]
    lines[1], lines[2] = lines[2], lines[1]
    assert ("reordered", 2) in kinds(check(segments))


def test_a_record_moved_to_another_month_is_named() -> None:
    segments = as_segments(make_chain())
    segments["2026-02.ndjson"].insert(0, segments["2026-01.ndjson"].pop())
    assert ("edited", 5) in kinds(check(segments))


@pytest.mark.parametrize("kept", range(9))
def test_a_clean_cut_at_the_end_is_seen_against_a_checkpoint(kept: int) -> None:
    records = make_chain()
    cut = as_segments(records[:kept])
    assert check(cut).ok, "the chain alone cannot know"
    report = check(cut, checkpoints=[(1, point(records[-1]))], public_key=KEY.public)
    assert kinds(report) == [("truncated", kept + 1)]


def test_a_clean_cut_at_the_end_is_seen_against_the_index() -> None:
    records = make_chain()
    report = check(as_segments(records[:6]), index=(10, records[-1].hash))
    assert kinds(report) == [("truncated", 7)]


def test_a_chain_rewritten_from_a_record_on_is_seen_against_a_checkpoint() -> None:
    records = make_chain()
    forged = records[:5]
    for record in records[5:]:
        head = Head(forged[-1].sequence, forged[-1].hash, forged[-1].time)
        event = Event(type=record.type, actor="nobody", correlation=record.correlation)
        forged += chain.link([event], after=head, time=record.time)
    assert check(as_segments(forged)).ok, "the chain alone cannot know"
    report = check(as_segments(forged), checkpoints=[(1, point(records[7]))], public_key=KEY.public)
    assert kinds(report) == [("rewritten", 8)]


def test_missing_checkpoints_are_a_problem_where_there_should_be_some() -> None:
    report = check(as_segments(make_chain()), public_key=KEY.public)
    assert [problem.kind for problem in report.problems] == ["checkpoint"]


@pytest.mark.parametrize(
    "forge",
    [
        lambda record: point(record, KeyPair.generate()),
        lambda _record: None,
        lambda record: Checkpoint(sequence=1, hash=record.hash, time=record.time, signature="00"),
    ],
    ids=["another key", "not a checkpoint", "not a signature"],
)
def test_a_forged_checkpoint_is_a_problem_of_its_own(
    forge: Callable[[Record], Checkpoint | None],
) -> None:
    records = make_chain()
    report = check(
        as_segments(records), checkpoints=[(1, forge(records[2]))], public_key=KEY.public
    )
    assert [problem.kind for problem in report.problems] == ["checkpoint"]


def test_an_unterminated_last_line_is_a_writer_at_work_not_a_problem() -> None:
    segments = as_segments(make_chain())
    segments["2026-02.ndjson"].append(b'{"sequence":11,"time":"2026')
    report = check(segments)
    assert report.ok
    assert report.records == 10


@given(st.binary(max_size=200))
def test_garbage_is_a_problem_and_never_an_exception(garbage: bytes) -> None:
    segments = as_segments(make_chain())
    segments["2026-01.ndjson"].insert(2, garbage.replace(b"\n", b"") + b"\n")
    assert not check(segments).ok


def gone_back(by: str, *, length: int = 4) -> dict[str, list[bytes]]:
    """Build a chain whose time goes back to January with a record of some type."""
    types = ["thing_happened"] * length + [by] + ["thing_happened"] * length
    times = [FEBRUARY] * length + [JANUARY] * (length + 1)
    head, lines = EMPTY, list[bytes]()
    for type_, time in zip(types, times, strict=True):
        (record,) = chain.link([Event(type=type_, actor="operator")], after=head, time=time)
        head = Head(record.sequence, record.hash, time)
        lines.append(f"{record.line}\n".encode())
    return {"2026-02.ndjson": lines}


@pytest.mark.parametrize("length", [1, 4, 499, 500, 501, 1200])
def test_time_may_go_back_where_the_clock_was_accepted(length: int) -> None:
    assert check(gone_back(CLOCK_ACCEPTED, length=length)).ok


@pytest.mark.parametrize("length", [1, 4, 499, 500])
def test_time_that_goes_back_anywhere_else_is_noticed(length: int) -> None:
    report = check(gone_back("thing_happened", length=length))
    assert (("edited", length + 1) in kinds(report)) or (("reordered", length + 1) in kinds(report))


def test_a_broken_chain_with_an_acceptance_in_it_names_only_what_was_broken() -> None:
    segments = gone_back(CLOCK_ACCEPTED)
    lines = segments["2026-02.ndjson"]
    lines[1] = lines[1].replace(b"thing_happened", b"thing_undonely"[:14])
    assert kinds(check(segments)) == [("edited", 2)]


def test_a_later_month_before_its_time_is_noticed_even_behind_an_acceptance() -> None:
    lines = gone_back(CLOCK_ACCEPTED)["2026-02.ndjson"]
    assert not check({"2026-01.ndjson": lines}).ok
