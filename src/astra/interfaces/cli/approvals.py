"""`astra approvals`, `astra approvals show ID`, `astra approve ID`, `astra reject ID --reason`.

What would be signed is shown whole, in the text that the server gives to every door. Before the
operator signs for a call, its digest is worked out anew from what was shown.
"""

import argparse
from collections.abc import Iterator
from typing import Any

from astra.interfaces.cli import live_difference
from astra.interfaces.cli.deploying import add_despite_quarantine, expand_commit_ids
from astra.interfaces.cli.inbox import describe_kind
from astra.interfaces.cli.main import Context
from astra.interfaces.cli.permissions import add_until
from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.errors import BadInput, Conflict, NotFound
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
        help="an approval (apr_…), a schedule (sch_…), a change (chg_…), a plan (plan_…), a goal"
        " (goal_…) or a desire with the goal it would become (des_…)",
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
    parser.add_argument(
        "--also",
        type=int,
        default=0,
        metavar="N",
        help="permit the same tool at the same host N times more, with --until",
    )
    add_until(parser)
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the outcome")
    add_despite_quarantine(parser)


def read_default_terms() -> dict[str, Any]:
    """Give what `astra approve` says besides yes where nobody names anything."""
    parser = argparse.ArgumentParser()
    add_terms(parser)
    return vars(parser.parse_args([]))


def list_approvals(context: Context) -> None:
    state = "all" if context.arguments.all else "pending"
    approvals = fetch_approvals(context, state)
    lines = [] if context.console.as_json else list(_render_approvals(context, approvals))
    context.console.print_result(
        {"items": approvals, "next": None}, *(lines or ["nothing waits for you"])
    )


def _render_approvals(context: Context, found: list[dict[str, Any]]) -> Iterator[str]:
    """Say of each what it is, and for the first that wait the start of what would be signed."""
    pending_ids = [item["id"] for item in found if item["state"] == "pending"][:_MOST_FOLDED]
    for item in found:
        until = f"until {show_time(item['expires_at'])}"
        yield context.console.paint(printable(item["summary"]), "bold")
        yield f"  {describe_kind(item['kind'])}, {item['state']}, {until}"
        yield context.console.paint(f"  {item['id']}", "dim")
        if item["id"] in pending_ids:
            whole_request = context.client().get(f"/api/approvals/{item['id']}")
            yield from fold_payload(whole_request["payload"], item["id"])


def show(context: Context) -> None:
    """Show all of what would be signed."""
    approval = context.client().get(f"/api/approvals/{context.arguments.id}")
    context.console.print_result(approval, *_describe_approval(approval))


def fold_payload(shown: dict[str, Any], identifier: str) -> list[str]:
    """Give the first lines of what would be signed, and count the rest."""
    rows = shown["text"].split("\n")
    first = [f"    {one_line(row, _FOLDED_WIDTH)}" for row in rows[:_FOLDED_LINES]]
    has_long_lines = any(len(printable(row)) > _FOLDED_WIDTH for row in rows[:_FOLDED_LINES])
    if more := len(rows) - len(first):
        return [*first, f"    … {more} more lines: astra approvals show {identifier}"]
    return (
        [*first, f"    … longer lines: astra approvals show {identifier}"]
        if has_long_lines
        else first
    )


def render_payload(shown: dict[str, Any]) -> list[str]:
    """Give every line of what would be signed."""
    measure = f"{shown['lines']:,} lines, {shown['characters']:,} characters"
    return [
        f"  all of it  {measure}, sha-256 {shown['sha256']}",
        *(f"    {printable(row)}" for row in shown["text"].split("\n")),
    ]


def fetch_approvals(context: Context, state: str = "pending") -> list[dict[str, Any]]:
    """Give all approvals of a state, however many pages they are."""
    approvals, cursor = list[dict[str, Any]](), 0
    while cursor is not None:
        page = context.client().get("/api/approvals", state=state, cursor=cursor)
        approvals += page["items"]
        cursor = page["next"]
    return approvals


def approve_own_request(context: Context, identifier: str) -> int:
    """Sign what the operator asked for just now, in the same command."""
    arguments = {**read_default_terms(), **vars(context.arguments), "id": identifier}
    return approve(Context(argparse.Namespace(**arguments), context.console))


