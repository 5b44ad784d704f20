"""Stories as traces, at a collector that reads them by OpenTelemetry's own schema."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from astra.adapters.trace_export import CollectorUnreachable, TraceExport
from astra.operations.traces import compute_trace_id
from astra.testing import MemoryLedger, SetClock
from astra.trusted.ledger.record import Event
from trace_collector import Collector, open_collector

ROOT, STORY = "root_1", "cor_0123456789ab"


@pytest.fixture
def collector() -> Iterator[Collector]:
    with open_collector() as server:
        yield server


def make_export(ledger: MemoryLedger, folder: Path, collector: Collector) -> TraceExport:
    return TraceExport(
        ledger=ledger,
        place=folder / "traces.json",
        root_id=lambda: ROOT,
        endpoint=lambda: collector.address,
    )


def sign_configuration(ledger: MemoryLedger) -> None:
    ledger.append([Event(type="config_signed", actor="operator", subject="configuration")])


def append_call(
    ledger: MemoryLedger,
    *,
    ok: bool = True,
    text: str = "",
    pass_time: Callable[[], None] = lambda: None,
) -> None:
    story = {"correlation": STORY, "actor": "agent"}
    ledger.append(
        [Event(type="desire_recorded", data={"text": text}, subject="des_01234567", **story)]
    )
    started = Event(
        type="tool_started", data={"tool": "write_file"}, subject="call_0123456789ab", **story
    )
    ledger.append([started])
    pass_time()
    data = {"tool": "write_file", "outcome": {"ok": ok, "code": "done" if ok else "failed"}}
    ledger.append([Event(type="tool_finished", data=data, subject="call_0123456789ab", **story)])


def test_one_story_is_one_trace_and_a_call_is_one_span(
    tmp_path: Path, collector: Collector
) -> None:
    clock = SetClock()
    ledger = MemoryLedger(clock=clock)
    sign_configuration(ledger)
    export = make_export(ledger, tmp_path, collector)
    append_call(ledger, pass_time=lambda: clock.advance(seconds=2))
    assert export.is_due()
    export.advance()
    assert not export.is_due()
    configuration, desire, call = collector.spans
    assert configuration.trace_id != desire.trace_id
    assert {span.trace_id.hex() for span in (desire, call)} == {compute_trace_id(ROOT, STORY)}
    assert (desire.name, call.name) == ("desire_recorded", "tool_finished write_file")
    assert desire.parent_span_id == b""
    assert call.parent_span_id == desire.span_id
    assert call.end_time_unix_nano - call.start_time_unix_nano == 2 * 10**9
    attributes = {entry.key: entry.value for entry in call.attributes}
    assert attributes["astra.subject"].string_value == "call_0123456789ab"
    assert attributes["astra.ok"].bool_value


def test_what_failed_is_an_error(tmp_path: Path, collector: Collector) -> None:
    ledger = MemoryLedger()
    sign_configuration(ledger)
    export = make_export(ledger, tmp_path, collector)
    append_call(ledger, ok=False)
    export.advance()
    assert [span.status.code for span in collector.spans] == [0, 0, 2]


def test_no_words_of_an_agent_go_out(tmp_path: Path, collector: Collector) -> None:
    ledger = MemoryLedger()
    sign_configuration(ledger)
    export = make_export(ledger, tmp_path, collector)
    append_call(ledger, text="the secret wish")
    refused = {"tool": "tell them the secret wish", "reason": "a secret wish", "code": "unknown"}
    ledger.append([Event(type="tool_refused", actor="the secret wish", data=refused)])
    export.advance()
    assert len(collector.spans) == 4
    assert "wish" not in "".join(collector.bodies)


def test_what_a_collector_did_not_take_is_sent_again_as_the_same_spans(
    tmp_path: Path, collector: Collector
) -> None:
    ledger = MemoryLedger()
    sign_configuration(ledger)
    export = make_export(ledger, tmp_path, collector)
    append_call(ledger)
    collector.status = 503
    with pytest.raises(CollectorUnreachable):
        export.advance()
    assert export.is_due()
    collector.status = 200
    make_export(ledger, tmp_path, collector).advance()
    position = {"endpoint": collector.address, "sequence": 1}
    (tmp_path / "traces.json").write_text(json.dumps(position))
    export.advance()
    first, again = collector.spans[1:3], collector.spans[3:]
    assert [span.span_id for span in first] == [span.span_id for span in again]


def test_history_from_before_the_configuration_is_not_sent(
    tmp_path: Path, collector: Collector
) -> None:
    ledger = MemoryLedger()
    append_call(ledger)
    sign_configuration(ledger)
    make_export(ledger, tmp_path, collector).advance()
    assert [span.name for span in collector.spans] == ["config_signed"]


def test_a_damaged_note_of_the_position_begins_with_the_configuration(
    tmp_path: Path, collector: Collector
) -> None:
    ledger = MemoryLedger()
    append_call(ledger)
    sign_configuration(ledger)
    (tmp_path / "traces.json").write_bytes(b"\xff{")
    make_export(ledger, tmp_path, collector).advance()
    assert [span.name for span in collector.spans] == ["config_signed"]
