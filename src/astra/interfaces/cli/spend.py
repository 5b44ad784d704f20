"""`astra spend`: what model calls took today, with a gauge for each cap."""

import argparse
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.text import one_line, printable

_WIDTH = 20
_NO_CAPS = "no caps are set, so only goals with a budget of money are counted; none called today"
_SET_CAPS = (
    "next: set tokens_per_day, money_per_plan, … below [spend] in astra.toml, and run"
    " `astra config sign`"
)
_GROUPS = {
    "actors": "by actor",
    "goals": "by goal",
    "plans": "by plan",
    "models": "by model",
}


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.set_defaults(run=show_spend)


def show_spend(context: Context) -> None:
    spend = context.client().get("/api/spend")
    context.console.print_result(spend, *_render_spend(spend))


def _render_spend(spend: dict[str, Any]) -> list[str]:
    if not spend["caps"] and not spend["models"]:
        return [_NO_CAPS, _SET_CAPS]
    lines = [f"{spend['day']} (UTC)", *map(_render_gauge, spend["gauges"])]
    for group, title in _GROUPS.items():
        if spend[group]:
            lines += [title, *(_render_row(row, spend["currency"]) for row in spend[group])]
    return [*lines, *map(_render_unsettled, spend["unsettled"])]


def _render_gauge(gauge: dict[str, Any]) -> str:
    full_marks = min(_WIDTH, round(gauge["share"] * _WIDTH))
    bar = "#" * full_marks + "." * (_WIDTH - full_marks)
    name = f" {one_line(gauge['name'], 60)}" if gauge["name"] else ""
    raised = " (raised)" if gauge["limit"] != gauge["configured"] else ""
    return f"  [{bar}] {gauge['cap']}{name}: {gauge['in_words']}{raised}"


def _render_row(row: dict[str, Any], currency: str) -> str:
    notes = [
        f"{row[f'{part}_tokens']:,} {part}"
        for part in ("reserved", "uncertain")
        if row[f"{part}_tokens"]
    ]
    money = f", {row['money']:.4f} {currency}" if row["money"] else ""
    doubt = f" ({', '.join(notes)})" if notes else ""
    name = one_line(row["name"], 60)
    return f"  {name}  {row['calls']} calls, {row['tokens']:,} tokens{money}{doubt}"


def _render_unsettled(call: dict[str, Any]) -> str:
    state = "under way" if call["under_way"] else "cut off: what it took is not known"
    return f"  {call['call']} since {printable(call['since'])}: {call['tokens']:,} tokens, {state}"
