"""`astra clock` and `astra clock accept`."""

import argparse
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.clock import show_time

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
    context.console.print_result(state, *_render_clock_state(context, state))


def accept(context: Context) -> None:
    from astra.interfaces.cli.signing import sign_action
    from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED
    from astra.trusted.policy import clock_acceptance

    client = context.client()
    state = client.get("/api/clock")
    if not state["ahead"]:
        context.console.print_result(
            {"accepted": False, **state}, *_render_clock_state(context, state)
        )
        return
    context.console.note(f"{state['ahead']}. The clock says {show_time(state['clock'])}.")
    context.console.note(_WHAT_ENDS)
    content = clock_acceptance.content(clock_acceptance.ClockState(**state))
    authority = sign_action(context, CLOCK_ACCEPTED, content)
    acceptance = client.post("/api/clock/accept", {"authority": authority})
    line = f"record {acceptance['sequence']}: time goes on from {show_time(acceptance['clock'])}"
    context.console.print_result({**acceptance, "accepted": True}, line)


def _render_clock_state(context: Context, state: dict[str, Any]) -> list[str]:
    lines = [f"clock   {show_time(state['clock'])}", f"ledger  {show_time(state['ledger'])}"]
    if not state["ahead"]:
        return [*lines, "the two agree"]
    return [
        *lines,
        context.console.paint(f"{state['ahead']}, from record {state['first_ahead']} on", "red"),
        "approvals and schedules stand still. If the clock is wrong, set it;",
        "if it is right: astra clock accept",
    ]
