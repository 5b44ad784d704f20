"""`astra help [COMMAND [ACTION]]`: what `--help` behind the same words says."""

import argparse

from astra.interfaces.cli.main import Context, parse


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument("topic", nargs="*", metavar="COMMAND", help="a command, and its action")
    parser.set_defaults(run=show_help)


def show_help(context: Context) -> None:
    """Ask the parser of that command, which answers as it does to --help."""
    parse([*context.arguments.topic, "--help"])
