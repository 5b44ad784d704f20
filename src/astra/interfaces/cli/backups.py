"""`astra backup TO`, `astra backup list|verify|keygen PLACE` and `astra restore [BACKUP]`.

The passphrase of encrypted backups is typed, or comes from ASTRA_BACKUP_PASSPHRASE; it stays in
this process.
"""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import printable

if TYPE_CHECKING:  # imported when a backup is made or read: most commands never do
    from astra.adapters.backups.folder import BackupFolder
    from astra.adapters.backups.making import Made
    from astra.adapters.backups.secrecy import Secrecy, Unlock

_VARIABLE = "ASTRA_BACKUP_PASSPHRASE"
_SHORTEST_PASSPHRASE = 8


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "backup":
        _configure_backup(parser)
        return
    parser.add_argument(
        "backup",
        nargs="?",
        metavar="BACKUP",
        help="put this backup at --data-root first; without it, sign for the state that is there",
    )
    parser.add_argument(
        "--backup", dest="backup_id", default="", metavar="ID", help="not the newest, but this one"
    )
    _add_identity(parser)
    parser.set_defaults(run=restore)


def _configure_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "to",
        metavar="TO",
        help="a folder for backups, which gets what is new; a new .tar.gz file; or one of the words"
        " list, verify and keygen",
    )
    parser.add_argument(
        "place",
        nargs="?",
        metavar="PLACE",
        help="with list or verify, the backups to look at; with keygen, a new file",
    )
    parser.add_argument(
        "--encrypt",
        action="store_true",
        help=f"only a passphrase opens it; asked for, or in {_VARIABLE}",
    )
    parser.add_argument(
        "--recipient", default="", metavar="KEY", help="only the private key of this one opens it"
    )
    parser.add_argument(
        "--backup", dest="backup_id", default="", metavar="ID", help="with verify: only this one"
    )
    _add_identity(parser)
    parser.set_defaults(run=run_backup)


def _add_identity(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--identity", default="", metavar="FILE", help="the private key of backups for a recipient"
    )


def run_backup(context: Context) -> None:
    """Make a backup, or with another word before the folder, look at those that are there."""
    arguments = context.arguments
    actions = {"list": list_backups, "verify": verify_backups, "keygen": make_identity}
    action = actions.get(arguments.to)
    if (action is None) != (arguments.place is None):
        raise BadInput(
            "astra backup takes one place to back up to, or a word and a place",
            next_step="astra backup TO, or astra backup list, verify or keygen and a place",
        )
    (action or back_up)(context)


def back_up(context: Context) -> None:
    from astra.adapters.backups.making import make_backup
    from astra.adapters.chains import find_chain
    from astra.trusted.file_ledger.moved import read_place
    from astra.trusted.files.data_root import DataRoot
    from astra.trusted.kernel.clock import SystemClock

    to = Path(context.arguments.to).absolute()
    root = DataRoot(context.data_root)
    stored_chain = find_chain(root, context.settings) if read_place(root.var) else None
    secrecy = _build_secrecy(context)
    backup = make_backup(root, to, SystemClock(), stored_chain, secrecy=secrecy)
    os.sync()  # what is said to be there is there after a power cut, too
    document = _describe(to, backup)
    lines = [f"{name:9} {printable(str(value))}" for name, value in document.items()]
    note = "it holds the daemon's keys and .env: keep it as safe as the data root, and elsewhere"
    if backup.encrypted:
        note = "without the passphrase or private key nobody can restore it: keep that apart"
    if backup.left_out:
        note = f"left out, because its path is too long: {backup.left_out[0][:100]!a}\n{note}"
    context.console.print_result(document, *lines, *note.splitlines())


def _describe(to: Path, made: "Made") -> dict[str, Any]:
    return {
        "backup": str(to),
        "id": made.backup_id,
        "records": made.manifest.sequence,
        "head": made.manifest.hash,
        "files": len(made.manifest.files),
        "bytes": made.size,
        "new_bytes": made.new_bytes,
        "encrypted": made.encrypted,
        "left_out": len(made.left_out),
        "manifest": made.manifest.digest,
    }


def list_backups(context: Context) -> None:
    from astra.adapters.backups.reading import open_any_folder

    path = Path(context.arguments.place).absolute()
    with open_any_folder(path, _build_unlock(context)) as folder:
        items = [_describe_stored(folder, backup_id) for backup_id in folder.list_ids()]
        document = {
            "folder": str(path),
            "encrypted": folder.encrypted,
            "stored_bytes": folder.count_bytes(),
            "backups": items,
        }
    lines = [
        f"{item['id']}  {item['records']} records, {item['files']} files"
        if "error" not in item
        else f"{item['id']}  {printable(item['error'])}"
        for item in items
    ]
    summary = f"{len(items)} backups, {document['stored_bytes']} bytes together"
    context.console.print_result(document, *lines, summary)


def _describe_stored(folder: "BackupFolder", backup_id: str) -> dict[str, Any]:
    """Say what a backup holds; one that cannot be read hides no other."""
    try:
        manifest = folder.read_manifest(backup_id)
    except BadInput as error:
        return {"id": backup_id, "error": error.detail}
    return {
        "id": backup_id,
        "made_at": manifest.made_at,
        "records": manifest.sequence,
        "files": len(manifest.files),
        "version": manifest.version,
    }


