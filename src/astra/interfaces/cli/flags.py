"""`astra flags` and `astra flags set NAME on|off`."""

import argparse
from typing import Any

from astra.interfaces.cli.main import Context
from astra.interfaces.cli.root import render_flag
from astra.trusted.settings.flag_names import FLAGS

_CODE_WRITE = "ASTRA_CODE_WRITE_ENABLED"


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.set_defaults(run=show)
    actions = parser.add_subparsers(metavar="ACTION")
    setting = actions.add_parser("set", help="turn a flag on (signed) or off (free)")
    setting.add_argument("name", choices=list(FLAGS), metavar="NAME", help=", ".join(FLAGS))
    setting.add_argument("state", choices=["on", "off"])
    setting.add_argument("--yes", action="store_true", help="turn code writing on all the same")
    setting.set_defaults(run=set_flag)


def _ask_first(context: Context) -> None:
    """Say what is missing before code writing is turned on; throwaway roots are not asked."""
    from astra.interfaces.cli.readiness import warn_unready

    if context.client().get("/api/operator")["throwaway"]:
        return
    if no_go_lines := warn_unready(context):
        question = f"{no_go_lines} lines of the readiness list say no-go. Turn it on all the same?"
        context.console.confirm(question, yes=context.arguments.yes)


def show(context: Context) -> None:
    page = context.client().get("/api/flags")
    context.console.print_result(page, *(render_flag(context, flag) for flag in page["items"]))


def set_flag(context: Context) -> None:
    name, on = context.arguments.name, context.arguments.state == "on"
    body = {"name": name, "on": on}
    if on:
        if name == _CODE_WRITE:
            _ask_first(context)
        from astra.interfaces.cli.signing import sign_action
        from astra.trusted.policy import flags

        body["authority"] = sign_action(context, flags.FLAG_SET, flags.content(name, on=True))
    flag = context.client().post("/api/flags", body)
    lines = [] if context.console.as_json else _render_outcome(context, flag)
    context.console.print_result(flag, *lines)


def _render_outcome(context: Context, flag: dict[str, Any]) -> list[str]:
    """Say how the flag is now, and where this environment holds off what the record has on."""
    lines = [render_flag(context, flag)]
    flags_here = {item["name"]: item for item in context.client().get("/api/flags")["items"]}
    if flag["on"] and not flags_here[flag["name"]]["on"]:
        lines.append(render_flag(context, flags_here[flag["name"]]))
    return lines
