"""`astra stop --now [--keep-app]` and `astra start`.

Stopping needs neither the daemon nor a lock nor a passphrase, and works while the daemon hangs.
"""

import argparse
import contextlib
import http.client
import json
from pathlib import Path
from typing import Any

from astra.interfaces import socket_path
from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import BadInput, NotFound

_RECORD_SECONDS = 2.0


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "start":
        parser.set_defaults(run=start)
        return
    parser.add_argument("--now", action="store_true", help="yes, end everything at once")
    parser.add_argument("--keep-app", action="store_true", help="let the deployed app go on")
    parser.set_defaults(run=stop)


def stop(context: Context) -> int:
    from astra.trusted.files.data_root import DataRoot
    from astra.trusted.stop import report as stop_report

    if not context.arguments.now:
        raise BadInput("stop ends every process the agent started", next_step="astra stop --now")
    root = DataRoot(context.data_root)
    if not root.var.is_dir():  # nothing else is asked of it: a damaged one is stopped too
        raise NotFound(
            f"there is no Astra data root at {root.path}",
            code="no_data_root",
            next_step="name the right one with --data-root",
        )
    stop_id, done = stop_report.stop_now(root.path, keep_app=context.arguments.keep_app)
    recorded = _record(root.run)
    document = {"stop": stop_id, "recorded": recorded, **stop_report.as_dict(done)}
    context.console.result(document, *_lines(context, document))
    return 0 if done.clean else 1


def start(context: Context) -> None:
    from astra.interfaces.cli.signing import signed
    from astra.trusted.policy import stopping

    client = context.client()
    state = client.get("/api/stop")
    if not state["stopped"]:
        context.console.result({"started": False}, "nothing was stopped")
        return
    authority = signed(context, stopping.STARTED, stopping.content(state["stop"]))
    done = client.post("/api/start", {"stop": state["stop"], "authority": authority})
    context.console.result({"started": True, **done}, "work may start again")


def _record(run: Path) -> bool:
    """Ask a daemon that is there to write the stop down; one that hangs does it when it is back."""
    connection = http.client.HTTPConnection("localhost", timeout=_RECORD_SECONDS)
    with contextlib.suppress(OSError, http.client.HTTPException):
        connection.sock = socket_path.connect(run, timeout=_RECORD_SECONDS)
        connection.request("POST", "/api/stop/record", b"{}", {"Host": "localhost"})
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        return bool(answer.get("recorded"))
    return False


def _lines(context: Context, document: dict[str, Any]) -> list[str]:
    paint = context.console.paint
    lines = [f"stopped: {document['ended']} ended, {document['already_gone']} were gone already"]
    for survivor in document["survivors"]:
        pids = ", ".join(map(str, survivor["pids"]))
        lines.append(paint(f"still alive: {survivor['label']} (pid {pids})", "red"))
    lines += [
        paint(f"cannot read the registry entry {name}", "red") for name in document["unreadable"]
    ]
    if not document["frozen"]:
        lines.append(paint("new work could not be frozen: var/stop was not written", "red"))
    if document["clean"]:
        lines.append(paint("verified: nothing survived", "green"))
    if not document["recorded"]:
        lines.append("the record follows when the daemon answers again")
    lines.append("to start again: astra start")
    return lines
