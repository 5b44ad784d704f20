"""Plans, their steps and their messages as tables."""

import json
from collections.abc import Callable, Iterator

from astra.plans import events
from astra.plans.states import State
from astra.plans.step_rows import STEP_EFFECTS, add_usage, set_plan
from astra.plans.tables import TABLES
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED, bring_back


def _project_record(record: Record) -> Iterator[Statement]:
    data = record.data
    if record.type == CLOCK_ACCEPTED:
        yield bring_back(record, "plan", "due")
        yield bring_back(record, "plan_message", "time")
    if "agent_id" not in data:
        return
    if record.type in {events.REQUESTED, events.DRAFTED}:
        yield _insert_plan(record)
    if (next_state := events.state_after(record.type)) is not None:
        yield from _store_state(record, next_state)
    yield from _EFFECTS.get(record.type, _change_nothing)(record)


def _insert_plan(record: Record) -> Statement:
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


def _store_state(record: Record, then: State) -> Iterator[Statement]:
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


def _store_draft(record: Record) -> Iterator[Statement]:
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
    yield from add_usage(record)


def _store_questions(record: Record) -> Iterator[Statement]:
    data = record.data
    yield set_plan(record, questions=json.dumps(data["questions"]), round=data["round"])
    yield from _insert_message(record, "\n".join(data["questions"]), "sent", "agent_question")
    yield from add_usage(record)


def _store_answer(record: Record) -> Iterator[Statement]:
    yield set_plan(record, questions="[]", due=None, failures=0, reason="", detail="")
    yield from _insert_message(record, record.data["answer"], "received", "answer")


def _store_drafting_retry(record: Record) -> Iterator[Statement]:
    data = record.data
    failures = data["failures"]
    yield set_plan(
        record,
        due=data["retry_at"],
        failures=failures,
        reason=data["reason"],
        detail=data.get("answer", ""),
    )
    yield from add_usage(record)


def _store_approval(record: Record) -> Iterator[Statement]:
    data = record.data
    yield set_plan(
        record,
        grants=json.dumps(data["grants"]),
        grants_hash=data["grants_hash"],
        approval=data["approval"],
        approved_at=record.time,
        exported=None,
    )


def _store_export(record: Record) -> Iterator[Statement]:
    yield set_plan(record, exported=f"{record.data['plan_hash']}/{record.data['grants_hash']}")


def _store_start(record: Record) -> Iterator[Statement]:
    yield set_plan(record, started_at=record.time)


def _store_checkpoint_start(record: Record) -> Iterator[Statement]:
    yield set_plan(record, checkpoint=record.data["number"], spent=0, extra=0, failures=0, due=None)


def _store_checkpoint_end(record: Record) -> Iterator[Statement]:
    yield set_plan(record, done=record.data["number"] + 1)


def _store_extension(record: Record) -> Iterator[Statement]:
    yield (
        "UPDATE plan SET extra = extra + ? WHERE id = ?",
        (record.data["steps"], record.data["agent_id"]),
    )


def _store_overrun(record: Record) -> Iterator[Statement]:
    yield set_plan(record, overran=1)


def _store_silence(record: Record) -> Iterator[Statement]:
    yield set_plan(record, silenced=int(record.data["on"]))


def _store_sent_message(record: Record) -> Iterator[Statement]:
    yield from _insert_message(record, record.data["text"], "sent", record.data["kind"])


def _store_received_message(record: Record) -> Iterator[Statement]:
    yield from _insert_message(record, record.data["text"], "received", "operator")


def _insert_message(record: Record, text: str, direction: str, kind: str) -> Iterator[Statement]:
    if direction == "sent":
        yield set_plan(record, last_sent=record.sequence)
    yield (
        (
            "INSERT INTO plan_message (sequence, plan, direction, kind, text, time)"
            " VALUES (?, ?, ?, ?, ?, ?)"
        ),
        (record.sequence, record.data["agent_id"], direction, kind, text, record.time),
    )


def _count_coder_call(record: Record) -> Iterator[Statement]:
    yield (
        "UPDATE plan SET spent = spent + 1, calls = calls + 1 WHERE id = ?",
        (record.data["agent_id"],),
    )


def _store_notification(record: Record) -> Iterator[Statement]:
    yield set_plan(record, notified=record.data["up_to"])


def _change_nothing(_record: Record) -> Iterator[Statement]:
    yield from ()


_EFFECTS: dict[str, Callable[[Record], Iterator[Statement]]] = {
    **STEP_EFFECTS,
    events.DRAFTED: _store_draft,
    events.REVISED: _store_draft,
    events.QUESTIONED: _store_questions,
    events.ANSWERED: _store_answer,
    events.DRAFTING_RETRIED: _store_drafting_retry,
    events.FAILED: add_usage,
    events.APPROVED: _store_approval,
    events.FILES_EXPORTED: _store_export,
    events.STARTED: _store_start,
    events.CHECKPOINT_STARTED: _store_checkpoint_start,
    events.CHECKPOINT_COMPLETED: _store_checkpoint_end,
    events.BUDGET_EXTENDED: _store_extension,
    events.OVERRAN: _store_overrun,
    events.SILENCED: _store_silence,
    events.MESSAGE_SENT: _store_sent_message,
    events.MESSAGE_RECEIVED: _store_received_message,
    events.NOTIFIED: _store_notification,
    events.CODER_CALLED: _count_coder_call,
}

PROJECTION = Projection(
    "plans",
    TABLES,
    _project_record,
    types=events.PLAN_EVENTS | {CLOCK_ACCEPTED},
)
