"""`astra login` and `astra tokens create|list|revoke`."""

import argparse

from astra.interfaces.cli.main import Context
from astra.interfaces.cli.tables import render_table

_ROLES = ("agent", "viewer", "operator")


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "login":
        parser.set_defaults(run=login)
        return
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    make = actions.add_parser("create", help="make a token for a program; asks for the passphrase")
    make.add_argument("name", metavar="NAME", help="what it is for, as it appears in the record")
    make.add_argument("--role", choices=_ROLES, default="agent", help="what it may do at most")
    make.add_argument("--days", type=int, default=90, metavar="N", help="how long it lives")
    make.set_defaults(run=create)
    actions.add_parser("list", help="every token; never its secret").set_defaults(run=list_tokens)
    revoke = actions.add_parser("revoke", help="take a token back, at once")
    revoke.add_argument("id", metavar="ID")
    revoke.set_defaults(run=revoke_token)


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
    content = access.token_content(
        secret,
        name=arguments.name,
        role=arguments.role,
        days=arguments.days,
        now=SystemClock().now(),
    )
    authority = sign_action(context, access.TOKEN_CREATED, content)
    answer = context.client().post("/api/tokens", {"content": content, "authority": authority})
    context.console.print_result(
        {**answer, "secret": secret},
        f"{answer['id']}: role {answer['role']}, until {answer['expires_at'][:10]}",
        "Its secret, shown this once (Authorization: Bearer …):",
        f"  {secret}",
    )


def list_tokens(context: Context) -> None:
    page = context.client().get("/api/tokens")
    rows = [
        (
            item["id"],
            item["role"],
            f"until {item['expires_at'][:10]}",
            "revoked" if item["ended"] else "active",
            item["name"],
        )
        for item in page["items"]
    ]
    lines = render_table(context.console, ("token", "role", "ends", "state", "name"), rows)
    context.console.print_result(page, *(lines or ["there are no tokens"]))


def revoke_token(context: Context) -> None:
    answer = context.client().post(f"/api/tokens/{context.arguments.id}/revoke")
    context.console.print_result(answer, f"revoked {answer['id']}")
