"""Plans, their steps and their messages as tables."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from astra.ledger.projection import Projection, Statement
from astra.ledger.record import Record
from astra.plans import events
from astra.plans.states import State
from astra.plans.tables import TABLES


def _apply(record: Record) -> Iterator[Statement]:
    data = record.data
    if "agent_id" not in data:
        return
    if record.type in {events.REQUESTED, events.DRAFTED}:
        yield _new(record)
    if (then := events.state_after(record.type)) is not None:
        yield from _moved(record, then)
    yield from _EFFECTS.get(record.type, _nothing)(record)


def _new(record: Record) -> Statement:
    return (
        (
            "INSERT INTO plan (id, state, description, channels, correlation, created_at, sequence)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
        ),
        (
            record.data["agent_id"],
            str(State.DRAFT_PENDING),
            record.data.get("description", ""),
            json.dumps(record.data.get("channels", [])),
            record.correlation,
            record.time,
            record.sequence,
        ),
    )


def _moved(record: Record, then: State) -> Iterator[Statement]:
    """Change the state; what waited for somebody is over unless the record brings a new wait."""
    data = record.data
    block = json.dumps(data["block"]) if data.get("block") else None
    kept = record.type == events.PAUSED
    yield _set(
        record,
        state=str(then),
        reason=data.get("reason", ""),
        updated_at=record.time,
        **({} if kept else {"block": block}),
    )


def _drafted(record: Record) -> Iterator[Statement]:
    data = record.data
    yield _set(
        record,
        plan=json.dumps(data["plan"]),
        plan_hash=data["plan_hash"],
        grants=None,
        grants_hash=None,
        approval=None,
        questions="[]",
    )
    yield from _counted(record)


def _questioned(record: Record) -> Iterator[Statement]:
    data = record.data
    yield _set(record, questions=json.dumps(data["questions"]), round=data["round"])
    yield from _talked(record, "\n".join(data["questions"]), "sent", "agent_question")
    yield from _counted(record)


def _answered(record: Record) -> Iterator[Statement]:
    yield _set(record, questions="[]", due=None, failures=0)
    yield from _talked(record, record.data["answer"], "received", "answer")


def _drafting_retried(record: Record) -> Iterator[Statement]:
    data = record.data
    failures = data["failures"]
    yield _set(record, due=data["retry_at"], failures=failures, reason=data["reason"])
    yield from _counted(record)


def _approved(record: Record) -> Iterator[Statement]:
    data = record.data
    yield _set(
        record,
        grants=json.dumps(data["grants"]),
        grants_hash=data["grants_hash"],
        approval=data["approval"],
        approved_at=record.time,
        exported=None,
    )


def _exported(record: Record) -> Iterator[Statement]:
    yield _set(record, exported=f"{record.data['plan_hash']}/{record.data['grants_hash']}")


def _started(record: Record) -> Iterator[Statement]:
    yield _set(record, started_at=record.time)


def _checkpoint_started(record: Record) -> Iterator[Statement]:
    yield _set(record, checkpoint=record.data["number"], spent=0, extra=0, failures=0, due=None)


def _checkpoint_completed(record: Record) -> Iterator[Statement]:
    yield _set(record, done=record.data["number"] + 1)


def _step_started(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        "UPDATE plan SET steps = ?, spent = spent + 1, calls = calls + 1, due = NULL WHERE id = ?",
        (data["step"], data["agent_id"]),
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


def _model_failed(record: Record) -> Iterator[Statement]:
    data = record.data
    yield _set(record, due=data["retry_at"], failures=data["failures"])
    yield _step(record, state="failed", outcome="model_failed", result=data["reason"])
    yield from _counted(record)


def _step_decided(record: Record) -> Iterator[Statement]:
    data = record.data
    yield _set(record, failures=0, due=None)
    yield _step(
        record,
        state="decided",
        action=json.dumps(data["action"]),
        digest=data["digest"],
        destructive=int(data["destructive"]),
    )
    yield from _counted(record)


def _action_started(record: Record) -> Iterator[Statement]:
    yield _step(record, state="acting")


def _step_finished(record: Record) -> Iterator[Statement]:
    data = record.data
    yield _step(record, state="finished", outcome=data["outcome"], result=data["result"])
    yield from _counted(record)


def _permission_granted(record: Record) -> Iterator[Statement]:
    data = record.data
    if data["once"]:
        yield _step(record, allowed=json.dumps(data["items"]))
    else:
        yield _set(
            record,
            grants=json.dumps(data["grants"]),
            grants_hash=data["grants_hash"],
            exported=None,
        )


def _action_confirmed(record: Record) -> Iterator[Statement]:
    yield _step(record, confirmed=record.sequence)


def _action_skipped(record: Record) -> Iterator[Statement]:
    yield _step(record, state="finished", outcome="skipped", result=record.data["reason"])


def _budget_extended(record: Record) -> Iterator[Statement]:
    yield (
        "UPDATE plan SET extra = extra + ? WHERE id = ?",
        (record.data["steps"], record.data["agent_id"]),
    )


def _overran(record: Record) -> Iterator[Statement]:
    yield _set(record, overran=1)


def _silenced(record: Record) -> Iterator[Statement]:
    yield _set(record, silenced=int(record.data["on"]))


def _sent(record: Record) -> Iterator[Statement]:
    yield from _talked(record, record.data["text"], "sent", record.data["kind"])


def _received(record: Record) -> Iterator[Statement]:
    yield from _talked(record, record.data["text"], "received", "operator")


def _talked(record: Record, text: str, direction: str, kind: str) -> Iterator[Statement]:
    yield (
        (
            "INSERT INTO plan_message (sequence, plan, direction, kind, text, time)"
            " VALUES (?, ?, ?, ?, ?, ?)"
        ),
        (record.sequence, record.data["agent_id"], direction, kind, text, record.time),
    )


def _coder_called(record: Record) -> Iterator[Statement]:
    yield (
        "UPDATE plan SET spent = spent + 1, calls = calls + 1 WHERE id = ?",
        (record.data["agent_id"],),
    )


def _notified(record: Record) -> Iterator[Statement]:
    yield _set(record, notified=record.data["up_to"])


def _counted(record: Record) -> Iterator[Statement]:
    spent = record.data.get("usage", {})
    yield (
        "UPDATE plan SET tokens = tokens + ?, calls = calls + ? WHERE id = ?",
        (spent.get("tokens", 0), spent.get("drafting_calls", 0), record.data["agent_id"]),
    )


def _nothing(_record: Record) -> Iterator[Statement]:
    yield from ()


def _set(record: Record, **columns: Any) -> Statement:
    names = ", ".join(f"{name} = ?" for name in columns)
    return f"UPDATE plan SET {names} WHERE id = ?", (*columns.values(), record.data["agent_id"])  # noqa: S608 - names of ours


def _step(record: Record, **columns: Any) -> Statement:
    names = ", ".join(f"{name} = ?" for name in columns)
    where = (record.data["agent_id"], record.data["step"])
    return f"UPDATE plan_step SET {names} WHERE plan = ? AND step = ?", (*columns.values(), *where)  # noqa: S608 - names of ours


_EFFECTS: dict[str, Callable[[Record], Iterator[Statement]]] = {
    events.DRAFTED: _drafted,
    events.REVISED: _drafted,
    events.QUESTIONED: _questioned,
    events.ANSWERED: _answered,
    events.DRAFTING_RETRIED: _drafting_retried,
    events.FAILED: _counted,
    events.APPROVED: _approved,
    events.FILES_EXPORTED: _exported,
    events.STARTED: _started,
    events.CHECKPOINT_STARTED: _checkpoint_started,
    events.CHECKPOINT_COMPLETED: _checkpoint_completed,
    events.STEP_STARTED: _step_started,
    events.STEP_DECIDED: _step_decided,
    events.ACTION_STARTED: _action_started,
    events.STEP_FINISHED: _step_finished,
    events.MODEL_FAILED: _model_failed,
    events.PERMISSION_GRANTED: _permission_granted,
    events.ACTION_CONFIRMED: _action_confirmed,
    events.ACTION_SKIPPED: _action_skipped,
    events.BUDGET_EXTENDED: _budget_extended,
    events.OVERRAN: _overran,
    events.SILENCED: _silenced,
    events.MESSAGE_SENT: _sent,
    events.MESSAGE_RECEIVED: _received,
    events.NOTIFIED: _notified,
    events.CODER_CALLED: _coder_called,
}

PROJECTION = Projection(
    "plans",
    TABLES,
    _apply,
    types=events.PLAN_EVENTS,
)
