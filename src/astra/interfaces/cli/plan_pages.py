"""How a plan reads on a terminal: in a minute, with what is new first."""

from collections.abc import Iterator
from typing import Any

from astra.interfaces.cli.plan_words import action_words, folded, labelled, result_words
from astra.trusted.kernel.text import one_line

_SHOWN_STEPS, _SHOWN_MESSAGES = 10, 20
_GOES_ON = ("running", "checkpoint_completed")
_WHO = {
    "agent_update": "it says",
    "agent_question": "it asks",
    "operator": "you said",
    "answer": "you said",
}


def line(item: dict[str, Any]) -> str:
    progress = f"{item['checkpoints_done']}/{item['checkpoints']}"
    title = one_line(" · ".join(item["goals"]) or item["description"], 40)
    return f"{item['id']}  {item['state']:22} {progress:>5}  {title}"


def outcome(made: dict[str, Any]) -> list[str]:
    lines = [f"{made['id']} is {made['state']}"]
    if (why := _why(made)) and made["state"] not in _GOES_ON:
        lines += labelled("because", why)
    for question in made["questions"]:
        lines += labelled("question", question)
    return [*lines, *labelled("next", made["next"])]


def page(found: dict[str, Any]) -> list[str]:
    """Show a plan whole: how far it is, what for, with which permissions, what it did and said."""
    return [
        *outcome(found),
        *_progress(found),
        *contract(found),
        *_waits_for(found),
        *_steps(found),
        *_talk(found),
    ]


def contract(found: dict[str, Any]) -> Iterator[str]:
    """Show what is signed: the goals, the stages, each permission, and the box they make."""
    plan = found["plan"]
    if plan is None:
        return
    for goal in plan["goals"]:
        yield from labelled("goal", goal)
    for number, checkpoint in enumerate(plan["checkpoints"]):
        mark = (
            "done"
            if number < found.get("checkpoints_done", 0)
            else f"{checkpoint['step_budget']} steps"
        )
        yield from folded(f"  {number + 1:2}. ", f"{checkpoint['title']} ({mark})")
        yield from folded("      ", checkpoint["description"])
        if checkpoint["expected_output"]:
            yield from folded("      gives: ", checkpoint["expected_output"])
    for assumption in plan["assumptions"]:
        yield from labelled("assumes", assumption)
    yield f"  estimate   {plan['estimated_duration_minutes']} minutes"
    yield from _manifest(found["manifest"])
    yield f"  plan hash  {found['plan_hash']}"


def once_more(step: dict[str, Any]) -> Iterator[str]:
    """Show the action of a step that would run again, and how it went."""
    yield from labelled("action", action_words(step["action"], 1_000), most=1_000)
    yield from labelled("it ended", result_words(step["outcome"], step["result"]))
    yield from labelled("mind", "what it did before it ended may happen twice")


def waiting(block: dict[str, Any]) -> Iterator[str]:
    """Show the action that a plan waits to do, and each grant that it would take."""
    action = block.get("action") or {"kind": "tool", **block}
    yield from labelled("action", action_words(action, 1_000), most=1_000)
    for kind, value in block.get("items", ()):
        yield from labelled("grant", f"{kind}: {value}", most=1_000)
    if "ran" in block:
        ran = block["ran"]
        yield from labelled("it ran", result_words(ran["outcome"], ran["result"]))
        yield from labelled("", "a grant lets the same command run once more, from its start")


def _why(made: dict[str, Any]) -> str:
    """Give the reason, and where that is a code the words to it."""
    if made["reason"] == "agent_question":
        return "it asked you something and waits for your answer"
    return f"{made['reason']}: {made['detail']}" if made["detail"] else made["reason"]


def _progress(found: dict[str, Any]) -> Iterator[str]:
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
        yield from labelled("so far", "; ".join(parts))


def _manifest(review: dict[str, Any]) -> Iterator[str]:
    for item in sorted(review["items"], key=lambda item: not item["new"]):
        label = "NEW" if item["new"] else "auto"
        if item.get("taken_back"):  # an approval that was asked for earlier does not say
            yield from labelled("GONE", f"{item['in_words']} (taken back)", most=4_200)
        else:
            yield from labelled(label, item["in_words"], most=4_200)
    stated = {item["in_words"] for item in review["items"]}
    yield "  sandbox"
    for sentence in review["sandbox"]:
        if sentence not in stated:
            yield from folded("    ", sentence, most=20_000)


def _waits_for(found: dict[str, Any]) -> Iterator[str]:
    block = found["block"]
    if block and "digest" in block:
        yield "  waits for your decision on step " + str(block["step"])
        yield from waiting(block)


def _steps(found: dict[str, Any]) -> Iterator[str]:
    steps = found["steps_taken"]
    if len(steps) > _SHOWN_STEPS:
        yield f"  steps      the last {_SHOWN_STEPS}; astra ledger story {found['id']} tells all"
    for step in steps[-_SHOWN_STEPS:]:
        action_text = action_words(step["action"])
        yield from folded(f"  step {step['step']:4}  ", f"{action_text} → {_went(step, steps[-1])}")


def _went(step: dict[str, Any], last: dict[str, Any]) -> str:
    if step["outcome"]:
        return result_words(step["outcome"], step["result"])
    if step is not last:
        return "cut off before the model answered"
    return {"asked": "the model thinks", "acting": "it runs"}.get(step["state"], "it waits")


def _talk(found: dict[str, Any]) -> Iterator[str]:
    """Show what was said; blocks and endings stand above already."""
    talk = [entry for entry in found["messages"] if entry["kind"] in _WHO]
    if len(talk) > _SHOWN_MESSAGES:
        yield f"  said       the last {_SHOWN_MESSAGES} of {len(talk)} messages"
    for message in talk[-_SHOWN_MESSAGES:]:
        yield from labelled(_WHO[message["kind"]], f"“{message['text']}”")
