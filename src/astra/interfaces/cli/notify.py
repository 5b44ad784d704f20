"""`astra notify test`: send a message to every channel now, and say which took it."""

import argparse

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.text import printable


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    testing = actions.add_parser("test", help="send a message to every channel and device now")
    testing.add_argument("--channel", default="", metavar="NAME", help="only to this one")
    testing.set_defaults(run=test_channels)


def test_channels(context: Context) -> int:
    answer = context.client().post("/api/notify/test", {"channel": context.arguments.channel})
    paint = context.console.paint
    lines = [
        f"{paint('taken ', 'green') if item['ok'] else paint('FAILED', 'red')} "
        f"{printable(': '.join(filter(None, (item['channel'], item['problem']))))}"
        for item in answer["items"]
    ]
    context.console.print_result(answer, *lines)
    return 0 if answer["ok"] else 1
