"""`astra backup TO` and `astra restore [BACKUP]`."""

import argparse
import os
from pathlib import Path
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.text import printable


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "backup":
        parser.add_argument("to", metavar="TO", help="a new folder, or a new .tar.gz file")
        parser.set_defaults(run=back_up)
        return
    parser.add_argument(
        "backup",
        nargs="?",
        metavar="BACKUP",
        help="put this backup at --data-root first; without it, sign for the state that is there",
    )
    parser.set_defaults(run=restore)


def back_up(context: Context) -> None:
    from astra.adapters.backups.making import make_backup
    from astra.trusted.files.data_root import DataRoot
    from astra.trusted.kernel.clock import SystemClock

    to = Path(context.arguments.to).absolute()
    manifest = make_backup(DataRoot(context.data_root), to, SystemClock())
    os.sync()  # what is said to be there is there after a power cut, too
    document = {
        "backup": str(to),
        "records": manifest.sequence,
        "head": manifest.hash,
        "files": sum(entry.kind == "file" for entry in manifest.entries),
        "manifest": manifest.digest,
    }
    lines = [f"{name:9} {printable(str(value))}" for name, value in document.items()]
    note = "it holds the daemon's keys and .env: keep it as safe as the data root, and elsewhere"
    context.console.result(document, *lines, note)


def restore(context: Context) -> None:
    """Put a backup in place, if one is named; then have the operator sign for where it is now."""
    document: dict[str, Any] = {"data_root": str(context.data_root)}
    if context.arguments.backup:
        document |= _place(context, Path(context.arguments.backup).absolute())
    document |= _sign(context)
    lines = [
        f"restored: {printable(document['data_root'])} goes on, as record {document['sequence']}",
        "open approvals, tokens and sessions are void, and all work is stopped",
        "flags, passkeys, plans and schedules are those of that state: look, then `astra start`",
    ]
    context.console.result(document, *lines)


def _place(context: Context, backup: Path) -> dict[str, Any]:
    from astra.adapters.backups.placing import place_backup
    from astra.trusted.files.data_root import DataRoot

    placed = place_backup(backup, DataRoot(context.data_root))
    os.sync()
    manifest = placed.manifest
    _tell(context, f"made {manifest.made_at}, {manifest.sequence} records, verified")
    for problem in placed.notes:
        _tell(context, problem.detail)
    return {"made_at": manifest.made_at, "manifest": manifest.digest}


def _tell(context: Context, text: str) -> None:
    """Say something before the passphrase is asked for; it never mixes with JSON."""
    if not context.console.as_json:
        context.console.say(printable(text))


def _sign(context: Context) -> dict[str, Any]:
    from astra.interfaces.cli.signing import signed
    from astra.trusted.kernel.errors import Conflict
    from astra.trusted.policy.authority import RESTORED

    client = context.client()
    state = client.get("/api/restore")
    if not state["held"]:
        raise Conflict(
            "this data root was not put back to an older state: there is nothing to sign",
            code="not_held",
            next_step="to put a backup in place: astra restore BACKUP --data-root NEW",
        )
    for why in state["held"]:
        _tell(context, why)
    authority = signed(context, RESTORED, state["content"])
    answer = client.post("/api/restore", {"authority": authority})
    return {"sequence": answer["sequence"], "content": state["content"]}
