"""`astra clock` and `astra clock accept`."""

import argparse
from typing import Any

from astra.interfaces.cli.main import Context

_WHAT_ENDS = (
    "Accepting it ends every approval, session and token, and every statement signed until now;"
    " schedules are armed again from now."
)


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.set_defaults(run=show)
    actions = parser.add_subparsers(metavar="ACTION")
    accepting = actions.add_parser(
        "accept", help="sign that the clock is right, and the ledger's time was not"
    )
    accepting.set_defaults(run=accept)


def show(context: Context) -> None:
    state = context.client().get("/api/clock")
    context.console.result(state, *_lines(context, state))


def accept(context: Context) -> None:
    from astra.interfaces.cli.signing import signed
    from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED
    from astra.trusted.policy import clock_acceptance

    client = context.client()
    state = client.get("/api/clock")
    if not state["ahead"]:
        context.console.result({"accepted": False, **state}, *_lines(context, state))
        return
    context.console.note(f"{state['ahead']}. The clock says {state['clock'][:19]}Z.")
    context.console.note(_WHAT_ENDS)
    content = clock_acceptance.content(clock_acceptance.ClockState(**state))
    authority = signed(context, CLOCK_ACCEPTED, content)
    done = client.post("/api/clock/accept", {"authority": authority})
    line = f"record {done['sequence']}: time goes on from {done['clock'][:19]}Z"
    context.console.result({**done, "accepted": True}, line)


def _lines(context: Context, state: dict[str, Any]) -> list[str]:
    lines = [f"clock   {state['clock'][:19]}Z", f"ledger  {state['ledger'][:19]}Z"]
    if not state["ahead"]:
        return [*lines, "the two agree"]
    return [
        *lines,
        context.console.paint(f"{state['ahead']}, from record {state['first_ahead']} on", "red"),
        "approvals and schedules stand still. If the clock is wrong, set it;",
        "if it is right: astra clock accept",
    ]
