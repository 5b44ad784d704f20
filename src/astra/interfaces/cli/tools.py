"""`astra source list|read|search` and `astra tools list|call`: as an agent would call them."""

import argparse
import json
from typing import Any, cast

from astra.interfaces.cli.main import Context
from astra.interfaces.cli.tables import explain_empty, render_table
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import json_text, one_line, printable


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    if command == "tools":
        actions.add_parser("list", help="the tools an agent sees").set_defaults(run=list_tools)
        call = actions.add_parser("call", help="call a tool as an agent")
        call.add_argument("name", metavar="NAME")
        call.add_argument("arguments", metavar="JSON", nargs="?", default="{}")
        call.set_defaults(run=call_tool)
        return
    listing = actions.add_parser("list", help="the files of the target")
    listing.add_argument("--folder", default="")
    listing.add_argument("--glob")
    listing.add_argument("--cursor", help="`next` of the page before")
    reading = actions.add_parser("read", help="a file of the target")
    reading.add_argument("path", metavar="PATH")
    reading.add_argument("--start", type=int, help="first line")
    reading.add_argument("--end", type=int, help="last line")
    reading.add_argument("--line-numbers", action="store_true")
    searching = actions.add_parser("search", help="search the target")
    searching.add_argument("pattern", metavar="PATTERN")
    searching.add_argument("--regex", action="store_true")
    searching.add_argument("--ignore-case", action="store_true")
    searching.add_argument("--folder", default="")
    searching.add_argument("--glob")
    searching.add_argument("--context", type=int, default=0)
    for action in (listing, reading, searching):
        action.add_argument("--at", metavar="COMMIT", help="a commit or a change id")
    listing.set_defaults(run=list_source)
    reading.set_defaults(run=read_source)
    searching.set_defaults(run=search_source)


def list_tools(context: Context) -> None:
    page = context.client().get("/api/tools")
    rows = [
        (tool["tier"], tool["name"], one_line(tool["description"], 90)) for tool in page["items"]
    ]
    lines = render_table(context.console, ("tier", "tool", "about"), rows)
    context.console.print_result(page, *lines)


def call_tool(context: Context) -> int:
    try:
        arguments: Any = json.loads(context.arguments.arguments)
    except ValueError as error:
        raise BadInput(f"the arguments are not JSON: {error}", next_step="quote them") from None
    if not isinstance(arguments, dict):
        raise BadInput("the arguments are not a JSON object", next_step="write {…}")
    answer = _post_tool_call(context, context.arguments.name, cast("dict[str, Any]", arguments))
    context.console.print_result(answer, json_text(answer, indent=2))
    return 1 if answer.get("success") is False else 0


def list_source(context: Context) -> None:
    query = _collect_arguments(context, "folder", "glob", "cursor", "at")
    answer = _post_tool_call(context, "list_source_files", {**query, "limit": 1000})
    sizes = [item["kind"] if item["size"] is None else item["size"] for item in answer["items"]]
    paths = [printable(item["path"]) for item in answer["items"]]
    lines = [f"{size:>9}  {path}" for size, path in zip(sizes, paths, strict=True)]
    if answer["next"]:
        lines.append(f"… {answer['total']} in all; next page: --cursor {answer['next']}")
    filters = (query.get("folder"), query.get("glob"), query.get("cursor"))
    empty = explain_empty("the target has no files", "no file fits", filters)
    context.console.print_result(answer, *(lines or [empty]))


def read_source(context: Context) -> None:
    query = _collect_arguments(context, "path", "start", "end", "line_numbers", "at")
    answer = _post_tool_call(context, "read_source_code", {**query, "characters": 200_000})
    lines = [printable(answer["text"].rstrip("\n"))]
    if answer["next"] and context.arguments.end is None:
        lines.append(f"… {answer['total_lines']} lines in all; go on with --start {answer['end']}")
    context.console.print_result(answer, *lines)


def search_source(context: Context) -> None:
    names = ("pattern", "regex", "ignore_case", "folder", "glob", "context", "at")
    query = _collect_arguments(context, *names)
    answer = _post_tool_call(context, "search_source", {**query, "limit": 500})
    blocks = [_render_match(match) for match in answer["items"]]
    separator = ["--"] if context.arguments.context else []
    lines = [line for block in blocks for line in (*block, *separator)]
    context.console.print_result(answer, *(lines or ["no match"]))


def _render_match(match: dict[str, Any]) -> list[str]:
    """Give a match with the lines around it, numbered as `grep -n` numbers them."""
    path, number = printable(match["path"]), match["line"]
    first = number - len(match["before"])
    before = [
        f"{path}-{first + place}- {one_line(line)}" for place, line in enumerate(match["before"])
    ]
    after = [
        f"{path}-{number + place}- {one_line(line)}" for place, line in enumerate(match["after"], 1)
    ]
    return [*before, f"{path}:{number}: {one_line(match['text'])}", *after]


def _collect_arguments(context: Context, *words: str) -> dict[str, Any]:
    values = {word: getattr(context.arguments, word) for word in words}
    return {word: value for word, value in values.items() if value is not None}


def _post_tool_call(context: Context, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return context.client().post(f"/api/tools/{name}", arguments)
