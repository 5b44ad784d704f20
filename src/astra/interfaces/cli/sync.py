"""`astra sync [--yes]`: what people committed upstream, and bringing it in by a signature."""

import argparse
import time
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import NeedsApproval, Refused
from astra.trusted.kernel.text import one_line, printable

_PAUSE, _PATIENCE = 0.2, 300


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument("--yes", action="store_true", help="sign for what was found, right away")
    parser.add_argument("--no-fetch", action="store_true", help="only say what was fetched before")
    parser.add_argument(
        "--consent",
        action="append",
        default=[],
        metavar="PATH",
        help="a protected path that the commits may change",
    )
    parser.set_defaults(run=sync)


def sync(context: Context) -> int:
    """Fetch, list what would come in, and with --yes sign for exactly that."""
    arguments, client = context.arguments, context.client()
    document = client.get("/api/sync") if arguments.no_fetch else client.post("/api/sync")
    lines = _describe_sync(document)
    if document["approval_id"] and arguments.yes:
        for line in lines:
            context.console.note(line)
        document = {**document, **_sign_and_follow(context, document["approval_id"])}
        lines = [f"merged: {document['incoming_total']} commits, now at {document['commit'][:12]}"]
    waits = document["state"] not in {"up_to_date", "merged"}
    if waits:
        document = {**document, **_suggest_next_step(document)}
        lines = [*lines, f"  next: {document['next_step']}"]
    context.console.print_result(document, *lines)
    return _exit_code(document) if waits else 0


def _sign_and_follow(context: Context, approval_id: str) -> dict[str, Any]:
    """Have the operator sign, and wait until the branch moved or the signature did not hold."""
    from astra.interfaces.cli.signing import sign_action

    client = context.client()
    approval = client.get(f"/api/approvals/{approval_id}")
    consent = sorted(set(context.arguments.consent))
    terms = {"terms": {"consent": consent}} if consent else {}
    content = {"approval": approval_id, "digest": approval["digest"], **terms}
    authority = sign_action(context, "approval_granted", content)
    client.post(f"/api/approvals/{approval_id}/approve", {"authority": authority})
    for _ in range(_PATIENCE):
        approval = client.get(f"/api/approvals/{approval_id}")
        if approval["state"] != "approved":
            break
        time.sleep(_PAUSE)
    if approval["state"] != "used":
        raise Refused(
            f"the commits did not come in: {approval['reason'] or approval['state']}",
            code=approval["state"],
            next_step="astra sync",
        )
    return {
        "state": "merged",
        "approval_id": None,
        "commit": approval["details"]["parts"]["result"],
    }


def _describe_sync(document: dict[str, Any]) -> list[str]:
    if not document["upstream"]:
        return ["there is no upstream: set [target] upstream in astra.toml, then config sign"]
    count = document["incoming_total"]
    title = f"{document['state'].replace('_', ' ')}: {printable(document['upstream'])}"
    lines = [title if not count else f"{title}, {count} commit{'s' if count != 1 else ''}"]
    for commit in document["incoming"]:
        who = one_line(f"{commit['author']} <{commit['email']}>", 60)
        lines.append(f"  {commit['id'][:12]}  {commit['time'][:10]}  {who}  {commit['subject']}")
    if count > len(document["incoming"]):
        lines.append(f"  … {count - len(document['incoming'])} more")
    if later := document.get("incoming_later", 0):
        lines.append(
            f"  {later} commits more wait behind these: astra sync again, once these are in"
        )
    lines += [f"  {finding}" for finding in document.get("findings", [])]
    lines += [f"  FILE       {path}" for path in document.get("files", [])]
    lines += [f"  PROTECTED  {path}" for path in document.get("protected", [])]
    return lines + [f"  CONFLICT   {path}" for path in document.get("conflicts", [])]


def _suggest_next_step(document: dict[str, Any]) -> dict[str, Any]:
    """Say what a person does next; the words of a wait for approval, where there is one."""
    if approval := document["approval_id"]:
        consent = "".join(f" --consent {printable(path)}" for path in document["protected"])
        merge = "the histories diverged; a merge of both" if document["state"] == "diverged" else ""
        return {
            "code": NeedsApproval.code,
            "detail": f"{merge or 'bringing these commits in'} waits for your signature",
            "next_step": f"astra sync --yes{consent} (or astra approve {approval}{consent})",
        }
    return {
        "code": "diverged",
        "detail": "the histories diverged and both sides changed the same lines",
        "next_step": "merge the trusted branch (var/git of the data root) into the upstream by"
        " hand and push that, then: astra sync",
    }


def _exit_code(document: dict[str, Any]) -> int:
    return 3 if document["approval_id"] else 1
