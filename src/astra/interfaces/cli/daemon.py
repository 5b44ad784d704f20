"""`astra up` and `astra down`."""

import argparse
import os
import sys

from astra.interfaces.cli import taking_over
from astra.interfaces.cli.client import daemon_environment
from astra.interfaces.cli.main import Context
from astra.trusted.settings.environment import LARGEST_PORT


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "down":
        parser.add_argument("--keep-app", action="store_true", help="let the deployed app go on")
        parser.set_defaults(run=down)
        return
    parser.add_argument("--no-app", action="store_true", help="do not start the deployed app")
    parser.add_argument(
        "--port",
        type=_parse_port,
        metavar="N",
        help="the loopback port, otherwise ASTRA_PORT; 0: any",
    )
    parser.add_argument("--no-port", action="store_true", help="serve the socket only, no pages")
    parser.set_defaults(run=up)


def up(context: Context) -> None:
    """Become the daemon: the same process, so that Ctrl-C and a service manager reach it."""
    from astra.trusted.file_ledger.owner_lock import find_holder
    from astra.trusted.files.data_root import DataRoot

    root = DataRoot(context.settings.data_root)
    root.require_first_record()
    with taking_over.hold_turn(root.path) as turn:
        if pid := find_holder(root.run / "owner.lock"):
            taking_over.take_over(context, pid)
        context.console.note(f"Astra owns {root.path}; Ctrl-C ends it")
        command = [sys.executable, "-I", "-m", "astra.interfaces.daemon.server"]
        command += ["--data-root", str(root.path), "--stay", *_port_option(context)]
        command += [] if context.arguments.no_app else ["--app"]
        os.set_inheritable(turn, True)  # noqa: FBT003 - the system's own call
        command += ["--turn", str(turn)]
        os.execve(sys.executable, command, daemon_environment())  # noqa: S606 - ourselves


def _port_option(context: Context) -> list[str]:
    if context.arguments.no_port:
        return []
    port = context.arguments.port
    return ["--port", str(context.settings.port if port is None else port)]


def _parse_port(text: str) -> int:
    if text.isdigit() and int(text) <= LARGEST_PORT:
        return int(text)
    raise argparse.ArgumentTypeError(
        f"{text!r} is no port. Astra listens on loopback only; for a phone, put a TLS proxy in"
        " front and name it in ASTRA_PUBLIC_URL"
    )


def down(context: Context) -> None:
    client = context.client(without_settings=True)
    if not client.is_running():
        ended = not context.arguments.keep_app and _end_app(context)
        orphans = _end_orphans(context)
        message = "no daemon was running" + ("; the app was, and is ended" if ended else "")
        message += f"; {orphans} boxes without one were, and are ended" if orphans else ""
        document = {"ended": False, **({"app_ended": True} if ended else {})}
        context.console.print_result(
            {**document, **({"boxes_ended": orphans} if orphans else {})}, message
        )
        return
    pid = taking_over.end_daemon(client, keep_app=context.arguments.keep_app)
    _end_orphans(context)
    context.console.print_result({"ended": True, "pid": pid}, f"ended daemon {pid}")


def _end_orphans(context: Context) -> int:
    """End boxes that outlived whoever started them, unless a daemon is there that they may have."""
    from astra.trusted.file_ledger.owner_lock import find_holder
    from astra.trusted.sandbox import boxes
    from astra.trusted.stop import stop

    root = context.data_root
    if find_holder(root / "var" / "run" / "owner.lock"):
        return 0
    apps = frozenset[str]() if context.arguments.keep_app else frozenset({boxes.APP})
    return stop.end_marked(root, frozenset({boxes.RUN}) | apps)[0]


def _end_app(context: Context) -> bool:
    """End an app that outlived its daemon; tells whether there was one."""
    from astra.adapters.supervisor import channel
    from astra.adapters.supervisor.client import HolderClient

    root, was_running = context.data_root.resolve(), False
    for name in (channel.HOLDER, channel.STAGING):
        holder = HolderClient(root, name)
        was_running = was_running or holder.state() is not None
        holder.close()
    return was_running
