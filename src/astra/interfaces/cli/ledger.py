"""`astra ledger tail|story|verify|rebuild|export|archive|prepare|move|receipt`."""

import argparse
import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from astra.interfaces.cli import archiving, moving, receipts, story
from astra.interfaces.cli.main import Context
from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import json_text, one_line, printable


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    tail = actions.add_parser("tail", help="the newest records")
    tail.add_argument("--count", type=int, default=20, metavar="N", help="how many (20)")
    tail.add_argument("--type", default="", metavar="NAME", help="only records of this type")
    tail.add_argument("--follow", action="store_true", help="go on with what is appended")
    tail.set_defaults(run=show_tail)
    telling = actions.add_parser("story", help="everything that belongs to an id")
    telling.add_argument("id", metavar="ID")
    telling.add_argument("--all", action="store_true", help="tell what only counts or looks, too")
    telling.set_defaults(run=show_story)
    checking = actions.add_parser(
        "verify", help="check the chain, its checkpoints, its index, and compare with the witness"
    )
    checking.add_argument(
        "--witness",
        default="",
        metavar="ADDRESS",
        help="compare with this one instead of the one in the signed configuration",
    )
    _add_archive_option(checking)
    checking.set_defaults(run=verify)
    rebuild = actions.add_parser("rebuild", help="build the index anew from the chain")
    rebuild.add_argument("--check", action="store_true", help="build it beside and compare")
    rebuild.add_argument(
        "--ahead",
        action="store_true",
        help="build what this version needs while another one serves; the next start uses it",
    )
    rebuild.set_defaults(run=rebuild_index)
    export = actions.add_parser("export", help="print records as NDJSON, byte for byte")
    export.add_argument("--from", dest="first", type=int, default=1, metavar="N")
    export.add_argument("--to", dest="last", type=int, default=None, metavar="M")
    export.add_argument("--family", default="", metavar="NAME", help="only desires, plans, …")
    export.add_argument("--month", default="", metavar="YYYY-MM", help="only of this month, in UTC")
    export.add_argument(
        "--index-json", action="store_true", help="the compact index instead: no data, no chain"
    )
    _add_archive_option(export)
    export.set_defaults(run=export_records)
    archiving.configure(
        actions.add_parser("archive", help="move finished months elsewhere, by signature")
    )
    prepare = actions.add_parser("prepare", help="make the tables of a chain in Postgres")
    prepare.add_argument("--to", required=True, metavar="URL", help="as the role that owns them")
    prepare.add_argument("--role", required=True, metavar="NAME", help="the daemons' own role")
    prepare.set_defaults(run=moving.prepare_database)
    move = actions.add_parser("move", help="move the chain into Postgres, or back into files")
    move.add_argument("--to", required=True, metavar="URL", help="a database, or the word files")
    move.set_defaults(run=moving.move_chain)
    receipt = actions.add_parser(
        "receipt", help="one decision with the proof that it is recorded, for somebody else"
    )
    receipt.add_argument("id", metavar="ID", help="an approval, a plan, … or a record's number")
    receipt.add_argument("--output", metavar="FILE", help="write it there")
    receipt.set_defaults(run=receipts.show_receipt)


def _add_archive_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--archive",
        default="",
        metavar="FOLDER",
        help="read archived months in this folder instead of where they were put",
    )


def show_tail(context: Context) -> None:
    arguments = context.arguments
    if not 1 <= arguments.count <= 1000:  # noqa: PLR2004 - a page
        raise BadInput("--count is a number from 1 to 1000", next_step="astra ledger tail --help")
    client = context.client()
    page = client.get("/api/ledger", last=arguments.count, type=arguments.type)
    if not arguments.follow:
        lines = [render_record(record) for record in page["items"]]
        empty = f"no record is of the type {one_line(arguments.type, 60)}"
        context.console.print_result(page, *(lines or [empty]))
        return
    for record in page["items"]:
        _print_one(context, record)
    after = page["items"][-1]["sequence"] if page["items"] else None
    for record in client.events(after):
        if arguments.type in ("", record["type"]):
            _print_one(context, record)


def show_story(context: Context) -> None:
    page = context.client().get(f"/api/ledger/story/{context.arguments.id}")
    lines = list(
        story.tell_records(page["items"], every=context.arguments.all, moves=page["beliefs"])
    )
    if page["next"] is not None:
        lines.append(f"this is not the end of it: it goes on after record {page['next']}")
    nothing = f"nothing mentions {printable(context.arguments.id)}"
    context.console.print_result(page, *(lines or [nothing]))


