"""`astra machines`: who shares the chain, who leads the background work, who does not answer."""

import argparse
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import Conflict
from astra.trusted.kernel.text import printable


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument(
        "--forget", default="", metavar="ID", help="forget a machine that does not come back"
    )
    parser.set_defaults(run=show_machines)


def show_machines(context: Context) -> None:
    client = context.client()
    if identifier := context.arguments.forget:
        if not client.delete(f"/api/machines/{identifier}")["forgotten"]:
            raise Conflict(
                f"{printable(identifier)} is not a machine that went away",
                next_step="astra machines",
            )
        context.console.print_result({"forgotten": identifier}, f"forgot {identifier}")
        return
    page = client.get("/api/machines")
    lines = [_render_machine(context, machine, page["own"]) for machine in page["items"]]
    alone = "this data root is alone: its chain is in files"
    context.console.print_result(page, *(lines or [alone]))


def _render_machine(context: Context, machine: dict[str, Any], own: str) -> str:
    paint = context.console.paint
    own_mark = " (here)" if machine["id"] == own else ""
    leads = _describe_leases(machine["leads"])
    if machine["answers"]:
        state = paint("answers", "green")
    else:
        state = paint(f"does not answer, seen {machine['seen_seconds_ago']} s ago", "red")
    return f"{machine['id']}  {printable(machine['name'])}{own_mark}: {state}{leads}"


def _describe_leases(names: list[str]) -> str:
    """Say what a machine leads; the lease of a worker is its own, and says that it is one."""
    led = [name for name in names if not name.startswith("worker:")]
    worker = ", a worker" if len(led) < len(names) else ""
    return worker + (f", leads {' and '.join(led)}" if led else "")
