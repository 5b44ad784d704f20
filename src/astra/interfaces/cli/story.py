"""`astra ledger story`: the records of an id as a person reads them in the morning.

What only counts, looks or repeats is left out and its number told; `--all` tells every record.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from astra.interfaces.cli import record_words, story_words
from astra.interfaces.cli.plan_words import describe_action, describe_result, fold_text
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
    return fold_text(start, _describe_record(record), most=_LONGEST)


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
    return "plan" if _is_plans(actor) else one_line(actor.removeprefix("agent:"), 9)


def _describe_record(record: Data) -> str:
    kind = record["type"]
    if describe := SAYINGS.get(kind):
        return describe(record["data"])
    return record_words.CONSTANT_SENTENCES.get(kind, kind.replace("_", " "))


# Plans


def _quote_text(value: Any) -> str:
    return f"“{one_line(str(value), 240)}”"


def _format_reason(data: Data) -> str:
    reasons = ": ".join(str(data[name]) for name in ("reason", "detail") if data.get(name))
    return f": {reasons}" if reasons else ""


def _describe_draft(data: Data) -> str:
    goals = data.get("plan", {}).get("goals") or [""]
    size = f"{data.get('checkpoint_count', '?')} checkpoints"
    minutes = data.get("estimated_duration_minutes", "?")
    return f"there is a plan: {_quote_text(goals[0])}, {size}, about {minutes} minutes"


def _describe_finished_step(data: Data) -> str:
    return f"step {data['step']} ended: {describe_result(data['outcome'], data['result'], 240)}"


def _describe_model_failure(data: Data) -> str:
    again = f"; asked again at {data['retry_at'][11:19]}" if data["retry_at"] else ""
    return f"step {data['step']}: {data['reason']}{again}"


def _describe_grant(data: Data) -> str:
    items = ", ".join(f"{kind} {value}" for kind, value in data["items"])
    how = "for this one step" if data["once"] else "for the rest of the plan"
    return f"granted {how}, by signature: {items}"


def _describe_block(data: Data) -> str:
    """Tell what it waits for; the action itself was told when it was decided."""
    return f"WAITS: {data['reason']}"


def _describe_completion(data: Data) -> str:
    return (
        f"the plan is done: {data['steps']} steps,"
        f" {data['calls']} model calls, {data['tokens']} tokens"
    )


def _describe_egress(data: Data) -> str:
    address = f"{data['host']}:{data['port']}"
    if data["allowed"]:
        cut_note = "" if data["reason"] in {"allowed", "ended"} else f"; cut off ({data['reason']})"
        return (
            f"reached {address}; sent {data['sent']} bytes, received {data['received']}{cut_note}"
        )
    return f"was kept from reaching {address} ({data['reason']})"


SAYINGS: Mapping[str, Callable[[Data], str]] = {
    **record_words.SENTENCES,
    **story_words.SAYINGS,
    "agent_plan_requested": lambda data: f"asked for a plan: {_quote_text(data['description'])}",
    "agent_plan_questioned": lambda data: (
        f"the description was not clear; asked back: {_quote_text(' '.join(data['questions']))}"
    ),
    "agent_plan_answered": lambda data: f"answered: {_quote_text(data['answer'])}",
    "agent_plan_drafting_retried": lambda data: f"no plan yet{_format_reason(data)}",
    "agent_plan_failed": lambda data: f"no plan came of it{_format_reason(data)}",
    "agent_plan_drafted": _describe_draft,
    "agent_plan_revised": lambda data: f"edited it; {_describe_draft(data)}",
    "agent_plan_approved": lambda data: (
        f"approved exactly this plan ({data['plan_hash'][:12]}…) with exactly these grants"
    ),
    "agent_plan_rejected": lambda data: f"rejected it{_format_reason(data)}",
    "agent_started": lambda _data: "the plan began",
    "agent_checkpoint_started": lambda data: (
        f"checkpoint {data['number'] + 1} began: {_quote_text(data['title'])},"
        f" {data['step_budget']} steps"
    ),
    "agent_checkpoint_completed": lambda data: (
        f"checkpoint {data['number'] + 1} is done after {data['steps']} steps;"
        f" it reports: {_quote_text(data['output'])}"
    ),
    "agent_step_started": lambda data: (
        f"step {data['step']}: the model was asked; a crash cut that off, so it was asked anew"
    ),
    "agent_step_decided": lambda data: (
        f"step {data['step']}: {describe_action(data['action'], 240)}"
    ),
    "agent_step_finished": _describe_finished_step,
    "agent_model_failed": _describe_model_failure,
    "agent_coder_called": lambda data: f"the coder ({data['coder']}) was called, at a step's cost",
    "agent_blocked_on_permission": _describe_block,
    "agent_blocked_on_destructive": _describe_block,
    "agent_blocked_on_budget": _describe_block,
    "agent_blocked_on_llm": _describe_block,
    "agent_permission_granted": _describe_grant,
    "agent_action_confirmed": lambda data: (
        f"confirmed step {data['step']} by signature: {data['tool']}"
    ),
    "agent_action_skipped": lambda data: f"left out step {data['step']}{_format_reason(data)}",
    "agent_budget_extended": lambda data: (
        f"gave {data['steps']} more steps by signature, {data['budget']} in all"
    ),
    "agent_step_retried": lambda data: (
        f"let step {data['step']} run once more by signature; it was {data['outcome']}"
    ),
    "agent_paused": lambda data: (
        "WAITS for an answer"
        if data["reason"] == "agent_question"
        else f"paused{_format_reason(data)}"
    ),
    "agent_resumed": lambda data: f"goes on{_format_reason(data)}",
    "agent_overran": lambda data: (
        f"takes twice its estimate of {data['estimated_duration_minutes']} minutes"
    ),
    "agent_message_sent": lambda data: f"says: {_quote_text(data['text'])}",
    "agent_message_received": lambda data: f"told it: {_quote_text(data['text'])}",
    "agent_silenced": lambda data: f"turned announcements {'off' if data['on'] else 'on'}",
    "agent_completed": _describe_completion,
    "agent_aborted": lambda data: f"the plan was ended{_format_reason(data)}",
    "egress_attempted": _describe_egress,
}
