"""Records of plans and of what their boxes reached, as sentences about this event."""

from collections.abc import Callable, Mapping
from typing import Any

from astra.interfaces.sentences.of_steps import describe_action, describe_result
from astra.trusted.kernel.text import one_line

Data = dict[str, Any]


def _quote_text(value: Any) -> str:
    return f"“{one_line(str(value), 240)}”"


def _format_reason(data: Data) -> str:
    reasons = ": ".join(str(data[name]) for name in ("reason", "detail") if data.get(name))
    return f": {reasons}" if reasons else ""


def _list_hosts(data: Data) -> str:
    return one_line(", ".join(map(str, data.get("hosts", []))), 160)


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
    "agent_plan_requested": lambda data: f"asked for a plan: {_quote_text(data['description'])}",
    "agent_plan_questioned": lambda data: (
        f"the description was not clear; asked back: {_quote_text(' '.join(data['questions']))}"
    ),
    "agent_plan_answered": lambda data: f"answered: {_quote_text(data['answer'])}",
    "agent_hosts_looked_up": lambda data: f"the name server was asked about {_list_hosts(data)}",
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
