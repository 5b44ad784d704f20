"""`astra plans …` and `astra grants list|add|remove`."""

import argparse
import contextlib
import json
import sys
from pathlib import Path
from typing import Any

from astra.interfaces.cli import plan_pages
from astra.interfaces.cli import plan_steering as steering
from astra.interfaces.cli.main import Context
from astra.interfaces.cli.permissions import (
    add_merge_conditions,
    fetch_merge_content,
    sign_merge_permission,
)
from astra.interfaces.cli.tables import explain_empty, render_table
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import printable

_LARGEST_FILE = 1_000_000
KINDS = ("network_domains", "read_paths", "write_paths", "skills")


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    if command == "grants":
        _configure_grants(actions)
        return
    drafting = actions.add_parser("draft", help="put a plan before yourself: in words or as a file")
    drafting.add_argument("text", metavar="TEXT", nargs="?", default="", help="what is to be done")
    drafting.add_argument("--goal", metavar="GOAL", help="for a goal (goal_…), in its own words")
    drafting.add_argument("--file", metavar="PLAN.json", help="the plan itself; - reads it here")
    drafting.add_argument(
        "--channel", action="append", default=[], help="of astra.toml; all by default"
    )
    drafting.add_argument("--no-wait", action="store_true", help="do not wait for the model")
    drafting.set_defaults(run=draft)
    listing = actions.add_parser("list", help="the plans and their states")
    listing.add_argument("--state", help="only those in this state")
    listing.add_argument("--limit", type=int, default=50)
    listing.add_argument("--cursor", type=int, help="`next` of the page before")
    listing.set_defaults(run=list_plans)
    for name, about, action in (
        ("show", "one plan: what it may do, did and said", show),
        ("answer", "answer the questions of a plan that is being drafted", answer),
        ("approve", "sign exactly this plan with these grants; asks for the passphrase", approve),
        ("reject", "reject it, with a reason that the agent reads", reject),
        ("revise", "edit a plan; it is checked again and needs a new approval", revise),
        ("pause", "hold it until you resume it", steering.pause),
        ("resume", "let it go on; asks for the passphrase", steering.resume),
        ("abort", "end it for good, and every process that runs for it", steering.abort),
        (
            "grant",
            "grant what it waits for, or confirm a destructive step; asks for the passphrase",
            steering.grant,
        ),
        ("skip", "leave out the action that it waits to do", steering.skip),
        (
            "extend-budget",
            "give its checkpoint more steps; asks for the passphrase",
            steering.extend,
        ),
        (
            "retry",
            "run its last step once more, which went wrong; asks for the passphrase",
            steering.retry,
        ),
        ("message", "tell it something; its next step reads it", steering.message),
        ("silence", "announce nothing of it any more", steering.silence),
    ):
        child = actions.add_parser(name, help=about)
        child.add_argument("id", metavar="ID")
        child.set_defaults(run=action)
    _more_options(actions.choices)
    steering.add_options(actions.choices)


def _more_options(actions: dict[str, argparse.ArgumentParser]) -> None:
    actions["approve"].add_argument(
        "--merge",
        action="append",
        default=[],
        metavar="PATH",
        help="let its changes to this file, folder (docs/) or glob be merged unasked; again",
    )
    add_merge_conditions(actions["approve"])
    actions["answer"].add_argument("text", metavar="TEXT")
    actions["answer"].add_argument("--no-wait", action="store_true")
    actions["show"].add_argument(
        "--look-up-hosts",
        action="store_true",
        help="ask the name server which of its hosts exist; whoever runs their domains sees that",
    )
    actions["reject"].add_argument("--reason", required=True)
    revising = actions["revise"]
    for option, about in (
        ("--set", "PATH=JSON, e.g. checkpoints.0.step_budget=10"),
        ("--add", "PATH=TEXT, e.g. manifest.read_paths=docs"),
        ("--remove", "PATH=TEXT, or the PATH of an item of a list"),
    ):
        revising.add_argument(option, action="append", default=[], metavar="EDIT", help=about)


def _configure_grants(actions: Any) -> None:
    actions.add_parser("list", help="what is granted to every plan").set_defaults(run=list_grants)
    for name, about, action in (
        ("add", "grant it to every plan that asks; asks for the passphrase", add_grant),
        ("remove", "take it back; bites at the next step of a running plan", remove_grant),
    ):
        child = actions.add_parser(name, help=about)
        child.add_argument("kind", metavar="KIND", choices=KINDS, help=", ".join(KINDS))
        child.add_argument("value", metavar="VALUE")
        child.set_defaults(run=action)


def draft(context: Context) -> None:
    arguments = context.arguments
    body: dict[str, Any] = {
        "description": arguments.text,
        "notification_channels": arguments.channel,
    }
    if arguments.goal:
        body["goal"] = arguments.goal
    if arguments.file:
        body["plan"] = _read_plan_file(arguments.file)
    plan = context.client().post("/api/agents", body)
    _await_draft(context, plan)


def answer(context: Context) -> None:
    body = {"answer": context.arguments.text}
    _await_draft(context, context.client().post(f"{_plan_path(context)}/answers", body))


def list_plans(context: Context) -> None:
    arguments = context.arguments
    page = context.client().get(
        "/api/agents", state=arguments.state, limit=arguments.limit, cursor=arguments.cursor
    )
    rows = [plan_pages.row_cells(item) for item in page["items"]]
    lines = render_table(context.console, ("plan", "state", "done", "goal"), rows)
    if page["next"] is not None:
        lines.append(f"there are more: --cursor {page['next']}")
    filters = (arguments.state, arguments.cursor)
    empty = explain_empty("there are no plans", "no plan fits", filters)
    context.console.print_result(page, *(lines or [empty]))


