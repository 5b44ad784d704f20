"""`astra stop --now [--keep-app]` and `astra start`.

Stopping needs neither the daemon nor a lock nor a passphrase, and works while the daemon hangs.
"""

import argparse
import contextlib
import json
from pathlib import Path
from typing import Any

from astra.interfaces import socket_path
from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import BadInput, NotFound

_RECORD_SECONDS = 10.0
_MACHINES_SECONDS = 30.0


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "start":
        parser.set_defaults(run=start)
        return
    parser.add_argument("--now", action="store_true", help="yes, end everything at once")
    parser.add_argument("--keep-app", action="store_true", help="let the deployed app go on")
    parser.set_defaults(run=stop)


def stop(context: Context) -> int:
    from astra.trusted.file_ledger.moved import MARKER
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
    stop_id, outcome = stop_report.stop_now(root.path, keep_app=context.arguments.keep_app)
    answer = _record_stop(root.run, is_shared=(root.var / MARKER).exists())
    machines: list[dict[str, Any]] = answer.get("machines", [])
    document = {
        "stop": stop_id,
        "recorded": bool(answer.get("recorded")),
        **({"machines": machines} if machines else {}),
        **stop_report.as_dict(outcome),
    }
    context.console.print_result(document, *_render_stop(context, document))
    return 0 if outcome.clean and all(machine["reached"] for machine in machines) else 1


def start(context: Context) -> None:
    from astra.interfaces.cli.signing import sign_action
    from astra.trusted.policy import stopping

    client = context.client()
    state = client.get("/api/stop")
    if not state["stopped"]:
        context.console.print_result({"started": False}, "nothing was stopped")
        return
    authority = sign_action(context, stopping.STARTED, stopping.content(state["stop"]))
    answer = client.post("/api/start", {"stop": state["stop"], "authority": authority})
    context.console.print_result({"started": True, **answer}, "work may start again")


def _record_stop(run: Path, *, is_shared: bool) -> dict[str, Any]:
    """Ask a daemon that is there to write the stop down; one that hangs does it when it is back.

    Where machines share the chain, it waits for the others before it answers.
    """
    from http.client import HTTPConnection, HTTPException

    patience = _MACHINES_SECONDS if is_shared else _RECORD_SECONDS
    connection = HTTPConnection("localhost", timeout=patience)
    with contextlib.suppress(OSError, HTTPException, ValueError):  # a killed one says half of it
        connection.sock = socket_path.connect(run, timeout=patience)
        connection.request("POST", "/api/stop/record", b"{}", {"Host": "localhost"})
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        return answer
    return {}


def _render_stop(context: Context, document: dict[str, Any]) -> list[str]:
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
    for machine in document.get("machines", []):
        if machine["reached"]:
            lines.append(f"stopped and verified on {machine['name']}")
        else:
            text = f"{machine['name']} does not answer (seen {machine['seen_seconds_ago']} s ago)"
            lines.append(paint(text, "red"))
    if not document["recorded"]:
        lines.append("the record follows when the daemon answers again")
    lines.append("to start again: astra start")
    return lines
