"""`astra ledger archive`: move finished months elsewhere, by signature."""

import argparse
from pathlib import Path
from typing import Any

from astra.interfaces.cli.main import Context

_AFTERWARDS = (
    "Building the index anew (after an upgrade, a restore or damage), a receipt and an export from"
    " the first record need that folder from then on. Keep it as long as the data root."
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--before", required=True, metavar="YYYY-MM", help="finished months before this one"
    )
    parser.add_argument("--to", required=True, metavar="FOLDER", help="a folder elsewhere")
    parser.add_argument(
        "--thin",
        action="store_true",
        help="only telemetry leaves (calls that read, counts of refusals); all else stays here too",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what it would save")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.set_defaults(run=archive)


def archive(context: Context) -> None:
    from astra.interfaces.cli.signing import sign_action
    from astra.trusted.ledger.remainder import ARCHIVED

    arguments, client = context.arguments, context.client()
    order = {
        "before": arguments.before,
        "to": str(Path(arguments.to).absolute()),
        "thin": arguments.thin,
    }
    plan = client.post("/api/ledger/archive/plan", order)
    lines = _render_plan(plan)
    if arguments.dry_run or not plan["months"]:
        context.console.print_result({**plan, "moved": False}, *lines)
        return
    for line in (*lines, _AFTERWARDS):
        context.console.note(line)
    context.console.confirm(f"Move these months to {order['to']}?", yes=arguments.yes)
    authority = sign_action(context, ARCHIVED, plan["content"])
    outcome = client.post("/api/ledger/archive", {**order, "authority": authority})
    context.console.print_result(
        {**outcome, "moved": True},
        f"record {outcome['sequence']}: {', '.join(entry['month'] for entry in outcome['months'])}"
        f" now in {order['to']}; {_show_size(outcome['saved'])} saved",
    )


def render_archived(document: dict[str, Any]) -> list[str]:
    """Say of archived months how they were verified."""
    return [
        f"{entry['month']}: records {entry['first']} to {entry['last']} "
        + (
            f"read from the archive {entry['folder']}"
            if entry["read"]
            else "by their signed digest only; the archive is not there"
        )
        for entry in document["archived"]
    ]


def _render_plan(plan: dict[str, Any]) -> list[str]:
    if not plan["months"]:
        return ["no finished month to archive"]
    rows = [
        f"{entry['month']}  {entry['records']:>9} records  {_show_size(entry['bytes'])} here,"
        f" {_show_size(entry['stays'])} stay"
        for entry in plan["months"]
    ]
    return [*rows, f"saves {_show_size(plan['saved'])}; the index keeps its size"]


def _show_size(count: int) -> str:
    """Write a number of bytes for people.

    >>> _show_size(999), _show_size(1_250_000)
    ('999 bytes', '1,250 kB')
    """
    return f"{count} bytes" if abs(count) < 10_000 else f"{count / 1000:,.0f} kB"  # noqa: PLR2004 - five digits
