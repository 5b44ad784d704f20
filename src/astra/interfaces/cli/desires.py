"""`astra desires record|list|show|reinforce|promote|prune`."""

import argparse
import time
from typing import Any

from astra.interfaces.cli.approvals import approve_own_request
from astra.interfaces.cli.client import ReportedError
from astra.interfaces.cli.main import Context
from astra.interfaces.cli.tables import explain_empty, render_fields
from astra.trusted.kernel.errors import NeedsApproval
from astra.trusted.kernel.text import one_line, printable

_PAUSE, _LONGEST_WAIT = 0.2, 60.0


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
        "promote", help="make it a goal, by your signature; without an id, suggest which"
    )
    promoting.add_argument("id", metavar="ID", nargs="?")
    promoting.add_argument(
        "--adopt", action="store_true", help="planned, so that one signature also adopts the goal"
    )
    signing_group = promoting.add_mutually_exclusive_group()
    signing_group.add_argument(
        "--ask", action="store_true", help="only ask; the request waits (so it is with --json)"
    )
    signing_group.add_argument("--sign", action="store_true", help="sign it at once, with --json")
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
    filters = (arguments.min_strength, arguments.tag, arguments.search, arguments.cursor)
    empty = explain_empty("nothing is wanted", "no desire fits", filters)
    context.console.print_result(page, *(lines or [empty]))


def show(context: Context) -> None:
    document = context.client().get(f"/api/desires/{context.arguments.id}")
    context.console.print_result(document, *render_fields(document))


def reinforce(context: Context) -> None:
    body = {"amount": context.arguments.amount}
    document = context.client().post(f"/api/desires/{context.arguments.id}/reinforce", body)
    context.console.print_result(
        document, f"{document['id']} has strength {document['strength']:.2f} now"
    )


def promote(context: Context) -> int:
    """Sign for it at once, or only ask; without an id, suggest."""
    arguments = context.arguments
    if arguments.id is None:
        _suggest_desires(context)
        return 0
    if arguments.ask or (context.console.as_json and not arguments.sign):
        _ask_for_promotion(context)
        return 0
    return _sign_promotion(context)


def _suggest_desires(context: Context) -> None:
    document = context.client().get("/api/desires/suggestions")
    lines = [
        f"{_render_desire(item['desire'])}\n        {printable(item['evidence']['why'])}"
        for item in document["items"]
    ]
    context.console.print_result(document, *(lines or ["no desire suggests itself"]))


def _ask_for_promotion(context: Context) -> None:
    """Ask for it; the answer is that it waits for the operator (exit code 3)."""
    options = {"adopt": context.arguments.adopt}
    path = f"/api/desires/{context.arguments.id}/promote"
    context.console.print_result(context.client().post(path, options))


def _sign_promotion(context: Context) -> int:
    """Show the request, have the operator sign it, and name the goal that came of it."""
    desire_id = context.arguments.id
    try:
        _ask_for_promotion(context)
    except ReportedError as error:
        if error.reason != NeedsApproval.code:
            raise
        approve_own_request(context, str(error.facts["approval_id"]))
    goal_id = _wait_for_goal(context, desire_id)
    if context.console.as_json:
        return 0
    if not goal_id:
        context.console.say("the goal is not there yet: astra goals list")
        return 1
    adopting = "" if context.arguments.adopt else f"; to adopt it: astra goals adopt {goal_id}"
    context.console.say(f"it is the goal {goal_id} now{adopting}")
    return 0


def _wait_for_goal(context: Context, desire_id: str) -> str:
    """Give the goal that a signed promotion makes, once the daemon has made it."""
    deadline = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < deadline:
        if goal_id := context.client().get(f"/api/desires/{desire_id}")["goal_id"]:
            return goal_id
        time.sleep(_PAUSE)
    return ""


def prune(context: Context) -> None:
    answer = context.client().post("/api/desires/prune")
    context.console.print_result(answer, f"put away {answer['pruned']}")


def _render_desire(desire: dict[str, Any]) -> str:
    tags = "".join(f" #{one_line(tag, 64)}" for tag in desire["tags"])
    return f"{desire['strength']:.2f}  {desire['id']}  {one_line(desire['text'])}{tags}"