def verify_backups(context: Context) -> None:
    """Check every backup of a folder, or the one that is named; the first bad one is an error."""
    from astra.adapters.backups.checking import check_backup
    from astra.adapters.backups.reading import open_any_folder

    path, chosen_id = Path(context.arguments.place).absolute(), context.arguments.backup_id
    with open_any_folder(path, _build_unlock(context)) as folder:
        newest = folder.find_id(chosen_id)
        ids = [newest] if chosen_id else folder.list_ids()
        items = [
            {
                "id": backup_id,
                "records": check_backup(folder, folder.read_manifest(backup_id)).records,
            }
            for backup_id in ids
        ]
    lines = [f"{item['id']}  {item['records']} records, verified" for item in items]
    context.console.print_result({"folder": str(path), "verified": items}, *lines)


def make_identity(context: Context) -> None:
    from astra.adapters.backups import secrecy

    path = Path(context.arguments.place).absolute()
    recipient = secrecy.make_identity(path)
    document = {"identity": str(path), "recipient": recipient}
    note = f"the private key is in {printable(str(path))}: only it restores backups for this"
    note += " recipient; keep it on another machine"
    context.console.print_result(document, f"recipient {recipient}", note)


@dataclass
class _Passphrase:
    """The passphrase of encrypted backups: asked for once."""

    context: Context
    passphrase: str = ""

    def ask(self) -> str:
        self.passphrase = self.passphrase or os.environ.get(_VARIABLE, "")
        if not self.passphrase:
            self.passphrase = self._ask("passphrase of these backups: ")
        return self.passphrase

    def ask_new(self) -> str:
        passphrase = os.environ.get(_VARIABLE) or self._ask("new passphrase for backups: ")
        if len(passphrase) < _SHORTEST_PASSPHRASE:
            raise BadInput(
                f"a passphrase has at least {_SHORTEST_PASSPHRASE} characters",
                next_step="run it again with a longer one",
            )
        if _VARIABLE not in os.environ and self._ask("once more: ") != passphrase:
            raise BadInput("the two did not match", next_step="run it again")
        self.passphrase = passphrase
        return passphrase

    def _ask(self, prompt: str) -> str:
        return self.context.console.ask_passphrase(
            prompt,
            needs="the passphrase of encrypted backups",
            otherwise=f"or set {_VARIABLE}",
        )


def _build_secrecy(context: Context) -> "Secrecy":
    """Say how to encrypt; a passphrase in the environment wishes for it, as --encrypt does."""
    from astra.adapters.backups import secrecy
    from astra.adapters.backups.archives import archive_mode
    from astra.trusted.files.data_root import DataRoot

    arguments, passphrase = context.arguments, _Passphrase(context)
    lock = None
    if arguments.recipient:
        added_to = not archive_mode(Path(arguments.to))
        root = DataRoot(context.data_root) if added_to else None
        lock = secrecy.lock_for_recipient(arguments.recipient, root)
    elif arguments.encrypt or os.environ.get(_VARIABLE):
        lock = secrecy.lock_with_passphrase(passphrase.ask_new)
    return secrecy.Secrecy(unlock=_build_unlock(context, passphrase), lock=lock)


def _build_unlock(context: Context, passphrase: _Passphrase | None = None) -> "Unlock":
    """Open by the private key that is named, else by what the data root keeps, else by asking."""
    from astra.adapters.backups import secrecy
    from astra.trusted.files.data_root import DataRoot

    if context.arguments.identity:
        return secrecy.unlock_with_identity(Path(context.arguments.identity).absolute())
    asking = secrecy.unlock_with_passphrase((passphrase or _Passphrase(context)).ask)
    return secrecy.unlock_from_data_root(DataRoot(context.data_root), asking)


def restore(context: Context) -> None:
    """Put a backup in place, if one is named; then have the operator sign for where it is now."""
    document: dict[str, Any] = {"data_root": str(context.data_root)}
    if context.arguments.backup:
        document |= _place_backup(context, Path(context.arguments.backup).absolute())
    document |= _sign_restore(context)
    lines = [
        f"restored: {printable(document['data_root'])} goes on, as record {document['sequence']}",
        "open approvals, tokens and sessions are void, and all work is stopped",
        "flags, passkeys, plans and schedules are those of that state: look, then `astra start`",
    ]
    context.console.print_result(document, *lines)


def _place_backup(context: Context, backup: Path) -> dict[str, Any]:
    from astra.adapters.backups.placing import place_backup
    from astra.trusted.files.data_root import DataRoot

    placed = place_backup(
        backup,
        DataRoot(context.data_root),
        unlock=_build_unlock(context),
        backup_id=context.arguments.backup_id,
    )
    os.sync()
    manifest = placed.manifest
    _print_note(context, f"made {manifest.made_at}, {manifest.sequence} records, verified")
    for problem in placed.notes:
        _print_note(context, problem.detail)
    if placed.left_database:
        text = "its chain is in files now: ASTRA_DATABASE_URL in its .env was made a comment"
        _print_note(context, text)
    return {"made_at": manifest.made_at, "manifest": manifest.digest}


def _print_note(context: Context, text: str) -> None:
    """Say something before the passphrase is asked for; it never mixes with JSON."""
    if not context.console.as_json:
        context.console.say(printable(text))


def _sign_restore(context: Context) -> dict[str, Any]:
    from astra.interfaces.cli.signing import sign_action
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
        _print_note(context, why)
    authority = sign_action(context, RESTORED, state["content"])
    answer = client.post("/api/restore", {"authority": authority})
    return {"sequence": answer["sequence"], "content": state["content"]}