def approve(context: Context) -> int:
    """Show exactly what would run, then have the operator sign that and nothing else."""
    from astra.interfaces.cli.permissions import sign_permission
    from astra.interfaces.cli.signing import sign_with, unlock_operator_pair

    approval = _fetch_approval(context)
    identifier, terms = approval["id"], _collect_terms(context, approval)
    _refuse_in_vain(context, identifier, terms.get("terms", {}))
    for line in _describe_approval(approval):
        context.console.note(line)
    if approval["kind"] in _OF_CALLS:
        payload.require_same(approval["details"], approval["digest"])
    if approval["details"].get("tool") == live_difference.TOOL:
        live_difference.note_request(context, approval["details"])
    for line in _describe_in_words(context, approval):
        context.console.note(line)
    if approval["kind"] == "change":
        _confirm_facts(context, approval["subject_id"])
    content = {
        "approval": approval["id"],
        "digest": approval["digest"],
        **terms,
    }
    also = _draft_permission(context, approval)
    pair = unlock_operator_pair(context)
    authority = sign_with(context, pair, "approval_granted", content)
    granted_approval = context.client().post(
        f"/api/approvals/{identifier}/approve", {"authority": authority}
    )
    _refuse_withdrawn(granted_approval)
    if also:
        sign_permission(context, pair, also)
        return 0
    if approval["kind"] == "change" and not context.arguments.no_wait:
        return _follow_change(context, approval["subject_id"], granted_approval["sequence"])
    context.console.print_result(
        granted_approval,
        f"approved {identifier}, once, until {show_time(granted_approval['expires_at'])}",
    )
    return 0


def _describe_in_words(context: Context, approval: dict[str, Any]) -> list[str]:
    """Say in words what a plan or a goal would do, after the text of which each byte is signed."""
    from astra.interfaces.cli import goals, plan_pages

    if approval["kind"] == "plan":
        plan = context.client().get(f"/api/agents/{approval['subject_id']}")
        details = plan_pages.add_preflight(approval["details"], plan)
        return list(plan_pages.render_contract(details))
    if approval["kind"] == "goal":
        return goals.render_page(goals.fetch_goal(context, approval["subject_id"]))
    return []


def _refuse_in_vain(context: Context, identifier: str, terms: dict[str, Any]) -> None:
    """Say at once what would be refused anyway, before a page of text and a passphrase."""
    from astra.interfaces.cli.signing import require_way_to_sign

    context.client().post(f"/api/approvals/{identifier}/check", {"terms": terms})
    require_way_to_sign(context)


def _refuse_withdrawn(approval: dict[str, Any]) -> None:
    """Say so where what was signed for had moved, so that the signature took no effect."""
    if approval["state"] == "stale":
        raise Conflict(
            f"{approval['id']} was withdrawn as it was signed: {approval['reason']}",
            code="stale_approval",
            next_step="look at what waits now: astra approvals",
        )


def _draft_permission(context: Context, approval: dict[str, Any]) -> dict[str, Any]:
    """Give what is signed besides, for more calls like this one; nothing unless it was asked for.

    Who signs for a call at one host is told that this exists.
    """
    from astra.interfaces.cli.permissions import fetch_content

    details, uses = approval["details"], context.arguments.also
    hosts = details.get("footprint", {}).get("domains", [])
    is_call = approval["kind"] == "tool_call" and len(hosts) == 1
    if not uses:
        if is_call:
            hint = f"{details['tool']} at {hosts[0]}"
            context.console.note(f"  (--also 20 permits {printable(hint)} 20 times until tonight)")
        return {}
    if not is_call:
        raise BadInput("--also is for a call that reaches one host", next_step="leave it out")
    method = details["arguments"].get("method", "GET")
    return fetch_content(context, tool=details["tool"], host=hosts[0], method=method, uses=uses)


def _follow_change(context: Context, change_id: str, granted: int) -> int:
    """Follow an approved change: merged, and where the approval included it, deployed."""
    from astra.interfaces.cli.changes import follow_merge, wait_for_merge
    from astra.interfaces.cli.deploying import follow_approved_change

    if not context.arguments.deploy:
        wait_for_merge(context, change_id)
        return 0

    change, line = follow_merge(context, change_id)
    context.console.note(line)
    return follow_approved_change(context, change, after=granted)


def _confirm_facts(context: Context, change: str) -> None:
    from astra.interfaces.cli.decision import confirm_red_facts, show_facts

    red_facts = show_facts(context, change)
    confirm_red_facts(context.console, red_facts, deploy=context.arguments.deploy)


