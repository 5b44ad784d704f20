"""`astra changes`: propose, list, show, diff, test, decide, and rehearse it all."""

import argparse
import base64
from pathlib import Path
from typing import Any

from astra.interfaces.cli import approvals, reverting
from astra.interfaces.cli.main import Context
from astra.interfaces.cli.review import render_screen
from astra.interfaces.cli.tables import explain_empty, render_table
from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.errors import BadInput, NeedsApproval, Refused
from astra.trusted.kernel.text import one_line, printable

_UNDER_WAY = frozenset({"gathering_evidence", "granted", "approved"})
_STEP = 2
_PATIENCE = 15


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    _configure_propose(actions.add_parser("propose", help="propose a change, as the agent would"))
    listing = actions.add_parser("list", help="the changes, newest first")
    listing.add_argument("--state")
    listing.add_argument("--limit", type=int, default=50)
    listing.add_argument("--cursor", help="`next` of the page before")
    listing.set_defaults(run=list_changes)
    for name, about, command in (
        ("show", "all a reviewer needs, on one screen", show),
        ("diff", "the diff, every byte of it", diff),
        ("test", "gather the evidence again", test),
        ("approve", "approve it, which merges it; asks for the passphrase", approvals.approve),
        ("reject", "turn it down, with a reason", reject),
        ("comment", "say something the agent gets to read", comment),
        ("request-changes", "send it back to the agent, saying why", request_changes),
    ):
        action = actions.add_parser(name, help=about)
        action.add_argument("id", metavar="ID", help="a change (chg_…)")
        action.set_defaults(run=command)
    approvals.add_terms(actions.choices["approve"])
    actions.choices["reject"].add_argument("--reason", required=True)
    actions.choices["test"].add_argument("--no-wait", action="store_true")
    for name in ("comment", "request-changes"):
        _add_saying(actions.choices[name])

    reverting.configure(actions.add_parser("revert", help="propose the inverse of a merged change"))
    rehearsing = actions.add_parser("dry-run", help="rehearse the whole path on a throwaway copy")
    _add_edits(rehearsing)
    rehearsing.set_defaults(run=dry_run)


def _add_edits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--edit",
        action="append",
        default=[],
        metavar="REPO_PATH=LOCAL_FILE",
        help="the file as it shall be",
    )
    parser.add_argument("--delete", action="append", default=[], metavar="REPO_PATH")
    parser.add_argument("--patch", metavar="FILE", help="a unified diff")


