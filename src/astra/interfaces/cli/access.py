"""`astra login` and `astra tokens create|list|revoke`."""

import argparse
from collections.abc import Iterator
from typing import Any

from astra.interfaces.cli.main import Context
from astra.interfaces.cli.tables import render_table
from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.text import printable

_ROLES = ("agent", "viewer", "operator", "service")
_USES = {
    "metrics": ("GET /metrics", "GET /api/status", "GET /api/alerts"),
    "talk": ("POST /v1/chat/completions", "GET /v1/models", "GET /v1/models/{model}"),
    "changes": (
        "POST /api/changes",
        "GET /api/changes",
        "GET /api/changes/{identifier}",
        "GET /api/changes/{identifier}/evidence",
    ),
    "events": ("GET /api/events", "GET /api/ledger", "GET /api/ledger/head"),
}
"""What a service is often for; a record holds the routes, never the name."""
_HIGHEST_TIER = 2


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "login":
        parser.set_defaults(run=login)
        return
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    make = actions.add_parser("create", help="make a token for a program; asks for the passphrase")
    make.add_argument("name", metavar="NAME", help="what it is for, as it appears in the record")
    make.add_argument("--role", choices=_ROLES, default="agent", help="what it may do at most")
    make.add_argument("--days", type=int, metavar="N", help="how long it lives; 90 days if unsaid")
    make.add_argument("--hours", type=int, default=0, metavar="N", help="so many hours, or more")
    _add_scope_options(make)
    make.set_defaults(run=create)
    actions.add_parser("list", help="every token; never its secret").set_defaults(run=list_tokens)
    revoke = actions.add_parser("revoke", help="take a token back, at once")
    revoke.add_argument("id", metavar="ID")
    revoke.set_defaults(run=revoke_token)


def _add_scope_options(parser: argparse.ArgumentParser) -> None:
    """Take what narrows a token; a token without any of these is for all that its role may."""
    for name, place, about in (
        ("--tool", "NAME", "only this tool, or astra.plans.* for those that begin so"),
        ("--toolset", "SET", "only the tools of a set: source, notes, changes, plans…"),
        ("--path", "GLOB", "only these files: docs/**, or /own/notes/** for the agent's own"),
        ("--route", "ROUTE", "only this route: 'GET /api/status'"),
    ):
        parser.add_argument(name, action="append", default=[], metavar=place, help=about)
    parser.add_argument(
        "--for", action="append", default=[], choices=tuple(_USES), dest="uses", help="its routes"
    )
    parser.add_argument("--tier", type=int, choices=(0, 1, 2), help="the highest tier of a call")
    parser.add_argument(
        "--mine", action="store_true", help="what it asks for counts as asked for by you"
    )


def login(context: Context) -> None:
    """Print a link that opens the dashboard once; with it one can look, and not approve."""
    from astra.interfaces.cli.taking_over import ensure_page

    ensure_page(context)
    answer = context.client().post("/api/login")
    context.console.print_result(
        answer, "Open this once, within ten minutes:", f"  {answer['url']}"
    )


def create(context: Context) -> None:
    """Make the secret here: the daemon gets to know its hash, and the operator signs that."""
    from astra.interfaces.cli.signing import sign_action
    from astra.trusted.kernel.clock import SystemClock
    from astra.trusted.policy import access

    arguments = context.arguments
    secret = access.new_secret()
    unsaid_days = 0 if arguments.hours else 90
    content = access.token_content(
        secret,
        name=arguments.name,
        role=arguments.role,
        days=unsaid_days if arguments.days is None else arguments.days,
        hours=arguments.hours,
        now=SystemClock().now(),
        limits=_build_limits(arguments),
        mine=arguments.mine,
    )
    for line in _describe_limits(content.get("limits")):
        context.console.note(f"  {line}")
    authority = sign_action(context, access.TOKEN_CREATED, content)
    answer = context.client().post("/api/tokens", {"content": content, "authority": authority})
    context.console.print_result(
        {**answer, "secret": secret},
        f"{answer['id']}: role {answer['role']}, until {show_time(answer['expires_at'])}",
        "Its secret, shown this once (Authorization: Bearer …):",
        f"  {secret}",
    )


def _build_limits(arguments: argparse.Namespace) -> Any:
    from astra.trusted.policy.limits import build_limits

    tools = [*arguments.tool, *_expand_toolsets(arguments.toolset)]
    routes = [*arguments.route, *(route for use in arguments.uses for route in _USES[use])]
    return build_limits(tools=tools, tier=arguments.tier, paths=arguments.path, routes=routes)


def _expand_toolsets(names: list[str]) -> Iterator[str]:
    """Give the tools of sets by name, and with them the health of the server."""
    from astra.interfaces.mcp.toolsets import check_names
    from astra.tools.toolsets import ALWAYS, TOOLSETS

    set_names = check_names(frozenset(names)) | frozenset([ALWAYS] if names else [])
    for name in sorted(set_names):
        yield from (f"{start}*" if start[-1] in "._" else start for start in TOOLSETS[name])


def _describe_limits(limits: dict[str, Any] | None) -> list[str]:
    """Say what a token is for, a line for each kind; nothing where it is for all of its role."""
    if not limits:
        return []
    lines = [
        f"{kind}: {printable(', '.join(limits[kind]))}"
        for kind in ("tools", "paths", "routes")
        if limits[kind]
    ]
    is_narrow = limits["tier"] < _HIGHEST_TIER
    return [*lines, *([f"tier {limits['tier']} at most"] if is_narrow else [])]


def list_tokens(context: Context) -> None:
    page = context.client().get("/api/tokens")
    rows = [
        (
            item["id"],
            item["role"],
            f"until {item['expires_at'][:10]}",
            "revoked" if item["ended"] else "active",
            item["name"],
            f"by {item['made_by'] or 'nobody'}{', who asks with it' if item['mine'] else ''}",
            "; ".join(_describe_limits(item["limits"])) or "all of its role",
        )
        for item in page["items"]
    ]
    lines = render_table(
        context.console, ("token", "role", "ends", "state", "name", "made", "for"), rows
    )
    context.console.print_result(page, *(lines or ["there are no tokens"]))


def revoke_token(context: Context) -> None:
    answer = context.client().post(f"/api/tokens/{context.arguments.id}/revoke")
    context.console.print_result(answer, f"revoked {answer['id']}")
