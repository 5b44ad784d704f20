"""`astra ledger story`: the records of an id as a person reads them in the morning.

What only counts, looks or repeats is left out and its number told; `--all` tells every record.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from astra.interfaces.cli.plan_words import fold_text
from astra.interfaces.sentences import describe_record
from astra.trusted.kernel.text import one_line

Data = dict[str, Any]
_LONGEST = 330
_CALLS = frozenset({"call_success", "call_failure"})
"""Evidence that every call is; only `--all` tells it."""
LEFT_OUT = frozenset(
    {
        "tool_called",
        "budget_spent",
        "budget_returned",
        "spend_reserved",
        "spend_settled",
        "approval_used",
        "agent_files_exported",
        "agent_step_started",
        "agent_action_started",
        "agent_usage_counted",
        "agent_notified",
    }
)
_TOLD_BY_STEPS = frozenset({"tool_started", "tool_finished", "box_ended"})
_TOLD_ELSEWHERE = frozenset({"agent_blocked", "agent_done", "agent_aborted"})
_TOLD_BY_THEIR_RECORD = frozenset({"message", "done"})
_FOLLOWS_A_DECISION = frozenset({"grant", "skipped", "answered", "extend_budget", "retry"})
_ENDS_A_STEP = frozenset(
    {
        "agent_step_decided",
        "agent_step_finished",
        "agent_model_failed",
        "agent_usage_counted",
        "agent_action_skipped",
    }
)


def tell_records(records: list[Data], *, every: bool, moves: Sequence[Data] = ()) -> Iterator[str]:
    """Tell records in order, a day at a time, each with the beliefs that it moved."""
    cut_off = _cut_off(records)
    shown_records = [
        record
        for record in records
        if every or record["sequence"] in cut_off or not _goes_without_saying(record)
    ]
    shown_records = shown_records or records
    day = ""
    for record in shown_records:
        if record["time"][:10] != day:
            day = record["time"][:10]
            yield f"{day}, times in UTC"
        yield from tell_record(record)
        for move in moves:
            if move["sequence"] == record["sequence"] and (every or move["kind"] not in _CALLS):
                yield from _tell_move(move)
    if left_out := len(records) - len(shown_records):
        yield f"{left_out} records that only count, look or repeat are left out: --all tells them"


def tell_record(record: Data) -> Iterator[str]:
    """Tell one record: its number, when, who, and what happened."""
    start = f"{record['sequence']:>6}  {record['time'][11:19]}  {_name_actor(record):9} "
    return fold_text(start, describe_record(record["type"], record["data"]), most=_LONGEST)


def _tell_move(move: Data) -> Iterator[str]:
    """Tell that a record counts for or against a belief."""
    text = f"counts {move['sign']} “{one_line(move['statement'], 160)}”, now {move['mean']:.2f}"
    return fold_text(f"{'':28}", f"→ {text} ({move['belief']})", most=_LONGEST)


def _cut_off(records: list[Data]) -> frozenset[int]:
    """Find the model calls of which nothing was heard, though the plan went on: a crash."""
    started_steps = [record for record in records if record["type"] == "agent_step_started"]
    ended_steps = {_identify_step(record) for record in records if record["type"] in _ENDS_A_STEP}
    unended_steps = (
        record for record in started_steps if _identify_step(record) not in ended_steps
    )
    last = {record["data"]["agent_id"]: record["sequence"] for record in started_steps}
    return frozenset(
        r["sequence"] for r in unended_steps if r["sequence"] != last[r["data"]["agent_id"]]
    )


def _identify_step(record: Data) -> tuple[str, int]:
    return record["data"]["agent_id"], record["data"]["step"]


def _goes_without_saying(record: Data) -> bool:
    kind, data = record["type"], record["data"]
    if kind in _TOLD_BY_STEPS:
        return _is_plans(record["actor"]) or str(data.get("tool", "")).startswith("astra.plans.")
    if kind == "agent_message_sent":
        return data["kind"] in _TOLD_ELSEWHERE
    if kind == "agent_step_decided":
        return data["action"]["kind"] in _TOLD_BY_THEIR_RECORD
    if kind == "agent_step_finished":
        return data["outcome"] == "ok" and data["result"] in {"sent", "the checkpoint is done"}
    if kind == "agent_resumed":
        return data["reason"] in _FOLLOWS_A_DECISION
    return kind in LEFT_OUT


def _is_plans(actor: str) -> bool:
    return actor.startswith("agent:plan_")


def _name_actor(record: Data) -> str:
    actor = record["actor"]
    name = actor.removeprefix("agent:").removeprefix("operator:")
    return "plan" if _is_plans(actor) else one_line(name, 9)
