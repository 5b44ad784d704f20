"""How a plan reads on a terminal: in a minute, with what is new first."""

from collections.abc import Iterator
from typing import Any

from astra.kernel.text import one_line, printable

_SHOWN_STEPS = 10


def line(item: dict[str, Any]) -> str:
    done = f"{item['checkpoints_done']}/{item['checkpoints']}"
    words = one_line(" · ".join(item["goals"]) or item["description"], 70)
    return f"{item['id']}  {item['state']:22} {done:>5}  {words}"


def outcome(made: dict[str, Any]) -> list[str]:
    lines = [f"{made['id']} is {made['state']}"]
    if made["reason"]:
        lines.append(f"  because    {one_line(made['reason'])}")
    lines += [f"  question   {one_line(question)}" for question in made["questions"]]
    return [*lines, f"  next       {printable(made['next'])}"]


def page(found: dict[str, Any]) -> list[str]:
    """Show a plan whole: what for, in which stages, with which permissions, and how far it is."""
    return [*outcome(found), *contract(found), *_block(found), *_talk(found)]


def contract(found: dict[str, Any]) -> Iterator[str]:
    """Show what is signed: the goals, the stages, each permission, and the box they make."""
    plan = found["plan"]
    if plan is None:
        return
    for goal in plan["goals"]:
        yield f"  goal       {one_line(goal)}"
    for number, checkpoint in enumerate(plan["checkpoints"]):
        mark = (
            "done"
            if number < found.get("checkpoints_done", 0)
            else f"{checkpoint['step_budget']} steps"
        )
        yield f"  {number + 1:2}. {one_line(checkpoint['title'], 60)} ({mark})"
        yield f"      {one_line(checkpoint['description'])}"
    for assumption in plan["assumptions"]:
        yield f"  assumes    {one_line(assumption)}"
    yield f"  estimate   {plan['estimated_duration_minutes']} minutes"
    yield from _manifest(found["manifest"])
    yield f"  plan hash  {found['plan_hash']}"


def _manifest(review: dict[str, Any]) -> Iterator[str]:
    for item in sorted(review["items"], key=lambda item: not item["new"]):
        mark = "NEW " if item["new"] else "auto"
        yield f"  {mark}       {one_line(item['in_words'])}"
    yield "  sandbox"
    for words in review["sandbox"]:
        yield f"    {printable(words)}"


def _block(found: dict[str, Any]) -> Iterator[str]:
    if found["block"]:
        yield f"  waits for  {one_line(found['block'].get('in_words', ''), 300)}"
    for step in found["steps_taken"][-_SHOWN_STEPS:]:
        action: dict[str, Any] = step["action"] or {}
        what = action.get("tool") or action.get("kind") or "asked the model"
        result = one_line(step["result"] or "", 80)
        yield f"  step {step['step']:4}  {one_line(what, 30)}: {step['outcome'] or '…'} {result}"


def _talk(found: dict[str, Any]) -> Iterator[str]:
    for message in found["messages"]:
        arrow = "→" if message["direction"] == "sent" else "←"
        yield f"  {arrow} {message['kind']}: {one_line(message['text'])}"
