"""`astra beliefs list|show|deprecate`."""

import argparse
from typing import Any

from astra.interfaces.cli.main import Context
from astra.interfaces.cli.tables import explain_empty
from astra.trusted.kernel.text import one_line, printable

_WIDTH = 20


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="what outcomes say; what moved last comes first")
    listing.add_argument("--limit", type=int, metavar="N", help="how many (20)")
    listing.add_argument("--proposed", action="store_true", help="what agents only said")
    listing.add_argument("--scope", metavar="NAME", help="only about this folder, test, method, …")
    listing.add_argument("--cursor", help="`next` of the page before")
    listing.set_defaults(run=list_beliefs)
    showing = actions.add_parser("show", help="one belief, the records behind it, its history")
    showing.add_argument("id", metavar="ID")
    showing.set_defaults(run=show)
    deprecating = actions.add_parser("deprecate", help="put one away: it begins anew")
    deprecating.add_argument("id", metavar="ID")
    deprecating.add_argument("--reason", required=True, metavar="TEXT")
    deprecating.set_defaults(run=deprecate)


def list_beliefs(context: Context) -> None:
    arguments = context.arguments
    page = context.client().get(
        "/api/beliefs",
        limit=arguments.limit,
        proposed=True if arguments.proposed else None,
        scope=arguments.scope,
        cursor=arguments.cursor,
    )
    lines = [_render_belief(belief) for belief in page["items"]]
    if page["next"]:
        lines.append(f"… next page: --cursor {page['next']}")
    nothing = "no agent said anything" if arguments.proposed else "nothing was counted yet"
    filters = (arguments.scope, arguments.cursor)
    empty = explain_empty(nothing, "no belief fits", filters)
    context.console.print_result(page, *(lines or [empty]))


def show(context: Context) -> None:
    document = context.client().get(f"/api/beliefs/{context.arguments.id}")
    context.console.print_result(document, *_render_details(document))


def deprecate(context: Context) -> None:
    arguments = context.arguments
    body = {"reason": arguments.reason}
    document = context.client().post(f"/api/beliefs/{arguments.id}/deprecate", body)
    context.console.print_result(document, f"{document['id']} begins anew with the next outcome")


def _render_belief(belief: dict[str, Any]) -> str:
    numbers = f"{belief['mean']:.2f}  {belief['lower']:.2f} to {belief['upper']:.2f}"
    statement = one_line(belief["statement"], 120)
    return f"{numbers}  {belief['state']:10} {belief['id']}  {statement}"


def _render_details(belief: dict[str, Any]) -> list[str]:
    return [
        _render_belief(belief),
        *([f"  put away: {printable(belief['reason'])}"] if belief["reason"] else []),
        _render_sums(belief),
        *(_render_day(day) for day in belief["history"][-14:]),
        *(f"  {_render_evidence(item)}" for item in belief["evidence"][:20]),
        *(
            f"  contradicts {conflict['id']}  {one_line(conflict['statement'], 100)}"
            for conflict in belief["conflicts"]
        ),
        *(
            f"  said by {one_line(item['actor'], 40)}: {one_line(item['text'], 200)}"
            for item in belief["statements"]
        ),
    ]


def _render_sums(belief: dict[str, Any]) -> str:
    sides = f"for {belief['supporting']:.2f}, against {belief['opposing']:.2f}"
    return f"  {sides}, {belief['evidence_count']} records"


def _render_day(day: dict[str, Any]) -> str:
    """Draw the band of a day: from the lower to the upper bound, with the mean in it."""
    low, high = round(day["lower"] * _WIDTH), round(day["upper"] * _WIDTH)
    band = "".join("─" if low <= place <= high else " " for place in range(_WIDTH + 1))
    middle = round(day["mean"] * _WIDTH)
    return f"  {day['day']}  {band[:middle]}●{band[middle + 1 :]}  {day['mean']:.2f}"


def _render_evidence(item: dict[str, Any]) -> str:
    sign = "+" if item["sign"] == "for" else "-"
    return f"{item['day']}  {sign}{item['weight']:.2f}  {item['kind']}  record {item['sequence']}"
