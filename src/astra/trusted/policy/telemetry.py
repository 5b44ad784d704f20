"""Every tool call is a record: what was asked, what was decided, how it went.

A read is one lazy record when it is over. Anything with an effect is a durable `tool_started`
before, and a `tool_finished` after; a start without an end, found when the daemon opens its ledger,
is closed as `tool_interrupted`: nobody knows how far it came.

Of arguments a record keeps a few thousand bytes; of larger ones the beginning, how many bytes they
had, and the digest of all of them.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from astra.trusted.kernel import canonical
from astra.trusted.kernel.canonical import NotCanonical
from astra.trusted.kernel.masking import redact
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy.call import Call, Tier
from astra.trusted.policy.caps import STORED_ARGUMENTS
from astra.trusted.policy.decision import Decision, Reason

TOOL_CALLED, TOOL_REFUSED = "tool_called", "tool_refused"
REFUSALS_COUNTED = "tool_refusals_counted"
TOOL_STARTED, TOOL_FINISHED, TOOL_INTERRUPTED = "tool_started", "tool_finished", "tool_interrupted"
_LONGEST_ARGUMENT = 500


@dataclass(frozen=True, kw_only=True)
class Outcome:
    ok: bool
    code: str
    milliseconds: float
    size: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "code": self.code,
            "milliseconds": round(self.milliseconds, 3),
            "size": self.size,
        }


def build_started_event(call: Call, call_id: str, decision: Decision, machine: str = "") -> Event:
    """Say that a call begins; which machine runs it, where several share the chain."""
    data = {
        **_describe_call(call, decision),
        **({"machine": machine} if machine else {}),
        "arguments": shorten_arguments(call.arguments),
        "digest": call.digest(),
    }
    return _build_event(TOOL_STARTED, call, data, subject=call_id)


def build_finished_event(call: Call, call_id: str, decision: Decision, outcome: Outcome) -> Event:
    data = {"tool": call.tool, "outcome": outcome.as_dict()}
    if call.tier is Tier.READ:
        data = {
            **_describe_call(call, decision),
            "arguments": shorten_arguments(call.arguments),
            **data,
        }
        return _build_event(TOOL_CALLED, call, data)
    return _build_event(TOOL_FINISHED, call, data, subject=call_id)


def build_refused_event(call: Call, decision: Decision) -> Event:
    return _build_event(
        TOOL_REFUSED,
        call,
        {**_describe_call(call, decision), "arguments": shorten_arguments(call.arguments)},
    )


def refusals_counted(
    first: Call, tool: str, reason: Reason, *, count: int, seconds: float
) -> Event:
    """Say how often an actor was refused besides the refusals that have a record of their own."""
    data = {
        "tool": tool,
        "door": first.actor.door,
        "code": str(reason),
        "count": count,
        "seconds": round(seconds, 1),
    }
    return _build_event(REFUSALS_COUNTED, first, data)


def close_interrupted(ledger: Ledger, machine: str = "") -> int:
    """Close the calls that a dead daemon of this machine left open; says how many there were.

    Where several machines share the chain, the others' calls may be running right now.
    """
    query = "SELECT id, tool, correlation FROM open_call WHERE machine = ? ORDER BY sequence"
    rows = ledger.query(query, [machine])
    events = [
        Event(
            type=TOOL_INTERRUPTED,
            actor="daemon",
            data={"tool": tool, "outcome": {"ok": False, "code": "interrupted"}},
            correlation=correlation,
            subject=call_id,
        )
        for call_id, tool, correlation in rows
    ]
    ledger.append(events)
    return len(events)


def shorten_arguments(arguments: Any) -> Any:
    """Give arguments as they may be kept: secrets masked, long texts cut, oddities as text."""
    try:
        short = _shorten_texts(redact(arguments))
        text = canonical.encode(short)
    except NotCanonical:
        return {"not_json": ascii(arguments)[:_LONGEST_ARGUMENT]}
    if len(text) <= STORED_ARGUMENTS:
        return short
    return {
        "cut": text[:STORED_ARGUMENTS].decode(errors="replace"),
        "bytes": len(canonical.encode(arguments)),
        "sha256": arguments_digest(arguments),
    }


def arguments_digest(arguments: Any) -> str:
    """Name arguments by all of their bytes, also those that no record keeps."""
    try:
        text = canonical.encode(arguments)
    except NotCanonical:
        text = ascii(arguments).encode()
    return hashlib.sha256(text).hexdigest()


def _describe_call(call: Call, decision: Decision) -> dict[str, Any]:
    origin_fields = {"schedule": call.schedule_id} if call.schedule_id else {}
    origin_fields |= {"plan": call.plan_id} if call.plan_id else {}
    return {
        "tool": call.tool,
        "tier": int(call.tier),
        "door": call.actor.door,
        "decision": decision.as_dict(),
        **origin_fields,
    }


def _build_event(kind: str, call: Call, data: dict[str, Any], subject: str | None = None) -> Event:
    return Event(
        type=kind,
        actor=str(call.actor),
        data=data,
        correlation=call.correlation,
        subject=subject,
    )


def _shorten_texts(value: Any) -> Any:
    match value:
        case str() if len(value) > _LONGEST_ARGUMENT:
            return f"{value[:_LONGEST_ARGUMENT]}… ({len(value)} characters)"
        case dict():
            return {str(name): _shorten_texts(item) for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case list() | tuple():
            return [_shorten_texts(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def _apply_record(record: Record) -> Iterator[Statement]:
    if record.type == TOOL_STARTED:
        yield (
            "INSERT INTO open_call VALUES (?, ?, ?, ?, ?)",
            (
                record.subject,
                record.data["tool"],
                record.correlation,
                record.sequence,
                record.data.get("machine", ""),
            ),
        )
    else:
        yield "DELETE FROM open_call WHERE id = ?", (record.subject,)


def _count_call(record: Record) -> Iterator[Statement]:
    """Count calls by tool and how they ended; one that has only begun is not counted yet."""
    data = record.data
    ok = bool(data.get("outcome", {}).get("ok"))
    is_refusal = record.type in {TOOL_REFUSED, REFUSALS_COUNTED}
    word = "ok" if ok else "refused" if is_refusal else "failed"
    yield _COUNT, (str(data.get("tool", "")), word, int(data.get("count", 1)))


_COUNT = """
    INSERT INTO tool_count VALUES (?, ?, ?)
    ON CONFLICT (tool, outcome) DO UPDATE SET calls = calls + excluded.calls
"""
COUNTS = Projection(
    "tool counts",
    (
        """CREATE TABLE tool_count (
            tool TEXT, outcome TEXT, calls INTEGER, PRIMARY KEY (tool, outcome)
        ) WITHOUT ROWID""",
    ),
    _count_call,
    types=frozenset({TOOL_CALLED, TOOL_FINISHED, TOOL_REFUSED, REFUSALS_COUNTED, TOOL_INTERRUPTED}),
)

PROJECTION = Projection(
    "open calls",
    (
        """CREATE TABLE open_call (
            id TEXT PRIMARY KEY, tool TEXT, correlation TEXT, sequence INTEGER, machine TEXT
        ) WITHOUT ROWID""",
    ),
    _apply_record,
    types=frozenset({TOOL_STARTED, TOOL_FINISHED, TOOL_INTERRUPTED}),
)
