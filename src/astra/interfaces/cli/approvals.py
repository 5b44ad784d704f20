"""`astra approvals`, `astra approve ID`, `astra reject ID --reason`."""

import argparse
import json
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.kernel.text import one_line, printable

_MOST_FILES = 10


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "approvals":
        parser.add_argument("--all", action="store_true", help="also what is decided")
        parser.set_defaults(run=list_approvals)
        return
    parser.add_argument(
        "id",
        metavar="ID",
        help="an approval (apr_…), a schedule (sch_…), a change (chg_…) or a plan (plan_…)",
    )
    if command == "reject":
        parser.add_argument("--reason", required=True, help="the agent gets to read it")
    else:
        add_terms(parser)
    parser.set_defaults(run=reject if command == "reject" else approve)


def add_terms(parser: argparse.ArgumentParser) -> None:
    """Add what a signature under a change may say besides yes."""
    parser.add_argument(
        "--consent",
        action="append",
        default=[],
        metavar="PATH",
        help="a protected path of a change that may be changed",
    )
    parser.add_argument("--deploy", action="store_true", help="the approval includes the deploy")
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the outcome")


def list_approvals(context: Context) -> None:
    state = "all" if context.arguments.all else "pending"
    found = every(context, state)
    lines = [
        f"{item['id']}  {item['state']:9} until {item['expires_at'][:16]}Z  "
        f"{printable(item['summary'])}"
        for item in found
    ]
    context.console.result({"items": found, "next": None}, *(lines or ["nothing waits for you"]))


def every(context: Context, state: str = "pending") -> list[dict[str, Any]]:
    """Give all approvals of a state, however many pages they are."""
    found, cursor = list[dict[str, Any]](), 0
    while cursor is not None:
        page = context.client().get("/api/approvals", state=state, cursor=cursor)
        found += page["items"]
        cursor = page["next"]
    return found


def approve(context: Context) -> None:
    """Show exactly what would run, then have the operator sign that and nothing else."""
    from astra.interfaces.cli.signing import signed

    found = _wanted(context)
    identifier = found["id"]
    for line in _description(found):
        context.console.note(line)
    content = {"approval": found["id"], "digest": found["digest"], **_terms(context, found)}
    authority = signed(context, "approval_granted", content)
    done = context.client().post(f"/api/approvals/{identifier}/approve", {"authority": authority})
    if found["kind"] == "change" and not context.arguments.no_wait:
        from astra.interfaces.cli.changes import wait_for_merge

        wait_for_merge(context, found["subject_id"])
        return
    context.console.result(done, f"approved {identifier}, once, until {done['expires_at']}")


def reject(context: Context) -> None:
    identifier = _pending_of(context, context.arguments.id)
    body = {"reason": context.arguments.reason}
    done = context.client().post(f"/api/approvals/{identifier}/reject", body)
    context.console.result(done, f"rejected {identifier}")


def _wanted(context: Context) -> dict[str, Any]:
    """Give the approval that is meant; for a schedule, that of exactly what it would run now."""
    identifier = context.arguments.id
    if identifier.startswith("sch_"):
        return context.client().post(f"/api/schedules/{identifier}/approval")
    if identifier.startswith("chg_"):
        return context.client().post(f"/api/changes/{identifier}/approval")
    if identifier.startswith("plan_"):
        return context.client().post(f"/api/agents/{identifier}/approval")
    return context.client().get(f"/api/approvals/{identifier}")


def _pending_of(context: Context, identifier: str) -> str:
    if not identifier.startswith(("sch_", "chg_", "plan_")):
        return identifier
    found = [item["id"] for item in every(context) if item["subject_id"] == identifier]
    if not found:
        raise NotFound(f"nothing of {identifier} waits", next_step="astra approvals")
    return found[-1]


def _terms(context: Context, found: dict[str, Any]) -> dict[str, Any]:
    """Give what is signed besides yes: consent to protected paths, and the deploy."""
    given = context.arguments
    terms: dict[str, Any] = {}
    if given.consent:
        terms["consent"] = sorted(set(given.consent))
    if given.deploy:
        terms["deploy"] = True
    if terms and found["kind"] != "change":
        raise BadInput(
            "--consent and --deploy speak of changes",
            next_step=f"leave them out for {found['id']}",
        )
    return {"terms": terms} if terms else {}


def _description(found: dict[str, Any]) -> list[str]:
    return [
        printable(found["summary"]),
        f"  asked by   {printable(found['requested_by'])}",
        f"  digest     {found['digest']}",
        f"  expires    {found['expires_at']}",
        *(f"  {line}" for line in _details(found["kind"], found["details"])),
    ]


def _mutants(tests: dict[str, Any]) -> list[str]:
    text = tests.get("mutation", {}).get("words", "").removeprefix("mutants: ")
    return [f"mutants    {one_line(text, 200)}"] if text else []


def _details(kind: str, details: dict[str, Any]) -> list[str]:
    """Say what the server knows of the thing that would happen; of a change, the gist."""
    if kind != "change":
        return printable(json.dumps(details, indent=2, ensure_ascii=False)).splitlines()
    files = [one_line(file["path"], 100) for file in details["files"][:_MOST_FILES]]
    more = len(details["files"]) - len(files)
    return [
        f"agent says {one_line(details['agent_says'], 200)}",
        f"files      {', '.join(files)}{f' and {more} more' if more else ''}",
        f"findings   {len(details['findings']) or 'none'}",
        f"tests      {one_line(details['tests']['words'], 200)}",
        *_mutants(details["tests"]),
        *(f"PROTECTED  {one_line(path, 100)}" for path in details["protected"]),
        f"look at it astra changes show {details['change']}",
    ]
