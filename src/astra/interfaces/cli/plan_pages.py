"""How a plan reads on a terminal: in a minute, with what is new first."""

from collections.abc import Iterator
from typing import Any

from astra.interfaces.cli.plan_words import fold_text, label_text
from astra.interfaces.sentences.of_steps import describe_action, describe_result
from astra.trusted.kernel.text import one_line

_SHOWN_STEPS, _SHOWN_MESSAGES = 10, 20
_GOES_ON = ("running", "checkpoint_completed")
_WHO = {
    "agent_update": "it says",
    "agent_question": "it asks",
    "operator": "you said",
    "answer": "you said",
}


def row_cells(item: dict[str, Any]) -> tuple[str, str, str, str]:
    progress = f"{item['checkpoints_done']}/{item['checkpoints']}"
    title = one_line(" · ".join(item["goals"]) or item["description"], 200)
    return item["id"], item["state"], f"{progress:>5}", title


def render_outcome(made: dict[str, Any]) -> list[str]:
    lines = [f"{made['id']} is {made['state']}"]
    if (why := _describe_reason(made)) and made["state"] not in _GOES_ON:
        lines += label_text("because", why)
    for question in made["questions"]:
        lines += label_text("question", question)
    return [*lines, *label_text("next", made["next"])]


def render_page(found: dict[str, Any]) -> list[str]:
    """Show a plan whole: how far it is, what for, with which permissions, what it did and said."""
    return [
        *render_outcome(found),
        *_render_progress(found),
        *render_contract(found),
        *_render_decision(found),
        *_render_steps(found),
        *_render_messages(found),
    ]


def render_contract(found: dict[str, Any]) -> Iterator[str]:
    """Show what is signed: the goals, the stages, each permission, and the box they make."""
    plan = found["plan"]
    if plan is None:
        return
    for goal in plan["goals"]:
        yield from label_text("goal", goal)
    for number, checkpoint in enumerate(plan["checkpoints"]):
        mark = (
            "done"
            if number < found.get("checkpoints_done", 0)
            else f"{checkpoint['step_budget']} steps"
        )
        yield from fold_text(f"  {number + 1:2}. ", f"{checkpoint['title']} ({mark})")
        yield from fold_text("      ", checkpoint["description"])
        if checkpoint["expected_output"]:
            yield from fold_text("      gives: ", checkpoint["expected_output"])
    for assumption in plan["assumptions"]:
        yield from label_text("assumes", assumption)
    yield f"  estimate   {plan['estimated_duration_minutes']} minutes"
    yield from _render_manifest(found["manifest"])
    yield f"  plan hash  {found['plan_hash']}"


def render_retry(step: dict[str, Any]) -> Iterator[str]:
    """Show the action of a step that would run again, and how it went."""
    yield from label_text("action", describe_action(step["action"], 1_000), most=1_000)
    yield from label_text("it ended", describe_result(step["outcome"], step["result"]))
    yield from label_text("mind", "what it did before it ended may happen twice")


def render_blocked_action(block: dict[str, Any]) -> Iterator[str]:
    """Show the action that a plan waits to do, and each grant that it would take."""
    action = block.get("action") or {"kind": "tool", **block}
    yield from label_text("action", describe_action(action, 1_000), most=1_000)
    for kind, value in block.get("items", ()):
        yield from label_text("grant", f"{kind}: {value}", most=1_000)
    if "ran" in block:
        ran = block["ran"]
        yield from label_text("it ran", describe_result(ran["outcome"], ran["result"]))
        yield from label_text("", "a grant lets the same command run once more, from its start")


def _describe_reason(made: dict[str, Any]) -> str:
    """Give the reason, and where that is a code the words to it."""
    if made["reason"] == "agent_question":
        return "it asked you something and waits for your answer"
    return f"{made['reason']}: {made['detail']}" if made["detail"] else made["reason"]