def reject(context: Context) -> None:
    identifier = _pending_of(context, context.arguments.id)
    body = {"reason": context.arguments.reason}
    rejected_approval = context.client().post(f"/api/approvals/{identifier}/reject", body)
    context.console.print_result(rejected_approval, f"rejected {identifier}")


def _fetch_approval(context: Context) -> dict[str, Any]:
    """Give the approval that is meant; for a schedule, that of exactly what it would run now."""
    identifier = context.arguments.id
    if identifier.startswith("sch_"):
        return context.client().post(f"/api/schedules/{identifier}/approval")
    if identifier.startswith("chg_"):
        body = {"despite_tests": context.arguments.despite_tests}
        return context.client().post(f"/api/changes/{identifier}/approval", body)
    if identifier.startswith("plan_"):
        return context.client().post(f"/api/agents/{identifier}/approval")
    if identifier.startswith("goal_"):
        return context.client().post(f"/api/goals/{identifier}/approval")
    if identifier.startswith("des_"):
        return context.client().post(f"/api/desires/{identifier}/approval")
    return context.client().get(f"/api/approvals/{identifier}")


def _pending_of(context: Context, identifier: str) -> str:
    if not identifier.startswith(("sch_", "chg_", "plan_", "goal_", "des_")):
        return identifier
    approval_ids = [
        item["id"] for item in fetch_approvals(context) if item["subject_id"] == identifier
    ]
    if not approval_ids:
        raise NotFound(f"nothing of {identifier} waits", next_step="astra approvals")
    return approval_ids[-1]


def _collect_terms(context: Context, found: dict[str, Any]) -> dict[str, Any]:
    """Give what is signed besides yes: protected paths, the deploy, tests that did not pass."""
    arguments = context.arguments
    terms: dict[str, Any] = {}
    if arguments.consent:
        terms["consent"] = sorted(set(arguments.consent))
    if arguments.deploy:
        terms["deploy"] = True
    if arguments.despite_quarantine:
        inside = found.get("details", {}).get("contains_quarantined", [])
        terms["despite_quarantine"] = expand_commit_ids(arguments.despite_quarantine, inside)
    if arguments.despite_tests and found["kind"] == "change":
        terms["despite_tests"] = found["details"]["despite_tests"] or "passed"
    allowed = {"change": {*terms}, "sync": {"consent"}}.get(found["kind"], set())
    if set(terms) - allowed or (arguments.despite_tests and found["kind"] != "change"):
        raise BadInput(
            "--consent, --deploy and --despite-tests speak of changes",
            next_step=f"leave them out for {found['id']}",
        )
    return {"terms": terms} if terms else {}


def _describe_approval(found: dict[str, Any]) -> list[str]:
    return [
        printable(found["summary"]),
        f"  asked by   {printable(found['requested_by'])}",
        f"  digest     {found['digest']}",
        f"  expires    {show_time(found['expires_at'])}",
        *_describe_signatures(found["signatures"]),
        *_describe_change(found),
        *_render_smaller_calls(found.get("smaller_calls", [])),
        *render_payload(found["payload"]),
    ]


def _describe_signatures(signatures: dict[str, Any]) -> list[str]:
    """Say who signed where it takes several; nothing where one signature is enough."""
    if signatures["needed"] == 1:
        return []
    rounds = [f"  signatures {printable(item['words'])}" for item in signatures["rounds"]]
    signer_lines = [f"  signed by  {printable(', '.join(signatures['signed_by']))}"]
    nobody = [f"  signatures 0 of {signatures['needed']}"]
    return signer_lines if signatures["signed_by"] else rounds or nobody


def _describe_change(found: dict[str, Any]) -> list[str]:
    """Say of a change where its lines are: what is signed names them by digest."""
    if found["kind"] != "change":
        return []
    change = found["details"]["change"]
    protected = [f"  PROTECTED  {printable(path)}" for path in found["details"]["protected"]]
    return [
        *_render_mutants(found["details"]["tests"] or {}),
        *protected,
        f"  look at it astra changes show {change}; astra changes diff {change}",
    ]


def _render_smaller_calls(calls: list[str]) -> list[str]:
    """Say what the agent could call instead without asking; a rejection can name it."""
    lead = "  instead, without asking, it may call"
    return [lead, *(f"    {printable(call)}" for call in calls)] if calls else []


def _render_mutants(tests: dict[str, Any]) -> list[str]:
    text = tests.get("mutation", {}).get("words", "").removeprefix("mutants: ")
    return [f"  mutants    {one_line(text, 200)}"] if text else []
