"""`astra changes`: propose, list, show, diff, test, decide, and rehearse it all."""

import argparse
import base64
from pathlib import Path
from typing import Any

from astra.interfaces.cli import approvals
from astra.interfaces.cli.main import Context
from astra.interfaces.cli.review import screen
from astra.trusted.kernel.errors import BadInput, NeedsApproval, Refused
from astra.trusted.kernel.text import one_line, printable

_UNDER_WAY = frozenset({"gathering_evidence", "granted", "approved"})
_STEP = 2
_PATIENCE = 15


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    _proposing(actions.add_parser("propose", help="propose a change, as the agent would"))
    listing = actions.add_parser("list", help="the changes, newest first")
    listing.add_argument("--state")
    listing.add_argument("--limit", type=int, default=50)
    listing.add_argument("--cursor", help="`next` of the page before")
    listing.set_defaults(run=list_changes)
    for name, about, run in (
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
        action.set_defaults(run=run)
    approvals.add_terms(actions.choices["approve"])
    actions.choices["reject"].add_argument("--reason", required=True)
    actions.choices["test"].add_argument("--no-wait", action="store_true")
    for name in ("comment", "request-changes"):
        _add_saying(actions.choices[name])

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


def _proposing(parser: argparse.ArgumentParser) -> None:
    _add_edits(parser)
    parser.add_argument("--from-branch", metavar="BRANCH", help="a branch of the agent's clone")
    parser.add_argument("--reason", required=True, help="why the code should change")
    parser.add_argument("--goal", metavar="ID", help="the goal it serves")
    parser.add_argument("--research", metavar="ID", help="the research it comes from")
    parser.add_argument("--supersedes", metavar="ID", help="the change this is a revision of")
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the evidence")
    parser.set_defaults(run=propose)


def propose(context: Context) -> None:
    made = context.client().post("/api/changes", _proposal(context))
    if not context.arguments.no_wait:
        context.console.note(f"{made['id']}: gathering evidence on {made['branch']} …")
        made = settled(context, made["id"])
    lines = [f"{made['id']}  {made['state']}  {made['commit'][:12]} on {made['branch']}"]
    context.console.result(made, *lines, f"  next: {printable(made['next'])}")


def list_changes(context: Context) -> None:
    given = context.arguments
    listed = context.client().get(
        "/api/changes", state=given.state, limit=given.limit, cursor=given.cursor
    )
    lines = [
        f"{item['id']}  {item['state']:18} {item['created_at'][:16]}Z  "
        f"{(item['tests'] or '-'):9} {one_line(item['reason'], 70)}"
        for item in listed["items"]
    ]
    context.console.result(listed, *(lines or ["nothing was proposed yet"]))


def show(context: Context) -> None:
    found = context.client().get(_path(context))
    context.console.result(found, *screen(found, context.console.paint, context.console.width))


def diff(context: Context) -> None:
    found = context.client().get(f"{_path(context)}/diff")
    context.console.result(found, *_painted(context, found["diff"]))


def test(context: Context) -> int:
    before = _printed(context, context.arguments.id)["position"]
    found = context.client().post(f"{_path(context)}/test")
    if context.arguments.no_wait:
        context.console.result(found, f"{found['id']}: {found['state']}")
        return 0
    found = settled(context, found["id"], after=before)
    context.console.result(found, *screen(found, context.console.paint, context.console.width))
    return 0 if found["evidence"]["verdict"] == "passed" else 1


def reject(context: Context) -> None:
    body = {"reason": context.arguments.reason}
    done = context.client().post(f"{_path(context)}/reject", body)
    context.console.result(done, f"rejected {done['id']}")


def comment(context: Context) -> None:
    done = context.client().post(f"{_path(context)}/comments", _saying(context))
    context.console.result(done, f"noted on {done['id']}")


def request_changes(context: Context) -> None:
    body = {**_saying(context), "request_changes": True}
    done = context.client().post(f"{_path(context)}/comments", body)
    context.console.result(done, f"sent {done['id']} back; the agent can propose a revision")


def _saying(context: Context) -> dict[str, Any]:
    remarks = [{**_place(where), "text": text} for where, text in context.arguments.on]
    return {"text": context.arguments.text, "remarks": remarks}


def _place(text: str) -> dict[str, Any]:
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
    from astra.interfaces.cli.signing import signed

    client = context.client()
    found = client.post("/api/dry-runs", _edits(context))
    if "digest" in found:
        for line in found["transcript"]:
            context.console.note(printable(line))
        content = {"dry_run": found["id"], "digest": found["digest"]}
        authority = signed(context, "dry_run_approved", content)
        found = client.post(f"/api/dry-runs/{found['id']}/approve", {"authority": authority})
    lines = [printable(line) for line in found["transcript"]]
    context.console.result(found, *lines, f"kept in {printable(found['folder'])}")
    return 0 if found["ok"] else 1


def settled(context: Context, identifier: str, *, after: int = 0) -> dict[str, Any]:
    """Wait until nothing of a change is under way, showing what its tests print meanwhile."""
    position, patience = after, _PATIENCE
    while True:
        found = context.client().get(f"/api/changes/{identifier}", wait=_STEP)
        position = _show_output(context, identifier, position)
        patience -= 1 if (between := _is_about_to_be_asked(found)) else 0
        if found["state"] not in _UNDER_WAY and not (between and patience):
            return found
        if found["blocked"]:
            raise Refused(
                f"{identifier} is {found['state']} and rests: {found['blocked']}",
                code=found["blocked"],
                next_step="it goes on once that is over: astra status",
            )


def _is_about_to_be_asked(found: dict[str, Any]) -> bool:
    """Tell whether an approval went stale a moment ago: what becomes of it is worked out now."""
    return found["state"] == "awaiting_approval" and found["approval_id"] is None


def _show_output(context: Context, identifier: str, position: int) -> int:
    said = _printed(context, identifier, position)
    if said["text"] and not context.console.as_json:
        context.console.note(printable(said["text"].rstrip("\n")))
    return said["position"]


def _printed(context: Context, identifier: str, after: int = 0) -> dict[str, Any]:
    return context.client().get(f"/api/changes/{identifier}/output", after=after)


def wait_for_merge(context: Context, identifier: str) -> None:
    """Follow an approved change to its end: merged, or back for another decision."""
    before = _printed(context, identifier)["position"]
    found = settled(context, identifier, after=before)
    if found["state"] == "awaiting_approval":
        raise NeedsApproval(
            f"the approval did not hold: {found['decision']['reason']}",
            next_step=f"look at it again, then: astra changes approve {identifier}",
            approval_id=found["approval_id"],
        )
    if found["state"] != "executed":
        raise Refused(
            f"{identifier} is {found['state']}: {found['decision']['reason']}",
            code=found["state"],
            next_step=f"astra changes show {identifier}",
        )
    where = f"{found['target_branch']} is at {found['commit'][:12]}"
    context.console.result(found, f"approved and merged {identifier}: {where}")


def _proposal(context: Context) -> dict[str, Any]:
    given = context.arguments
    named = {
        **_edits(context),
        "reason": given.reason,
        "from_branch": given.from_branch,
        "goal": given.goal,
        "research": given.research,
        "supersedes": given.supersedes,
    }
    return {name: value for name, value in named.items() if value}


def _edits(context: Context) -> dict[str, Any]:
    given = context.arguments
    edits: list[dict[str, Any]] = [_edit(text) for text in given.edit]
    edits += [{"path": path, "delete": True} for path in given.delete]
    named = {"edits": edits, "patch_base64": _read(given.patch) if given.patch else None}
    return {name: value for name, value in named.items() if value}


def _edit(text: str) -> dict[str, Any]:
    path, equals, local = text.partition("=")
    if not (path and equals and local):
        raise BadInput(
            f"--edit {text!r} is not REPO_PATH=LOCAL_FILE",
            code="bad_usage",
            next_step="write it like --edit src/app.py=/tmp/app.py",
        )
    return {"path": path, "content_base64": _read(local)}


def _read(name: str) -> str:
    try:
        return base64.b64encode(Path(name).read_bytes()).decode()
    except OSError as error:
        raise BadInput(
            f"{name} cannot be read: {error.strerror}", next_step="name a file that exists"
        ) from None


def _painted(context: Context, text: str) -> list[str]:
    colours = {"+": "green", "-": "red", "@": "dim"}
    return [
        context.console.paint(line, colours[line[0]]) if line[:1] in colours else printable(line)
        for line in text.split("\n")
    ]


def _path(context: Context) -> str:
    return f"/api/changes/{context.arguments.id}"
