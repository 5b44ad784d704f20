"""`astra environments`: what was built for tests and app, what it takes, and taking it away."""

import argparse
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import printable

_MEGABYTE = 10**6


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    parser.set_defaults(run=list_environments)
    verbs.add_parser("list", help="each with its size and who uses it")
    remove = verbs.add_parser("remove", help="remove what nothing uses")
    remove.add_argument("name", nargs="?", metavar="NAME", default="")
    remove.add_argument("--unused", action="store_true", help="every one that nothing uses")
    remove.set_defaults(run=remove_environments)


def list_environments(context: Context) -> None:
    page = context.client().get("/api/environments")
    items = page["items"]
    unused = [item for item in items if not item["used_by"]]
    lines = [_render_environment(item) for item in items]
    if unused:
        size = _show_size(sum(item["bytes"] for item in unused))
        lines.append(
            f"{size} in {len(unused)} that nothing uses: astra environments remove --unused"
        )
    context.console.print_result(page, *(lines or ["there are no environments"]))


def remove_environments(context: Context) -> None:
    name, unused = context.arguments.name, context.arguments.unused
    if bool(name) == unused:
        raise BadInput(
            "say which one, or --unused for all that nothing uses",
            next_step="astra environments list",
        )
    client = context.client()
    items = [client.delete(f"/api/environments/{name}")] if name else []
    if unused:
        items = client.delete("/api/environments")["items"]
    size = _show_size(sum(item["bytes"] for item in items))
    context.console.print_result({"removed": items}, f"removed {len(items)}, {size}")


def _render_environment(item: dict[str, Any]) -> str:
    users = ", ".join(item["used_by"]) or "nothing uses it"
    size = _show_size(item["bytes"])
    packages = f"{item['packages']} packages" if item["packages"] else "no list of packages"
    return f"{item['name']}  {size:>9}  {packages}, {item['used_at'][:10]}: {printable(users)}"


def _show_size(count: int) -> str:
    return f"{count / _MEGABYTE:,.1f} MB"
