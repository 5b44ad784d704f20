"""`astra sandbox`, `astra sandbox off-unsafe` and `astra sandbox on`."""

import argparse
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.settings.environment import OFF_UNSAFE


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.set_defaults(run=show)
    actions = parser.add_subparsers(metavar="ACTION")
    off = actions.add_parser(OFF_UNSAFE, help="sign that agent code may run unconfined")
    off.set_defaults(run=turn_off)
    on = actions.add_parser("on", help="take that back, at once; needs no signature")
    on.set_defaults(run=turn_on)


def show(context: Context) -> None:
    _show_state(context, context.client().get("/api/sandbox"))


def turn_off(context: Context) -> None:
    from astra.interfaces.cli.signing import sign_action
    from astra.trusted.policy import confinement

    context.console.note(
        "Without the sandbox, agent code can read, change and send whatever its OS user can."
    )
    authority = sign_action(context, confinement.ALLOWED, confinement.content())
    _show_state(context, context.client().post("/api/sandbox/off-unsafe", {"authority": authority}))


def turn_on(context: Context) -> None:
    _show_state(context, context.client().post("/api/sandbox/on", {}))


def _show_state(context: Context, state: dict[str, Any]) -> None:
    paint = context.console.paint
    off = state["kind"] == OFF_UNSAFE
    line = f"sandbox {state['kind']}: {state['state']}"
    lines = [paint(line, "red") if off else line]
    lines += [f"  {problem['what']}\n  fix: {problem['fix']}" for problem in state["problems"]]
    if state["off_signed"] and not off:
        lines.append(
            f"signed, and not in force: also set ASTRA_SANDBOX={OFF_UNSAFE} in"
            f" {context.settings.data_root / '.env'}, then astra down"
        )
    if state["off_in_environment"] and not off:
        lines.append(f"asked for, and not signed: astra sandbox {OFF_UNSAFE}")
    if off:
        lines.append("to confine it again: astra sandbox on")
    context.console.print_result(state, *lines)
