"""What is live against what would be live, on a terminal: read before a deployment is signed.

Reasons and lines of the code are an agent's: they stay behind labels of ours, escaped.
"""

import re
from collections.abc import Iterator
from typing import Any

from astra.interfaces.cli.main import Context
from astra.interfaces.cli.review import Paint
from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.text import one_line, printable, quote_text

TOOL = "deploy_agent_code"
"""The tool by which an agent asks for a deployment."""
_SHORT = 12
_LONGEST = 300
_SHOWN_LINES = 60
_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def fetch_difference(context: Context, change: str | None = None) -> dict[str, Any]:
    return context.client().get("/api/deployments/order/difference", change=change)


def note_request(context: Context, details: dict[str, Any]) -> None:
    """Say of an agent's request to deploy what it would change, if it still can."""
    difference = fetch_difference(context)
    bound_to: list[str] = details["footprint"]["files"]
    if not any(difference["commit"] in name for name in bound_to):
        text = "  MOVED      the branch is another one than the request names: it will not deploy"
        context.console.note(context.console.paint(text, "red"))
        return
    note_difference(context, difference)


def note_difference(context: Context, difference: dict[str, Any]) -> None:
    """Say what a deployment would change, with the beginning of its lines."""
    for line in render_difference(difference, context.console.paint):
        context.console.note(line)
    rows = list_rows(difference)
    for row in rows[:_SHOWN_LINES]:
        context.console.note(f"    {printable(row)}")
    if (more := len(rows) - _SHOWN_LINES) > 0:
        context.console.note(f"    … {more} more lines: astra deploy --preview")


def list_rows(difference: dict[str, Any]) -> list[str]:
    """Give the lines of the difference; they are the agent's, and not escaped yet."""
    text: str = difference["diff"].rstrip("\n")
    return text.split("\n") if text else []


def render_difference(difference: dict[str, Any], paint: Paint) -> Iterator[str]:
    """Give what a reader has to know before the lines themselves."""
    live, commit = difference["live"], difference["commit"][:_SHORT]
    serving = f"{live['release']} ({live['commit'][:_SHORT]})" if live else "nothing"
    yield f"  live now   {serving}"
    yield f"  would be   commit {commit}"
    if live and not difference["is_ahead"]:
        yield paint("  note       what is live is not part of it", "yellow")
    yield from (paint(line, "red") for line in _render_quarantine(difference))
    for item in difference["commits"]:
        tests = f", tests {item['tests'].replace('_', ' ')}" if item["tests"] else ""
        reason = quote_text(item["reason"]) if item["reason"] else "a commit of people"
        yield f"  in it      {reason} {item['commit'][:_SHORT]}{tests}"
    if difference["more"]:
        yield "  in it      and more before these"
    yield from map(_render_attempt, difference["history"])
    yield f"  differs    {_describe_size(difference)}"


def _render_quarantine(difference: dict[str, Any]) -> Iterator[str]:
    if difference["quarantined"]:
        yield f"  FAILED     in service before: {one_line(difference['quarantined'], _LONGEST)}"
    for item in difference["contains"]:
        if item["commit"] != difference["commit"]:
            reason = one_line(item["reason"], _LONGEST)
            yield f"  CONTAINS   {item['commit'][:_SHORT]}, which failed in service: {reason}"


def _render_attempt(attempt: dict[str, Any]) -> str:
    rehearsed = attempt["rehearsed_at"]
    staging = f"in staging {show_time(rehearsed)}" if rehearsed else "without staging"
    reason = f": {one_line(attempt['reason'], _LONGEST)}" if attempt["reason"] else ""
    state = attempt["state"].replace("_", " ")
    return f"  before     {state} {show_time(attempt['requested_at'])}, {staging}{reason}"


def _describe_size(difference: dict[str, Any]) -> str:
    if not difference["live"]:
        return "nothing is live; it would be the first release"
    files, added, removed = count_lines(difference["diff"])
    if not files:
        return "in no line from what is live"
    at_least = "at least " if difference["truncated"] else ""
    return f"{at_least}{files} file{'' if files == 1 else 's'}, +{added} -{removed}"


def count_lines(diff: str) -> tuple[int, int, int]:
    r"""Count files, added and removed lines; what stands in a hunk is never taken for a header.

    >>> count_lines("diff --git a/x b/x\n@@ -1 +1,2 @@\n-a\n+++ b\n+diff --git c\n")
    (1, 2, 1)
    """
    files = added = removed = old_left = new_left = 0
    for row in diff.split("\n"):
        if old_left > 0 or new_left > 0:
            old_left -= row[:1] in {"-", " "}
            new_left -= row[:1] in {"+", " "}
            added += row[:1] == "+"
            removed += row[:1] == "-"
        elif hunk := _HUNK.match(row):
            old_left, new_left = (int(size) if size else 1 for size in hunk.groups())
        else:
            files += row.startswith("diff --git ")
    return files, added, removed
