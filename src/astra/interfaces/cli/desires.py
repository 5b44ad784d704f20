"""`astra desires record|list|show|reinforce|promote|prune`."""

import argparse
import json
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.text import one_line, printable


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    recording = actions.add_parser("record", help="remember something that is wanted")
    recording.add_argument("text", metavar="TEXT")
    recording.add_argument("--strength", type=float, metavar="N", help="0 to 1 (default 1)")
    recording.add_argument("--tag", action="append", metavar="TAG", help="may be given again")
    recording.add_argument("--context", metavar="TEXT", help="where it came from")
    recording.set_defaults(run=record)
    listing = actions.add_parser("list", help="the strongest first")
    listing.add_argument("--limit", type=int, metavar="N", help="how many (10)")
    listing.add_argument("--min-strength", type=float, metavar="N", help="at least so strong now")
    listing.add_argument("--tag", metavar="TAG")
    listing.add_argument("--search", metavar="TEXT", help="whose text holds this")
    listing.add_argument("--faded", action="store_true", help="also what has faded below 0.1")
    listing.add_argument("--cursor", help="`next` of the page before")
    listing.set_defaults(run=list_desires)
    showing = actions.add_parser("show", help="one desire, even when it has faded")
    showing.add_argument("id", metavar="ID")
    showing.set_defaults(run=show)
    reinforcing = actions.add_parser("reinforce", help="raise its strength, to 1 at most")
    reinforcing.add_argument("id", metavar="ID")
    reinforcing.add_argument("--amount", type=float, metavar="N", help="how much to add (0.2)")
    reinforcing.set_defaults(run=reinforce)
    promoting = actions.add_parser(
        "promote", help="ask the operator to make it a goal; without an id, suggest which"
    )
    promoting.add_argument("id", metavar="ID", nargs="?")
    promoting.add_argument(
        "--adopt", action="store_true", help="planned, so that one signature also adopts the goal"
    )
    promoting.set_defaults(run=promote)
    actions.add_parser("prune", help="put away what has faded below 0.1").set_defaults(run=prune)


def record(context: Context) -> None:
    arguments = context.arguments
    options = {"strength": arguments.strength, "tags": arguments.tag, "context": arguments.context}
    body = {name: value for name, value in options.items() if value is not None}
    answer = context.client().post("/api/desires", {"text": arguments.text, **body})
    context.console.print_result(
        answer, f"recorded {answer['id']}, strength {answer['strength']:.2f}"
    )


def list_desires(context: Context) -> None:
    arguments = context.arguments
    page = context.client().get(
        "/api/desires",
        limit=arguments.limit,
        min_strength=arguments.min_strength,
        tag=arguments.tag,
        search=arguments.search,
        faded=True if arguments.faded else None,
        cursor=arguments.cursor,
    )
    lines = [_render_desire(desire) for desire in page["items"]]
    if page["next"]:
        lines.append(f"… next page: --cursor {page['next']}")
    context.console.print_result(page, *(lines or ["nothing is wanted"]))


def show(context: Context) -> None:
    document = context.client().get(f"/api/desires/{context.arguments.id}")
    context.console.print_result(document, *render_fields(document))


def reinforce(context: Context) -> None:
    body = {"amount": context.arguments.amount}
    document = context.client().post(f"/api/desires/{context.arguments.id}/reinforce", body)
    context.console.print_result(
        document, f"{document['id']} has strength {document['strength']:.2f} now"
    )


def promote(context: Context) -> None:
    """Ask for one; the answer is that it waits for the operator (exit code 3)."""
    if context.arguments.id is not None:
        identifier, options = context.arguments.id, {"adopt": context.arguments.adopt}
        body = context.client().post(f"/api/desires/{identifier}/promote", options)
        context.console.print_result(body)
        return
    document = context.client().get("/api/desires/suggestions")
    lines = [
        f"{_render_desire(item['desire'])}\n        {printable(item['evidence']['why'])}"
        for item in document["items"]
    ]
    context.console.print_result(document, *(lines or ["no desire suggests itself"]))


def prune(context: Context) -> None:
    answer = context.client().post("/api/desires/prune")
    context.console.print_result(answer, f"put away {answer['pruned']}")


def _render_desire(desire: dict[str, Any]) -> str:
    tags = "".join(f" #{one_line(tag, 64)}" for tag in desire["tags"])
    return f"{desire['strength']:.2f}  {desire['id']}  {one_line(desire['text'])}{tags}"


def render_fields(found: dict[str, Any]) -> list[str]:
    return [
        f"  {name.replace('_', ' '):15} {_render_value(value)}"
        for name, value in found.items()
        if value not in (None, [])
    ]


def _render_value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return printable(text)
