"""`astra mcp`: an MCP server on standard input and output, by relay to the daemon."""

import argparse

from astra.interfaces.cli.main import Context
from astra.interfaces.mcp.toolsets import TOOLSETS


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument(
        "--operator",
        action="store_true",
        help="also show the operator's tools; approving still takes a signature elsewhere",
    )
    parser.add_argument("--calls", type=int, metavar="N", help="allow fewer calls than 1000")
    parser.add_argument(
        "--toolsets",
        default="",
        metavar="NAMES",
        help=f"show only these, with commas: {', '.join(TOOLSETS)}; all by default",
    )
    parser.add_argument("--read-only", action="store_true", help="show only tools that read")
    parser.add_argument(
        "--plain",
        action="store_true",
        help="answer in text only, for clients that show their model JSON where there is any",
    )
    parser.set_defaults(run=run)


def run(context: Context) -> None:
    from astra.interfaces.mcp import relay
    from astra.interfaces.mcp.session import CALLS, Opening
    from astra.interfaces.mcp.toolsets import Selection

    calls = context.arguments.calls
    Selection.parse(context.arguments.toolsets)
    opening = Opening(
        operator=context.arguments.operator,
        off=context.settings.flags_off,
        names=context.settings.mcp_tool_names,
        calls=CALLS if calls is None else calls,
        toolsets=context.arguments.toolsets,
        read_only=context.arguments.read_only,
        plain=context.arguments.plain,
    )
    relay.run(context.settings.data_root, opening)