def _render_progress(found: dict[str, Any]) -> Iterator[str]:
    progress, usage = found["progress"], found["usage"]
    parts: list[str] = []
    if progress["checkpoint"] is not None:
        parts.append(f"checkpoint {progress['number'] + 1} of {found['checkpoints']}")
        parts.append(f"{progress['steps_spent']} of its {progress['step_budget']} steps spent")
    if usage["calls"]:
        parts.append(f"{usage['calls']} model calls, {usage['tokens']} tokens in all")
    if progress["twice_its_estimate"]:
        parts.append("it took twice its estimate")
    if parts:
        yield from label_text("so far", "; ".join(parts))


def add_hosts(plan: dict[str, Any], hosts: list[dict[str, str]]) -> None:
    """Put what the name server said beside the grants that it is about."""
    outcomes = {host["value"]: host["outcome"] for host in hosts}
    manifest: dict[str, Any] = plan["manifest"] or {"items": []}
    for item in manifest["items"]:
        if item["kind"] == "network_domains" and item["value"] in outcomes:
            item["preflight"] = outcomes[item["value"]]


def add_preflight(details: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
    """Put what the plan would meet now beside what a request for it says, grant by grant."""
    review_now: dict[str, Any] = plan["manifest"] or {"items": [], "model": {"ok": True}}
    outcomes = {(item["kind"], item["value"]): item["preflight"] for item in review_now["items"]}
    items = [
        {**item, "preflight": outcomes.get((item["kind"], item["value"]), "")}
        for item in details["manifest"]["items"]
    ]
    manifest = {**details["manifest"], "items": items, "model": review_now["model"]}
    return {**details, "manifest": manifest}


def _render_manifest(review: dict[str, Any]) -> Iterator[str]:
    for item in sorted(review["items"], key=lambda item: not item["new"]):
        label = "NEW" if item["new"] else "auto"
        if item.get("taken_back"):  # an approval that was asked for earlier does not say
            yield from label_text("GONE", f"{item['in_words']} (taken back)", most=4_200)
        else:
            yield from label_text(label, item["in_words"], most=4_200)
        if item.get("preflight") not in {None, "", "exists"}:
            yield from label_text("", f"  now: {item['preflight']}", most=4_200)
    if not (model := review.get("model", {"ok": True}))["ok"]:
        yield from label_text("NO MODEL", model["detail"])
    item_sentences = {item["in_words"] for item in review["items"]}
    yield "  sandbox"
    for sentence in review["sandbox"]:
        if sentence not in item_sentences:
            yield from fold_text("    ", sentence, most=20_000)


def _render_decision(found: dict[str, Any]) -> Iterator[str]:
    block = found["block"]
    if block and "digest" in block:
        yield "  waits for your decision on step " + str(block["step"])
        yield from render_blocked_action(block)


def _render_steps(found: dict[str, Any]) -> Iterator[str]:
    steps = found["steps_taken"]
    if len(steps) > _SHOWN_STEPS:
        yield f"  steps      the last {_SHOWN_STEPS}; astra ledger story {found['id']} tells all"
    for step in steps[-_SHOWN_STEPS:]:
        action_text = describe_action(step["action"])
        yield from fold_text(
            f"  step {step['step']:4}  ", f"{action_text} → {_describe_outcome(step, steps[-1])}"
        )


def _describe_outcome(step: dict[str, Any], last: dict[str, Any]) -> str:
    if step["outcome"]:
        return describe_result(step["outcome"], step["result"])
    if step is not last:
        return "cut off before the model answered"
    return {"asked": "the model thinks", "acting": "it runs"}.get(step["state"], "it waits")


def _render_messages(found: dict[str, Any]) -> Iterator[str]:
    """Show what was said; blocks and endings stand above already."""
    talk = [entry for entry in found["messages"] if entry["kind"] in _WHO]
    if len(talk) > _SHOWN_MESSAGES:
        yield f"  said       the last {_SHOWN_MESSAGES} of {len(talk)} messages"
    for message in talk[-_SHOWN_MESSAGES:]:
        yield from label_text(_WHO[message["kind"]], f"“{message['text']}”")
