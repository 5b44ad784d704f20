"""`astra smoke`: try every part of the running server once, within seconds."""

import argparse
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.errors import NotFound
from astra.trusted.kernel.text import one_line


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument("--last", action="store_true", help="show the last run instead")
    parser.set_defaults(run=run_smoke)


def run_smoke(context: Context) -> int:
    report = _read_last(context) if context.arguments.last else context.client().post("/api/smoke")
    lines = [_render_item(context, item) for item in report["items"]]
    failed = [item["name"] for item in report["items"] if not item["ok"]]
    seconds = report["milliseconds"] / 1000
    verdict = f"FAILED: {', '.join(failed)}" if failed else f"all {len(lines)} ok"
    verdict = context.console.paint(verdict, "red" if failed else "green")
    context.console.print_result(report, *lines, f"{verdict} in {seconds:.1f} s")
    return 0 if report["ok"] else 1


def _read_last(context: Context) -> dict[str, Any]:
    last = context.client().get("/api/smoke")["last"]
    if last is None:
        raise NotFound("there was no smoke run yet", next_step="astra smoke")
    if not context.console.as_json:
        context.console.note(f"{last['id']} of {show_time(last['at'])}")
    return last


def _render_item(context: Context, item: dict[str, Any]) -> str:
    colour, word = ("green", "ok  ") if item["ok"] else ("red", "FAIL")
    state = context.console.paint(word, colour)
    detail = context.console.paint(one_line(item["detail"], 300), "dim")
    return f"{state} {item['name']:14} {item['milliseconds']:7.0f} ms  {detail}"
