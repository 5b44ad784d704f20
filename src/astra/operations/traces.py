"""Stories as traces: what OpenTelemetry calls a trace is a story here, and a span one thing in it.

A story's id is the correlation of its records. A record that ends something becomes a span from the
record that began it; any other record is a span without length. Ids are hashes of the data root,
the correlation and the place in the chain, so a span that is sent again is the same span. No text
of an agent goes out: a span carries types, ids, actors, tools and codes, and of those only what is
spelt as an id or a code.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, cast

from astra.trusted.kernel.clock import parse_time
from astra.trusted.ledger.record import Record

BEGINNINGS: Mapping[str, str] = {
    "tool_finished": "tool_started",
    "tool_interrupted": "tool_started",
    "schedule_firing_closed": "schedule_firing_claimed",
    "goal_task_finished": "goal_task_claimed",
    "research_finished": "research_started",
    "tests_completed": "tests_started",
    "agent_step_finished": "agent_step_started",
    "agent_checkpoint_completed": "agent_checkpoint_started",
    "agent_completed": "agent_started",
    "agent_aborted": "agent_started",
    "deployment_settled": "deployment_requested",
    "deployment_failed": "deployment_requested",
    "before_start_finished": "before_start_begun",
    "fleet_wave_finished": "fleet_wave_begun",
    "job_ended": "job_claimed",
    "smoke_finished": "smoke_started",
}
"""Which record began what another one ends; both have the same subject."""
_BEGINNING_TYPES = frozenset(BEGINNINGS.values())
_FAILURES = frozenset(
    {
        "tool_refused",
        "tool_interrupted",
        "tests_failed",
        "deployment_failed",
        "rollback_failed",
        "agent_aborted",
        "schedule_gave_up",
        "fleet_instance_failed",
    }
)
_SHOWN = ("tool", "code", "ok", "outcome", "verdict", "ending")
_CODE = re.compile(r"[A-Za-z0-9_.:/-]{1,120}")
_INTERNAL, _UNSET, _ERROR = 1, 0, 2


class Span(NamedTuple):
    """A thing that happened, with the record that began it and the first of its story."""

    record: Record
    beginning: Record
    first: int
    """The sequence of the first record of the story."""


def is_beginning(record: Record) -> bool:
    """Tell whether a record is part of a span that another record ends."""
    return record.type in _BEGINNING_TYPES


def build_request(root_id: str, version: str, spans: Sequence[Span]) -> dict[str, Any]:
    """Build the body of an OTLP export request, in its JSON form."""
    resource = {"service.name": "astra", "service.version": version, "service.instance.id": root_id}
    scope = {"name": "astra.ledger", "version": version}
    entries = [_build_span(root_id, span) for span in spans]
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _build_attributes(resource)},
                "scopeSpans": [{"scope": scope, "spans": entries}],
            }
        ]
    }


def compute_trace_id(root_id: str, correlation: str) -> str:
    return _hash_text(f"{root_id} {correlation}")[:32]


def _build_span(root_id: str, span: Span) -> dict[str, Any]:
    record, beginning = span.record, span.beginning
    trace_id = compute_trace_id(root_id, record.correlation)
    entry: dict[str, Any] = {
        "traceId": trace_id,
        "spanId": _compute_span_id(trace_id, beginning.sequence),
        "name": _name_span(record),
        "kind": _INTERNAL,
        "startTimeUnixNano": _count_nanoseconds(beginning.time),
        "endTimeUnixNano": _count_nanoseconds(max(beginning.time, record.time)),
        "attributes": _build_attributes(_describe_record(record)),
        "status": {"code": _ERROR if _has_failed(record) else _UNSET},
    }
    if span.first != beginning.sequence:
        entry["parentSpanId"] = _compute_span_id(trace_id, span.first)
    return entry


def _name_span(record: Record) -> str:
    tool = record.data.get("tool")
    return f"{record.type} {tool}" if _is_code(tool) else record.type


def _is_code(value: object) -> bool:
    return isinstance(value, str) and _CODE.fullmatch(value) is not None


def _describe_record(record: Record) -> dict[str, Any]:
    identity = {
        "astra.type": record.type,
        "astra.actor": record.actor,
        "astra.correlation": record.correlation,
        "astra.subject": record.subject or "",
        "astra.sequence": record.sequence,
    }
    values = {**record.data, **_read_outcome(record)}
    return {**identity, **{f"astra.{name}": values[name] for name in _SHOWN if name in values}}


def _read_outcome(record: Record) -> Mapping[str, Any]:
    outcome = record.data.get("outcome")
    return cast("Mapping[str, Any]", outcome) if isinstance(outcome, dict) else {}


def _has_failed(record: Record) -> bool:
    values = {**record.data, **_read_outcome(record)}
    return record.type in _FAILURES or values.get("ok") is False


def _build_attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give numbers, ids and codes as attributes; everything else is left out."""
    entries: list[dict[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, bool):
            entries.append({"key": name, "value": {"boolValue": value}})
        elif isinstance(value, int):
            entries.append({"key": name, "value": {"intValue": str(value)}})
        elif _is_code(value):
            entries.append({"key": name, "value": {"stringValue": value}})
    return entries


def _compute_span_id(trace_id: str, sequence: int) -> str:
    return _hash_text(f"{trace_id} {sequence}")[:16]


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _count_nanoseconds(time: str) -> str:
    """Count from 1970 in whole microseconds: a float has too few digits."""
    elapsed = parse_time(time) - datetime(1970, 1, 1, tzinfo=UTC)
    return str((elapsed.days * 86_400 + elapsed.seconds) * 10**9 + elapsed.microseconds * 1_000)
