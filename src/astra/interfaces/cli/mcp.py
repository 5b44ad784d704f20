"""`astra mcp`: an MCP server on standard input and output, by relay to the daemon."""

import argparse

from astra.interfaces.cli.main import Context


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument(
        "--operator",
        action="store_true",
        help="also show the operator's tools; approving still takes a signature elsewhere",
    )
    parser.add_argument("--calls", type=int, metavar="N", help="allow fewer calls than 1000")
    parser.set_defaults(run=run)


def run(context: Context) -> None:
    from astra.interfaces.mcp import relay
    from astra.interfaces.mcp.session import CALLS, Opening

    calls = context.arguments.calls
    opening = Opening(
        operator=context.arguments.operator,
        off=context.settings.flags_off,
        names=context.settings.mcp_tool_names,
        calls=CALLS if calls is None else calls,
    )
    relay.run(context.settings.data_root, opening)