def _add_saying(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", nargs="?", default="")
    parser.add_argument(
        "--on",
        nargs=2,
        action="append",
        default=[],
        metavar=("REPO_PATH:LINE", "REMARK"),
        help="about a line as it would be; REPO_PATH:-LINE is a line as it was",
    )


def _configure_propose(parser: argparse.ArgumentParser) -> None:
    _add_edits(parser)
    parser.add_argument("--from-branch", metavar="BRANCH", help="a branch of the agent's clone")
    parser.add_argument("--reason", required=True, help="why the code should change")
    parser.add_argument("--goal", metavar="ID", help="the goal it serves")
    parser.add_argument("--research", metavar="ID", help="the research it comes from")
    parser.add_argument("--supersedes", metavar="ID", help="the change this is a revision of")
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the evidence")
    parser.set_defaults(run=propose)


def propose(context: Context) -> None:
    change = context.client().post("/api/changes", _build_proposal(context))
    if not context.arguments.no_wait:
        change = wait_for_evidence(context, change)
    print_proposal(context, change)


def wait_for_evidence(context: Context, change: dict[str, Any]) -> dict[str, Any]:
    context.console.note(f"{change['id']}: gathering evidence on {change['branch']} …")
    return wait_until_settled(context, change["id"])


def print_proposal(context: Context, change: dict[str, Any]) -> None:
    lines = [f"{change['id']}  {change['state']}  {change['commit'][:12]} on {change['branch']}"]
    context.console.print_result(change, *lines, f"  next: {printable(change['next'])}")


def list_changes(context: Context) -> None:
    arguments = context.arguments
    page = context.client().get(
        "/api/changes", state=arguments.state, limit=arguments.limit, cursor=arguments.cursor
    )
    rows = [
        (
            item["id"],
            item["state"],
            show_time(item["created_at"]),
            item["tests"] or "-",
            one_line(item["reason"], 70),
        )
        for item in page["items"]
    ]
    lines = render_table(context.console, ("change", "state", "proposed", "tests", "reason"), rows)
    filters = (arguments.state, arguments.cursor)
    empty = explain_empty("nothing was proposed yet", "no change fits", filters)
    context.console.print_result(page, *(lines or [empty]))


def show(context: Context) -> None:
    change = context.client().get(_change_path(context))
    context.console.print_result(
        change, *render_screen(change, context.console.paint, context.console.width)
    )


def diff(context: Context) -> None:
    diff_document = context.client().get(f"{_change_path(context)}/diff")
    context.console.print_result(diff_document, *_paint_diff(context, diff_document["diff"]))


def test(context: Context) -> int:
    before = _fetch_output(context, context.arguments.id)["position"]
    change = context.client().post(f"{_change_path(context)}/test")
    if context.arguments.no_wait:
        context.console.print_result(change, f"{change['id']}: {change['state']}")
        return 0
    change = wait_until_settled(context, change["id"], after=before)
    context.console.print_result(
        change, *render_screen(change, context.console.paint, context.console.width)
    )
    return 0 if change["evidence"]["verdict"] == "passed" else 1


def reject(context: Context) -> None:
    body = {"reason": context.arguments.reason}
    change = context.client().post(f"{_change_path(context)}/reject", body)
    context.console.print_result(change, f"rejected {change['id']}")


def comment(context: Context) -> None:
    change = context.client().post(f"{_change_path(context)}/comments", _build_comment(context))
    context.console.print_result(change, f"noted on {change['id']}")


def request_changes(context: Context) -> None:
    body = {**_build_comment(context), "request_changes": True}
    change = context.client().post(f"{_change_path(context)}/comments", body)
    context.console.print_result(
        change, f"sent {change['id']} back; the agent can propose a revision"
    )


def _build_comment(context: Context) -> dict[str, Any]:
    remarks = [
        {**_parse_line_reference(line_reference), "text": text}
        for line_reference, text in context.arguments.on
    ]
    return {"text": context.arguments.text, "remarks": remarks}


def _parse_line_reference(text: str) -> dict[str, Any]:
    path, _, number = text.rpartition(":")
    line = number.removeprefix("-")
    if not path or not (line.isascii() and line.isdigit()):
        raise BadInput(
            f"--on {one_line(text)!r} is not REPO_PATH:LINE",
            code="bad_usage",
            next_step="write it like --on src/app.py:12 'why this?'",
        )
    return {"path": path, "line": int(line), "side": "old" if number != line else "new"}


def dry_run(context: Context) -> int:
    """Walk the whole path on a throwaway copy; the operator signs, as for a real change."""
    from astra.interfaces.cli.signing import sign_action

    client = context.client()
    rehearsal = client.post("/api/dry-runs", _collect_edits(context))
    if "digest" in rehearsal:
        for line in rehearsal["transcript"]:
            context.console.note(printable(line))
        content = {"dry_run": rehearsal["id"], "digest": rehearsal["digest"]}
        authority = sign_action(context, "dry_run_approved", content)
        rehearsal = client.post(
            f"/api/dry-runs/{rehearsal['id']}/approve", {"authority": authority}
        )
    lines = [printable(line) for line in rehearsal["transcript"]]
    context.console.print_result(rehearsal, *lines, f"kept in {printable(rehearsal['folder'])}")
    return 0 if rehearsal["ok"] else 1


def wait_until_settled(context: Context, identifier: str, *, after: int = 0) -> dict[str, Any]:
    """Wait until nothing of a change is under way, showing what its tests print meanwhile."""
    position, patience = after, _PATIENCE
    while True:
        change = context.client().get(f"/api/changes/{identifier}", wait=_STEP)
        position = _show_output(context, identifier, position)
        patience -= 1 if (between := _is_about_to_be_asked(change)) else 0
        if change["state"] not in _UNDER_WAY and not (between and patience):
            return change
        if change["blocked"]:
            raise Refused(
                f"{identifier} is {change['state']} and rests: {change['blocked']}",
                code=change["blocked"],
                next_step="it goes on once that is over: astra status",
            )


def _is_about_to_be_asked(found: dict[str, Any]) -> bool:
    """Tell whether an approval went stale a moment ago: what becomes of it is worked out now."""
    return found["state"] == "awaiting_approval" and found["approval_id"] is None


def _show_output(context: Context, identifier: str, position: int) -> int:
    output = _fetch_output(context, identifier, position)
    if output["text"] and not context.console.as_json:
        context.console.note(printable(output["text"].rstrip("\n")))
    return output["position"]


def _fetch_output(context: Context, identifier: str, after: int = 0) -> dict[str, Any]:
    return context.client().get(f"/api/changes/{identifier}/output", after=after)


def wait_for_merge(context: Context, identifier: str) -> None:
    """Follow an approved change to its end, and say it."""
    change, line = follow_merge(context, identifier)
    context.console.print_result(change, line)


def follow_merge(context: Context, identifier: str) -> tuple[dict[str, Any], str]:
    """Follow an approved change to its end: merged, or back for another decision."""
    before = _fetch_output(context, identifier)["position"]
    change = wait_until_settled(context, identifier, after=before)
    if change["state"] == "awaiting_approval":
        raise NeedsApproval(
            f"the approval did not hold: {change['decision']['reason']}",
            next_step=f"look at it again, then: astra changes approve {identifier}",
            approval_id=change["approval_id"],
        )
    if change["state"] != "executed":
        raise Refused(
            f"{identifier} is {change['state']}: {change['decision']['reason']}",
            code=change["state"],
            next_step=f"astra changes show {identifier}",
        )
    branch_position = f"{change['target_branch']} is at {change['commit'][:12]}"
    return change, f"approved and merged {identifier}: {branch_position}"


def _build_proposal(context: Context) -> dict[str, Any]:
    arguments = context.arguments
    fields = {
        **_collect_edits(context),
        "reason": arguments.reason,
        "from_branch": arguments.from_branch,
        "goal": arguments.goal,
        "research": arguments.research,
        "supersedes": arguments.supersedes,
    }
    return {name: value for name, value in fields.items() if value}


def _collect_edits(context: Context) -> dict[str, Any]:
    arguments = context.arguments
    edits: list[dict[str, Any]] = [_parse_edit(text) for text in arguments.edit]
    edits += [{"path": path, "delete": True} for path in arguments.delete]
    fields = {
        "edits": edits,
        "patch_base64": _read_base64(arguments.patch) if arguments.patch else None,
    }
    return {name: value for name, value in fields.items() if value}


def _parse_edit(text: str) -> dict[str, Any]:
    path, equals, local = text.partition("=")
    if not (path and equals and local):
        raise BadInput(
            f"--edit {text!r} is not REPO_PATH=LOCAL_FILE",
            code="bad_usage",
            next_step="write it like --edit src/app.py=/tmp/app.py",
        )
    return {"path": path, "content_base64": _read_base64(local)}


def _read_base64(name: str) -> str:
    try:
        return base64.b64encode(Path(name).read_bytes()).decode()
    except OSError as error:
        raise BadInput(
            f"{name} cannot be read: {error.strerror}", next_step="name a file that exists"
        ) from None


def _paint_diff(context: Context, text: str) -> list[str]:
    colours = {"+": "green", "-": "red", "@": "dim"}
    return [
        context.console.paint(line, colours[line[0]]) if line[:1] in colours else printable(line)
        for line in text.split("\n")
    ]


def _change_path(context: Context) -> str:
    return f"/api/changes/{context.arguments.id}"
