"""`astra permissions list|add|add-merge|remove`: what may happen so often, until then, unasked.

`add` is for calls: this tool, this host, this method. `add-merge` is for changes: these paths,
under these conditions.
"""

import argparse
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from astra.interfaces.cli.main import Context
from astra.interfaces.cli.times import describe_left
from astra.trusted.kernel.clock import format_time, show_time
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import printable

DEFAULT_USES, TONIGHT = 20, "tonight"
_SPAN = re.compile(r"([1-9][0-9]{0,2})([hd])")


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    listing = actions.add_parser(
        "list", help="what may be called or merged without asking you each time"
    )
    listing.add_argument("--all", action="store_true", help="also what is over")
    listing.set_defaults(run=list_permissions)
    adding = actions.add_parser("add", help="sign one; asks for the passphrase")
    adding.add_argument("--tool", default="fetch_url", metavar="NAME")
    adding.add_argument(
        "--host", required=True, help="one host, as example.com or example.com:8443"
    )
    adding.add_argument("--method", default="GET")
    adding.add_argument("--uses", type=int, default=DEFAULT_USES, metavar="N", help="calls (20)")
    add_until(adding)
    adding.set_defaults(run=add_permission)
    _configure_merge(actions)
    removing = actions.add_parser("remove", help="take one back; that is free")
    removing.add_argument("id", metavar="ID")
    removing.set_defaults(run=remove_permission)


def _configure_merge(actions: Any) -> None:
    adding = actions.add_parser(
        "add-merge", help="sign one for changes that stay within paths and conditions"
    )
    adding.add_argument(
        "--path",
        action="append",
        required=True,
        metavar="PATH",
        help="a file, a folder (docs/) or a glob below one (docs/**/*.md); may be given again",
    )
    add_merge_conditions(adding)
    adding.set_defaults(run=add_merge_permission)


def add_merge_conditions(parser: argparse.ArgumentParser) -> None:
    for option, default, about in (
        ("--mutants", 80, "percent of the mutants that tests have to notice; 0 asks for none (80)"),
        ("--most-files", 3, "files that a change may touch (3)"),
        ("--most-lines", 50, "lines that a change may touch (50)"),
        ("--uses", 5, "changes (5)"),
    ):
        parser.add_argument(option, type=int, default=default, metavar="N", help=about)
    parser.add_argument(
        "--deploy",
        action="store_true",
        help="deploy it too, if staging is on and a proven release can be put back",
    )
    add_until(parser)


def add_until(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--until",
        default=TONIGHT,
        metavar="WHEN",
        help="tonight (midnight UTC), 12h, 3d, or a time; at most seven days ahead",
    )


def list_permissions(context: Context) -> None:
    items = [*_fetch_listed(context, "permissions"), *_fetch_listed(context, "merge-permissions")]
    lines = [_render_merge(item) if "paths" in item else _render(item) for item in items]
    context.console.print_result(
        {"items": items, "next": None}, *(lines or ["no standing permission is in force"])
    )


def _fetch_listed(context: Context, route: str) -> list[dict[str, Any]]:
    items = context.client().get(f"/api/{route}")["items"]
    return [item for item in items if context.arguments.all or item["state"] == "usable"]


def _render_merge(item: dict[str, Any]) -> str:
    state = describe_left(item["until"]) if item["state"] == "usable" else item["state"]
    counts = f"{item['used']} of {item['uses']} used, {state}"
    return f"{printable(item['words'])}\n  {counts}  ({item['id']})"


def _render(item: dict[str, Any]) -> str:
    state = describe_left(item["until"]) if item["state"] == "usable" else item["state"]
    label = printable(f"{item['tool']} {item['method']} {item['host']}")
    return f"{label}  {item['used']} of {item['uses']} used, {state}  ({item['id']})"


def add_permission(context: Context) -> None:
    from astra.interfaces.cli.signing import unlock_operator_pair

    arguments = context.arguments
    content = fetch_content(
        context,
        tool=arguments.tool,
        host=arguments.host,
        method=arguments.method,
        uses=arguments.uses,
    )
    sign_permission(context, unlock_operator_pair(context), content)


def add_merge_permission(context: Context) -> None:
    """Show in one sentence what would be permitted, then have the operator sign exactly that."""
    from astra.interfaces.cli.signing import unlock_operator_pair

    content = fetch_merge_content(context, paths=context.arguments.path)
    answer = sign_merge_permission(context, unlock_operator_pair(context), content)
    context.console.print_result(
        {**answer, **content},
        f"permitted; to take it back: astra permissions remove {answer['id']}",
    )


def fetch_merge_content(context: Context, *, paths: list[str], plan: str = "") -> dict[str, Any]:
    """Have the server spell out a permission for changes, and show its sentence."""
    arguments = context.arguments
    scope = {
        "paths": paths,
        "until": format_time(parse_until(arguments.until, datetime.now(UTC))),
        "uses": arguments.uses,
        "most_files": arguments.most_files,
        "most_lines": arguments.most_lines,
        "mutants": arguments.mutants,
        "deploy": arguments.deploy,
        "plan": plan,
    }
    content = context.client().post("/api/merge-permissions/content", scope)
    context.console.note(printable(content["words"]))
    return content


def sign_merge_permission(context: Context, pair: Any, content: dict[str, Any]) -> dict[str, Any]:
    from astra.interfaces.cli.signing import sign_with

    authority = sign_with(context, pair, "merge_permission_added", content)
    body = {"content": content, "authority": authority}
    return context.client().post("/api/merge-permissions", body)


def fetch_content(context: Context, **scope: Any) -> dict[str, Any]:
    """Have the server spell out what would be signed, and show it."""
    until = format_time(parse_until(context.arguments.until, datetime.now(UTC)))
    content = context.client().get("/api/permissions/content", **scope, until=until)
    call = printable(f"{content['tool']} {content['method']} {content['host']}")
    context.console.note(
        f"standing permission: {call}, {content['uses']} calls, until {show_time(content['until'])}"
    )
    return content


def sign_permission(context: Context, pair: Any, content: dict[str, Any]) -> None:
    from astra.interfaces.cli.signing import sign_with

    authority = sign_with(context, pair, "standing_permission_added", content)
    body = {"content": content, "authority": authority}
    answer = context.client().post("/api/permissions", body)
    context.console.print_result(
        {**answer, **content},
        f"permitted; to take it back: astra permissions remove {answer['id']}",
    )


def remove_permission(context: Context) -> None:
    identifier = context.arguments.id
    route = "merge-permissions" if identifier.startswith("merge_") else "permissions"
    answer = context.client().delete(f"/api/{route}/{identifier}")
    context.console.print_result(answer, f"removed {answer['id']}")


def parse_until(text: str, now: datetime) -> datetime:
    """Read when a permission ends.

    >>> noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> parse_until("tonight", noon).isoformat(), parse_until("2h", noon).hour
    ('2026-03-02T00:00:00+00:00', 14)
    """
    if text == TONIGHT:
        return (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    if match := _SPAN.fullmatch(text):
        count = int(match[1])
        return now + (timedelta(hours=count) if match[2] == "h" else timedelta(days=count))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(
            f"--until {printable(text)!r} is not a time", next_step="tonight, 12h, 3d, or a time"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
