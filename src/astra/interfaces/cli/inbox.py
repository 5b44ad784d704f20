"""`astra inbox [--watch]`: everything that waits for you, and the command that moves it on."""

import argparse
from collections.abc import Iterator
from typing import Any

from astra.interfaces.cli.main import Context
from astra.interfaces.cli.plan_words import fold_text
from astra.interfaces.cli.times import describe_age, describe_left

_KINDS = {
    "tool_call": "one call",
    "schedule": "a scheduled run",
    "change": "a change",
    "plan": "a plan",
    "promotion": "a goal",
    "goal": "a goal with its plan",
    "goal_of_desire": "a goal with its plan",
    "waiting_plan": "a plan that stands still",
    "resting_change": "a change that rests",
    "held_goal": "a goal that stands still",
    "failed_deployment": "a deployment that failed",
    "waiting_signature": "a decision that takes another signature",
    "alert": "ALERT",
}
_LONGEST = 400


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument("--watch", action="store_true", help="go on, and say what comes and goes")
    parser.set_defaults(run=show_inbox)


def show_inbox(context: Context) -> None:
    page = context.client().get("/api/inbox")
    if context.arguments.watch:
        _watch_inbox(context, page["items"])
        return
    context.console.print_result(page, *(_render_items(context, page["items"]) or [_EMPTY]))


_EMPTY = "nothing waits for you"


def _render_items(context: Context, items: list[dict[str, Any]]) -> list[str]:
    return [line for item in items for line in _render_item(context, item)]


def _render_item(context: Context, item: dict[str, Any]) -> Iterator[str]:
    kind = describe_kind(item["kind"])
    colour = "red" if item["kind"] in {"alert", "failed_deployment"} else "bold"
    for line in fold_text("", item["title"], most=_LONGEST):
        yield context.console.paint(line, colour)
    time_left = f", {describe_left(item['expires_at'])}" if item["expires_at"] else ""
    text = f"{kind}, {describe_age(item['waiting_since'])}{time_left}: {item['why']}"
    yield from fold_text("  ", text, most=_LONGEST)
    id_note = "" if item["id"] in item["command"] else f"   ({item['id']})"
    yield context.console.paint(f"  {item['command']}{id_note}", "dim")


def describe_kind(kind: str) -> str:
    """Name a kind of item in words."""
    return _KINDS.get(kind, kind.replace("_", " "))


def _watch_inbox(context: Context, items: list[dict[str, Any]]) -> None:
    """Say what waits, then what comes and what goes, until interrupted."""
    for item in items:
        _print_arrival(context, item)
    known_ids = {item["id"] for item in items}
    for _record in context.client().events(None):
        items = context.client().get("/api/inbox")["items"]
        for item in items:
            if item["id"] not in known_ids:
                _print_arrival(context, item)
        current_ids = {item["id"] for item in items}
        for identifier in sorted(known_ids - current_ids):
            context.console.print_result({"gone": identifier}, f"{identifier} does not wait now")
        known_ids = current_ids


def _print_arrival(context: Context, item: dict[str, Any]) -> None:
    context.console.print_result(item, *_render_item(context, item))
