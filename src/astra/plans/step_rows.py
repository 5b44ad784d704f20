"""The rows of a plan's steps: asked, decided, acting, ran, finished.

A step that ran and was refused hosts waits as `ran`; a grant makes it `decided` once more, and so
does a signed retry of one that failed or was cut off.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from astra.plans import events
from astra.plans.refusals import make_refused_result
from astra.trusted.ledger.projection import Statement
from astra.trusted.ledger.record import Record


def _store_step_start(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        (
            "UPDATE plan SET steps = ?, spent = spent + 1, calls = calls + ?, due = NULL"
            " WHERE id = ?"
        ),
        (data["step"], 0 if data.get("direct") else 1, data["agent_id"]),
    )
    yield (
        (
            "INSERT INTO plan_step (plan, step, checkpoint, state, started_at)"
            " VALUES (?, ?, ?, 'asked', ?)"
        ),
        (data["agent_id"], data["step"], data["checkpoint"], record.time),
    )
    yield (
        (
            "UPDATE plan_message SET step = ? WHERE plan = ? AND sequence IN"
            " (SELECT value FROM json_each(?))"
        ),
        (data["step"], data["agent_id"], json.dumps(data["messages"])),
    )


def _store_model_failure(record: Record) -> Iterator[Statement]:
    data = record.data
    yield set_plan(record, due=data["retry_at"], failures=data["failures"])
    yield _set_step(record, state="failed", outcome="model_failed", result=data["reason"])
    yield _add_cost(record, ended=True)
    yield from add_usage(record)


def _store_decision(record: Record) -> Iterator[Statement]:
    data = record.data
    yield set_plan(record, failures=0, due=None)
    yield _set_step(
        record,
        state="decided",
        action=json.dumps(data["action"]),
        digest=data["digest"],
        destructive=int(data["destructive"]),
    )
    yield _add_cost(record, ended=False)
    yield from add_usage(record)


def _store_usage(record: Record) -> Iterator[Statement]:
    """Count an answer that came too late; its step is asked again."""
    if record.data["set_aside"]:
        result = "somebody halted the plan meanwhile; what the model said was set aside"
        yield _set_step(record, state="failed", outcome="set_aside", result=result)
    yield _add_cost(record, ended=record.data["set_aside"])
    yield from add_usage(record)


def _store_action_start(record: Record) -> Iterator[Statement]:
    yield _set_step(record, state="acting")


def _store_step_end(record: Record) -> Iterator[Statement]:
    data = record.data
    yield _set_step(record, state="finished", outcome=data["outcome"], result=data["result"])
    yield _add_cost(record, ended=True)
    yield from add_usage(record)


def _store_permission_block(record: Record) -> Iterator[Statement]:
    """Keep what came of a step that ran, and was refused hosts, while it waits."""
    block = record.data["block"]
    if "ran" in block:
        ended = make_refused_result(block, "nobody granted them")
        yield (
            (
                "UPDATE plan_step SET state = 'ran', outcome = ?, result = ?"
                " WHERE plan = ? AND step = ?"
            ),
            (ended["outcome"], ended["result"], record.data["agent_id"], block["step"]),
        )


def _store_grant(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        (
            "UPDATE plan_step SET state = 'decided', again = ?, outcome = NULL,"
            " result = NULL WHERE plan = ? AND step = ? AND state = 'ran'"
        ),
        (record.sequence, data["agent_id"], data["step"]),
    )
    if data["once"]:
        yield _set_step(record, allowed=json.dumps(data["items"]))
    else:
        yield set_plan(
            record,
            grants=json.dumps(data["grants"]),
            grants_hash=data["grants_hash"],
            exported=None,
        )


def _store_step_retry(record: Record) -> Iterator[Statement]:
    """Let a step that is over be decided once more; one-time grants of before do not count."""
    data = record.data
    yield (
        (
            "UPDATE plan_step SET state = 'decided', again = ?, outcome = NULL, result = NULL,"
            " ended_at = NULL WHERE plan = ? AND step = ? AND state = 'finished'"
        ),
        (record.sequence, data["agent_id"], data["step"]),
    )


def _store_confirmation(record: Record) -> Iterator[Statement]:
    yield _set_step(record, confirmed=record.sequence)


def _store_skip(record: Record) -> Iterator[Statement]:
    data = record.data
    ended = {"outcome": "skipped", "result": data["reason"]} | data.get("ran", {})
    yield _set_step(record, state="finished", **ended)
    yield _add_cost(record, ended=True)


def add_usage(record: Record) -> Iterator[Statement]:
    usage = record.data.get("usage", {})
    yield (
        "UPDATE plan SET tokens = tokens + ?, calls = calls + ? WHERE id = ?",
        (usage.get("tokens", 0), usage.get("drafting_calls", 0), record.data["agent_id"]),
    )


def _add_cost(record: Record, *, ended: bool) -> Statement:
    """Add what a record says a step took; a step under way has no end yet."""
    data = record.data
    tokens = data.get("usage", {}).get("tokens", 0)
    return (
        (
            "UPDATE plan_step SET tokens = tokens + ?, ended_at = coalesce(?, ended_at)"
            " WHERE plan = ? AND step = ?"
        ),
        (tokens, record.time if ended else None, data["agent_id"], data["step"]),
    )


def set_plan(record: Record, **columns: Any) -> Statement:
    names = ", ".join(f"{name} = ?" for name in columns)
    return f"UPDATE plan SET {names} WHERE id = ?", (*columns.values(), record.data["agent_id"])  # noqa: S608 - names of ours


def _set_step(record: Record, **columns: Any) -> Statement:
    names = ", ".join(f"{name} = ?" for name in columns)
    key = (record.data["agent_id"], record.data["step"])
    return f"UPDATE plan_step SET {names} WHERE plan = ? AND step = ?", (*columns.values(), *key)  # noqa: S608 - names of ours


STEP_EFFECTS: Mapping[str, Callable[[Record], Iterator[Statement]]] = {
    events.STEP_STARTED: _store_step_start,
    events.MODEL_FAILED: _store_model_failure,
    events.USAGE_COUNTED: _store_usage,
    events.STEP_DECIDED: _store_decision,
    events.ACTION_STARTED: _store_action_start,
    events.STEP_FINISHED: _store_step_end,
    events.BLOCKED_ON_PERMISSION: _store_permission_block,
    events.PERMISSION_GRANTED: _store_grant,
    events.ACTION_CONFIRMED: _store_confirmation,
    events.STEP_RETRIED: _store_step_retry,
    events.ACTION_SKIPPED: _store_skip,
}