def verify(context: Context) -> int:
    """Check the chain itself; this needs no daemon and trusts none."""
    from astra.adapters.chains import find_chain
    from astra.adapters.witnesses.checking import check_data_root
    from astra.trusted.files.data_root import DataRoot

    root = DataRoot(context.settings.data_root)
    address = context.arguments.witness
    stored_chain = _look_in_archive(context, find_chain(root, context.settings))
    checked = check_data_root(
        root, stored_chain, public_key=_ledger_public_key(root), address=address
    )
    report = checked.report
    problems = [problem.as_dict() for problem in report.problems]
    document = {
        "ok": report.ok,
        "records": report.records,
        "head": report.head,
        "problems": problems,
        "witness": {"address": checked.address, "compared": checked.compared},
        "archived": _list_archived(report, context.arguments.archive),
    }
    paint = context.console.paint
    lines = [f"{paint('ok', 'green')}: {report.records} records, head {report.head}"]
    if checked.address:
        lines.append(_witness_line(checked))
    lines += archiving.render_archived(document)
    if problems:
        lines = [
            f"{paint(problem['kind'], 'red')} at record {problem['sequence']}:"
            f" {printable(problem['detail'])}"
            for problem in problems
        ]
        lines.append(_next_step({problem["kind"] for problem in problems}))
    context.console.print_result(document, *lines)
    return 0 if report.ok else 1


def _list_archived(report: Any, archive: str) -> list[dict[str, Any]]:
    return [
        {
            "month": month.month,
            "first": month.first,
            "last": month.last,
            "folder": archive or month.folder,
            "read": month not in report.by_digest,
        }
        for month in (*report.from_archive, *report.by_digest)
    ]


def _look_in_archive(context: Context, stored_chain: Any) -> Any:
    """Have archived months read where `--archive` says, if it says so."""
    from astra.trusted.file_ledger.stored import ChainFiles

    if context.arguments.archive and isinstance(stored_chain, ChainFiles):
        return replace(stored_chain, archive=Path(context.arguments.archive))
    return stored_chain


def _witness_line(checked: Any) -> str:
    if checked.compared:
        return f"witness: {checked.address} holds nothing that this chain does not"
    return f"witness: {checked.address} gives nothing back; compare the head with what it got"


def _next_step(kinds: set[str]) -> str:
    if kinds <= {"behind_witness", "contradicts_witness", "checkpoint"}:
        return (
            "next: find out why; if an older state was put back on purpose, sign it: astra restore"
        )
    if kinds == {"witness"}:
        return "next: reach the witness, or look who else writes there; then verify again"
    return "next: keep the data root as it is, and compare with a backup or an export"


def rebuild_index(context: Context) -> int:
    if context.arguments.ahead:
        return _build_index_ahead(context)
    if context.arguments.check:
        comparison = context.client().post("/api/ledger/rebuild", check=True)
        lines = [f"differs: {name}" for name in comparison["differences"]]
        context.console.print_result(comparison, *(lines or ["the index is what the chain says"]))
        return 0 if comparison["same"] else 1
    answer = context.client().post("/api/ledger/rebuild")
    context.console.print_result(answer, f"rebuilt from {answer['records']} records")
    return 0


def _build_index_ahead(context: Context) -> int:
    """Build the index of this version; the daemon that serves is not asked and not disturbed."""
    from astra.adapters.chains import find_chain
    from astra.bootstrap import PROJECTIONS
    from astra.trusted.file_ledger import ahead
    from astra.trusted.file_ledger.places import LedgerPlaces
    from astra.trusted.files.data_root import DataRoot

    root = DataRoot(context.settings.data_root)
    root.require_first_record()
    count = ahead.build_ahead(
        LedgerPlaces(root.var),
        PROJECTIONS,
        find_chain(root, context.settings),
        public_key=_ledger_public_key(root) or "",
    )
    context.console.print_result(
        {"records": count},
        f"the index of this version has {count} records; the next start folds what comes since",
    )
    return 0


def export_records(context: Context) -> None:
    """Print lines exactly as they are in the chain, so that others can verify them."""
    from astra.adapters.chains import find_chain
    from astra.trusted.files.data_root import DataRoot

    first, last = context.arguments.first, context.arguments.last
    if first < 1 or (last is not None and last < first):
        raise BadInput(
            "--from and --to are sequences, --from first", next_step="astra ledger export --help"
        )
    root = DataRoot(context.settings.data_root)
    root.require_first_record()
    stored_chain = _look_in_archive(context, find_chain(root, context.settings))
    lines = stored_chain.read_lines(after=first - 1)
    range_lines = islice(lines, None if last is None else last - first + 1)
    family_lines = receipts.choose_lines(
        range_lines, family=context.arguments.family, month=context.arguments.month
    )
    for line in (
        receipts.write_index(family_lines) if context.arguments.index_json else family_lines
    ):
        context.console.say_exactly(line)


def render_record(record: dict[str, Any]) -> str:
    """Show a record in one line: when, what, who, and the start of its content."""
    data = {name: value for name, value in record["data"].items() if name != "authority"}
    content = one_line(json.dumps(data, ensure_ascii=False), 120)
    subject = f" {record['subject']}" if record["subject"] else ""
    return (
        f"{record['sequence']:>6}  {show_time(record['time'])}  {record['type']:28}"
        f" {one_line(record['actor'], 24)}{one_line(subject)}  {content}"
    )


def _print_one(context: Context, record: dict[str, Any]) -> None:
    console = context.console
    console.say(json_text(record) if console.as_json else render_record(record))


def _ledger_public_key(root: Any) -> str | None:
    """Take the key from the first record, or from the key file where that record is damaged."""
    first = root.first_record()
    if first is not None and "ledger_key" in first.data:
        return str(first.data["ledger_key"])
    try:
        return root.read_ledger_key().public
    except OSError:
        return None
