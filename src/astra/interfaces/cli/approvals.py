"""`astra approvals`, `astra approvals show ID`, `astra approve ID`, `astra reject ID --reason`.

What would be signed is shown whole, in the text that the server gives to every door. Before the
operator signs for a call, its digest is worked out anew from what was shown.
"""

import argparse
from collections.abc import Iterator
from typing import Any

from astra.interfaces.cli.deploying import add_despite, whole_ids
from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.policy import payload

_MOST_FOLDED, _FOLDED_LINES, _FOLDED_WIDTH = 20, 4, 120
_OF_CALLS = frozenset({"tool_call", "schedule"})


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "approvals":
        parser.add_argument("--all", action="store_true", help="also what is decided")
        parser.set_defaults(run=list_approvals)
        actions = parser.add_subparsers(metavar="ACTION")
        showing = actions.add_parser("show", help="all of what would be signed")
        showing.add_argument("id", metavar="ID", help="an approval (apr_…)")
        showing.set_defaults(run=show)
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
    parser.add_argument(
        "--despite-tests",
        action="store_true",
        help="take a change although its tests did not pass; that is part of what is signed",
    )
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the outcome")
    add_despite(parser)


def list_approvals(context: Context) -> None:
    state = "all" if context.arguments.all else "pending"
    found = every(context, state)
    lines = [] if context.console.as_json else list(_listed(context, found))
    context.console.result({"items": found, "next": None}, *(lines or ["nothing waits for you"]))


def _listed(context: Context, found: list[dict[str, Any]]) -> Iterator[str]:
    """Give a line for each, and for the first that wait the start of what would be signed."""
    waiting = [item["id"] for item in found if item["state"] == "pending"][:_MOST_FOLDED]
    for item in found:
        until = f"until {item['expires_at'][:16]}Z"
        yield f"{item['id']}  {item['state']:9} {until}  {printable(item['summary'])}"
        if item["id"] in waiting:
            whole_request = context.client().get(f"/api/approvals/{item['id']}")
            yield from folded(whole_request["payload"], item["id"])


def show(context: Context) -> None:
    """Show all of what would be signed."""
    found = context.client().get(f"/api/approvals/{context.arguments.id}")
    context.console.result(found, *_description(found))


def folded(shown: dict[str, Any], identifier: str) -> list[str]:
    """Give the first lines of what would be signed, and count the rest."""
    rows = shown["text"].split("\n")
    first = [f"    {one_line(row, _FOLDED_WIDTH)}" for row in rows[:_FOLDED_LINES]]
    cut = any(len(printable(row)) > _FOLDED_WIDTH for row in rows[:_FOLDED_LINES])
    if more := len(rows) - len(first):
        return [*first, f"    … {more} more lines: astra approvals show {identifier}"]
    return [*first, f"    … longer lines: astra approvals show {identifier}"] if cut else first


def whole(shown: dict[str, Any]) -> list[str]:
    """Give every line of what would be signed."""
    measure = f"{shown['lines']:,} lines, {shown['characters']:,} characters"
    return [
        f"  all of it  {measure}, sha-256 {shown['sha256']}",
        *(f"    {printable(row)}" for row in shown["text"].split("\n")),
    ]


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
    if found["kind"] in _OF_CALLS:
        payload.require_same(found["details"], found["digest"])
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
        body = {"despite_tests": context.arguments.despite_tests}
        return context.client().post(f"/api/changes/{identifier}/approval", body)
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
    """Give what is signed besides yes: protected paths, the deploy, tests that did not pass."""
    given = context.arguments
    terms: dict[str, Any] = {}
    if given.consent:
        terms["consent"] = sorted(set(given.consent))
    if given.deploy:
        terms["deploy"] = True
    if given.despite_quarantine:
        inside = found.get("details", {}).get("contains_quarantined", [])
        terms["despite_quarantine"] = whole_ids(given.despite_quarantine, inside)
    if given.despite_tests and found["kind"] == "change":
        terms["despite_tests"] = found["details"]["despite_tests"] or "passed"
    if (terms or given.despite_tests) and found["kind"] != "change":
        raise BadInput(
            "--consent, --deploy and --despite-tests speak of changes",
            next_step=f"leave them out for {found['id']}",
        )
    return {"terms": terms} if terms else {}


def _description(found: dict[str, Any]) -> list[str]:
    return [
        printable(found["summary"]),
        f"  asked by   {printable(found['requested_by'])}",
        f"  digest     {found['digest']}",
        f"  expires    {found['expires_at']}",
        *_change(found),
        *whole(found["payload"]),
    ]


def _change(found: dict[str, Any]) -> list[str]:
    """Say of a change where its lines are: what is signed names them by digest."""
    if found["kind"] != "change":
        return []
    change = found["details"]["change"]
    protected = [f"  PROTECTED  {printable(path)}" for path in found["details"]["protected"]]
    return [
        *_mutants(found["details"]["tests"] or {}),
        *protected,
        f"  look at it astra changes show {change}; astra changes diff {change}",
    ]


def _mutants(tests: dict[str, Any]) -> list[str]:
    text = tests.get("mutation", {}).get("words", "").removeprefix("mutants: ")
    return [f"  mutants    {one_line(text, 200)}"] if text else []
