"""Plans, their steps and their messages as tables."""

import json
from collections.abc import Callable, Iterator

from astra.plans import events
from astra.plans.states import State
from astra.plans.step_rows import STEP_EFFECTS, counted, set_plan
from astra.plans.tables import TABLES
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED, bring_back


def _apply(record: Record) -> Iterator[Statement]:
    data = record.data
    if record.type == CLOCK_ACCEPTED:
        yield bring_back(record, "plan", "due")
        yield bring_back(record, "plan_message", "time")
    if "agent_id" not in data:
        return
    if record.type in {events.REQUESTED, events.DRAFTED}:
        yield _new(record)
    if (next_state := events.state_after(record.type)) is not None:
        yield from _moved(record, next_state)
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
    keeps_block = record.type == events.PAUSED
    yield set_plan(
        record,
        state=str(then),
        reason=data.get("reason", ""),
        detail=data.get("detail", ""),
        updated_at=record.time,
        **({} if keeps_block else {"block": block}),
    )


def _drafted(record: Record) -> Iterator[Statement]:
    data = record.data
    yield set_plan(
        record,
        plan=json.dumps(data["plan"]),
        plan_hash=data["plan_hash"],
        grants=None,
        grants_hash=None,
        approval=None,
        questions="[]",
    )
    yield from counted(record)


def _questioned(record: Record) -> Iterator[Statement]:
    data = record.data
    yield set_plan(record, questions=json.dumps(data["questions"]), round=data["round"])
    yield from _talked(record, "\n".join(data["questions"]), "sent", "agent_question")
    yield from counted(record)


def _answered(record: Record) -> Iterator[Statement]:
    yield set_plan(record, questions="[]", due=None, failures=0)
    yield from _talked(record, record.data["answer"], "received", "answer")


def _drafting_retried(record: Record) -> Iterator[Statement]:
    data = record.data
    failures = data["failures"]
    yield set_plan(record, due=data["retry_at"], failures=failures, reason=data["reason"])
    yield from counted(record)


def _approved(record: Record) -> Iterator[Statement]:
    data = record.data
    yield set_plan(
        record,
        grants=json.dumps(data["grants"]),
        grants_hash=data["grants_hash"],
        approval=data["approval"],
        approved_at=record.time,
        exported=None,
    )


def _exported(record: Record) -> Iterator[Statement]:
    yield set_plan(record, exported=f"{record.data['plan_hash']}/{record.data['grants_hash']}")


def _started(record: Record) -> Iterator[Statement]:
    yield set_plan(record, started_at=record.time)


def _checkpoint_started(record: Record) -> Iterator[Statement]:
    yield set_plan(record, checkpoint=record.data["number"], spent=0, extra=0, failures=0, due=None)


def _checkpoint_completed(record: Record) -> Iterator[Statement]:
    yield set_plan(record, done=record.data["number"] + 1)


def _budget_extended(record: Record) -> Iterator[Statement]:
    yield (
        "UPDATE plan SET extra = extra + ? WHERE id = ?",
        (record.data["steps"], record.data["agent_id"]),
    )


def _overran(record: Record) -> Iterator[Statement]:
    yield set_plan(record, overran=1)


def _silenced(record: Record) -> Iterator[Statement]:
    yield set_plan(record, silenced=int(record.data["on"]))


def _sent(record: Record) -> Iterator[Statement]:
    yield from _talked(record, record.data["text"], "sent", record.data["kind"])


def _received(record: Record) -> Iterator[Statement]:
    yield from _talked(record, record.data["text"], "received", "operator")


def _talked(record: Record, text: str, direction: str, kind: str) -> Iterator[Statement]:
    if direction == "sent":
        yield set_plan(record, last_sent=record.sequence)
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
    yield set_plan(record, notified=record.data["up_to"])


def _nothing(_record: Record) -> Iterator[Statement]:
    yield from ()


_EFFECTS: dict[str, Callable[[Record], Iterator[Statement]]] = {
    **STEP_EFFECTS,
    events.DRAFTED: _drafted,
    events.REVISED: _drafted,
    events.QUESTIONED: _questioned,
    events.ANSWERED: _answered,
    events.DRAFTING_RETRIED: _drafting_retried,
    events.FAILED: counted,
    events.APPROVED: _approved,
    events.FILES_EXPORTED: _exported,
    events.STARTED: _started,
    events.CHECKPOINT_STARTED: _checkpoint_started,
    events.CHECKPOINT_COMPLETED: _checkpoint_completed,
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
    types=events.PLAN_EVENTS | {CLOCK_ACCEPTED},
)
