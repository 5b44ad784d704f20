"""`astra flags` and `astra flags set NAME on|off`."""

import argparse

from astra.interfaces.cli.main import Context
from astra.interfaces.cli.root import flag_line
from astra.settings.environment import FLAGS


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.set_defaults(run=show)
    actions = parser.add_subparsers(metavar="ACTION")
    setting = actions.add_parser("set", help="turn a flag on (signed) or off (free)")
    setting.add_argument("name", choices=list(FLAGS), metavar="NAME", help=", ".join(FLAGS))
    setting.add_argument("state", choices=["on", "off"])
    setting.set_defaults(run=set_flag)


def show(context: Context) -> None:
    listed = context.client().get("/api/flags")
    context.console.result(listed, *(flag_line(context, flag) for flag in listed["items"]))


def set_flag(context: Context) -> None:
    name, on = context.arguments.name, context.arguments.state == "on"
    body = {"name": name, "on": on}
    if on:
        from astra.interfaces.cli.signing import signed
        from astra.policy import flags

        body["authority"] = signed(context, flags.FLAG_SET, flags.content(name, on=True))
    flag = context.client().post("/api/flags", body)
    context.console.result(flag, flag_line(context, flag))