def show(context: Context) -> None:
    client = context.client()
    plan = client.get(_plan_path(context))
    if context.arguments.look_up_hosts:
        hosts = client.post(f"{_plan_path(context)}/hosts", {})["items"]
        plan_pages.add_hosts(plan, hosts)
    context.console.print_result(plan, *plan_pages.render_page(plan))


def approve(context: Context) -> None:
    """Show the contract, then have the operator sign this plan with these grants.

    With `--merge`, what its changes may do without asking again is shown and signed with it. The
    plan comes first: cut off between the two, it stays a plan whose changes ask.
    """
    from astra.interfaces.cli.signing import sign_with, unlock_operator_pair

    paths, plan = context.arguments.merge, context.arguments.id
    if context.arguments.deploy and not paths:
        raise BadInput("--deploy needs --merge", next_step="name the paths: --merge src/app/")
    approval = context.client().post(f"{_plan_path(context)}/approval")
    plan_now = context.client().get(_plan_path(context))
    for line in plan_pages.render_contract(plan_pages.add_preflight(approval["details"], plan_now)):
        context.console.note(line)
    permission = fetch_merge_content(context, paths=paths, plan=plan) if paths else None
    pair = unlock_operator_pair(context)
    content = {"approval": approval["id"], "digest": approval["digest"]}
    body = {
        "approval": approval["id"],
        "authority": sign_with(context, pair, "approval_granted", content),
    }
    answer = context.client().post(f"{_plan_path(context)}/approve", body)
    lines = [f"approved {answer['id']}; plan {answer['plan_hash'][:16]}…"]
    if permission:
        identifier = sign_merge_permission(context, pair, permission)["id"]
        answer = {**answer, "permission": identifier}
        lines += [f"its changes: to ask again: astra permissions remove {identifier}"]
    context.console.print_result(answer, *lines)


def reject(context: Context) -> None:
    body = {"reason": context.arguments.reason}
    answer = context.client().post(f"{_plan_path(context)}/reject", body)
    context.console.print_result(answer, f"rejected {answer['id']}")


def revise(context: Context) -> None:
    arguments = context.arguments
    edits = [
        *(
            {"op": "set", "path": path, "value": _parse_value(text)}
            for path, text in _split_edits(arguments.set)
        ),
        *({"op": "add", "path": path, "value": text} for path, text in _split_edits(arguments.add)),
        *_parse_removals(arguments.remove),
    ]
    if not edits:
        raise BadInput("there is nothing to edit", next_step="give --set, --add or --remove")
    answer = context.client().post(f"{_plan_path(context)}/revise", {"edits": edits})
    context.console.print_result(answer, f"revised {answer['id']}; it waits for your approval")


def list_grants(context: Context) -> None:
    page = context.client().get("/api/agent_global_grants")
    lines = [f"{item['kind']:16} {printable(item['value'])}" for item in page["items"]]
    context.console.print_result(page, *(lines or ["nothing is granted to every plan"]))


def add_grant(context: Context) -> None:
    from astra.interfaces.cli.signing import sign_action

    body = {"kind": context.arguments.kind, "value": context.arguments.value}
    content = context.client().get("/api/agent_global_grants/content", **body)
    authority = sign_action(context, "agent_global_grant_added", content)
    answer = context.client().post("/api/agent_global_grants", {**body, "authority": authority})
    context.console.print_result(
        answer, f"granted {answer['kind']} {printable(answer['value'])} to every plan"
    )


def remove_grant(context: Context) -> None:
    body = {"kind": context.arguments.kind, "value": context.arguments.value}
    answer = context.client().delete("/api/agent_global_grants", **body)
    context.console.print_result(answer, f"removed {answer['kind']} {printable(answer['value'])}")


def _await_draft(context: Context, plan: dict[str, Any]) -> None:
    """Wait until the model has drafted or asked, unless told not to."""
    while _is_pending(plan) and not context.arguments.no_wait:
        plan = _next_look(context, plan["id"])
    context.console.print_result(plan, *plan_pages.render_outcome(plan))


def _next_look(context: Context, identifier: str) -> dict[str, Any]:
    """Look at a plan when something was recorded about it: each look is a record itself."""
    from http.client import HTTPException

    client = context.client()
    head = client.get("/api/ledger/head")["sequence"]
    plan = client.get(f"/api/agents/{identifier}")
    if _is_pending(plan):
        with contextlib.suppress(OSError, HTTPException):  # the daemon left
            next(
                (record for record in client.events(head) if record["subject"] == identifier), None
            )
    return plan


def _is_pending(made: dict[str, Any]) -> bool:
    return made["state"] == "draft_pending" and not made["questions"]


def _read_plan_file(name: str) -> Any:
    try:
        with sys.stdin if name == "-" else Path(name).open(encoding="utf-8") as file:
            return json.loads(file.read(_LARGEST_FILE))
    except OSError as error:
        raise BadInput(f"{name} cannot be read: {error.strerror}", next_step="check it") from None
    except ValueError as error:
        raise BadInput(f"{name} is not JSON: {error}", next_step="mend it") from None


def _split_edits(edits: list[str]) -> list[tuple[str, str]]:
    pairs = [edit.partition("=") for edit in edits]
    if bad := next((path for path, equals, _ in pairs if not equals), None):
        raise BadInput(f"{bad!r} is not PATH=VALUE", next_step="manifest.read_paths=docs")
    return [(path, text) for path, _, text in pairs]


def _parse_removals(edits: list[str]) -> list[dict[str, Any]]:
    pairs = [edit.partition("=") for edit in edits]
    return [
        {"op": "remove", "path": path, **({"value": text} if equals else {})}
        for path, equals, text in pairs
    ]


def _parse_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _plan_path(context: Context) -> str:
    return f"/api/agents/{context.arguments.id}"
