"""`astra doctor`: check this machine and this data root; each line says how to mend it."""

import argparse
import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.text import one_line

if TYPE_CHECKING:
    from astra.adapters.bubblewrap.attacks import Result

_LITTLE_SPACE = 1 << 30
_RESTORE = "find out why; if an older state was put back on purpose: astra restore"
_FIXES = {
    "behind_witness": _RESTORE,
    "contradicts_witness": _RESTORE,
    "checkpoint": _RESTORE,
    "witness": "reach the witness, or look who else writes there",
}
_COLOURS = {"ok": "green", "warning": "yellow", "broken": "red"}


class Check(NamedTuple):
    name: str
    state: str
    detail: str
    fix: str = ""


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.add_argument(
        "--attack",
        action="store_true",
        help="try every known escape from the sandbox, and to delay a stop, for real",
    )
    parser.set_defaults(run=examine)


def examine(context: Context) -> int:
    if context.arguments.attack:
        return attack(context)
    checks = list_checks(context)
    document: dict[str, Any] = {
        "ok": all(check.state != "broken" for check in checks),
        "items": [check._asdict() for check in checks],
        "next": None,
    }
    context.console.print_result(document, *(_render_check(context, check) for check in checks))
    return 0 if document["ok"] else 1


def list_checks(context: Context) -> list[Check]:
    """Check this machine and this data root."""
    return [*_check_machine(), *_check_units(), *_check_data_root(context)]


def run_attack_table() -> "list[Result]":
    """Try every attempt of the table on this machine, in real boxes."""
    from astra.adapters.bubblewrap.attacks.arena import (
        Result,
        run_app_attacks,
        run_attacks,
        run_bombs,
    )
    from astra.interfaces.cli import load_attack

    load = Result(
        name="have the operator's stop wait behind boxes that sleep",
        category="load",
        expected=load_attack.HELD,
        outcome=load_attack.try_to_delay_stop(),
    )
    return [*run_attacks(), *run_app_attacks(), *run_bombs(), load]


def attack(context: Context) -> int:
    """Run the attack table in real boxes and print how each attempt ended."""
    table = run_attack_table()
    items = [
        {
            "name": result.name,
            "category": result.category,
            "outcome": result.outcome,
            "held": result.is_expected,
        }
        for result in table
    ]
    escaped = [item for item in items if not item["held"]]
    document = {"ok": not escaped, "items": items, "next": None}
    paint = context.console.paint
    lines = [
        f"{paint(f'{_label_attempt(item):9}', 'green' if item['held'] else 'red')}"
        f" {item['category']:14} {item['name']}: {item['outcome']}"
        for item in items
    ]
    summary = f"{len(items) - len(escaped)} of {len(items)} attempts held"
    context.console.print_result(document, *lines, summary)
    return 1 if escaped else 0


def _label_attempt(item: dict[str, Any]) -> str:
    if item["held"]:
        return "held"
    return "not tried" if item["outcome"].startswith("not tried:") else "GOT OUT"


def _check_machine() -> Iterator[Check]:
    from astra.trusted.git.git_command import PROGRAM_PATH

    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("python", "ok", version)
    for program, need, fix, search_path in (
        ("git", "broken", f"install git into one of {PROGRAM_PATH}", PROGRAM_PATH),
        ("bwrap", "warning", "install bubblewrap: agent code runs only in its sandbox", None),
    ):
        path = shutil.which(program, path=search_path)
        yield Check(program, "ok", path) if path else Check(program, need, "not found", fix)
    yield Check("sqlite", "ok", sqlite3.sqlite_version)
    yield from _check_sandbox()


def _check_sandbox() -> Iterator[Check]:
    from astra.adapters.bubblewrap.preflight import preflight

    preflight_report = preflight()
    if preflight_report.ok:
        yield Check("sandbox", "ok", "the profile holds on this machine")
    for problem in preflight_report.problems:
        yield Check("sandbox", "warning", problem.what, f"{problem.fix}; agent code waits for it")


def _check_units() -> Iterator[Check]:
    """Look at the unit of systemd, where one is installed."""
    from astra.interfaces.cli.service import find_unit_problems

    if (unit := find_unit_problems()) is None:
        return
    path, problems = unit
    if problems:
        fix = "astra service install writes it anew; your own changes belong into a drop-in"
        yield Check("service", "warning", f"{path} lacks {', '.join(problems[:5])}", fix)
    else:
        yield Check("service", "ok", path)


def _check_data_root(context: Context) -> Iterator[Check]:
    from astra.trusted.files.data_root import DataRoot

    if trouble := context.settings_trouble:
        yield Check("settings", "broken", trouble.detail, trouble.next_step)
    try:
        root = DataRoot(context.data_root)
        first = root.require_first_record()
    except AstraError as error:
        yield Check("data root", "broken", error.detail, error.next_step)
        return
    made_for = first.data["target"] or "no target"
    yield Check("data root", "ok", f"{root.path}, made for {made_for}")
    if first.data["throwaway"]:
        fix = "use it for tests and demos only"
        yield Check("kind", "warning", "throwaway: the passphrase may be in the environment", fix)
    yield _check_private("var", root.var)
    yield from _check_writable(root.path)
    yield _check_private("ledger key", root.ledger_key_file)
    yield from _check_repository(root.git)
    yield from _check_operator_key(first.data["root_id"], root)
    yield from _check_ledger(root, None if context.settings_trouble else context.settings)
    yield _check_disk_space(root.path)
    daemon = _check_daemon(context)
    yield daemon
    answers = daemon.detail.startswith("pid") and not daemon.fix
    yield from _check_sandbox_off(context, answers=answers)
    if answers:
        yield from _check_servers(context)


def _check_writable(path: Path) -> Iterator[Check]:
    """Say in words why nothing could be written; a disk may be read-only for everybody."""
    for place in (path, path / "var", path / "var" / "ledger", path / "var" / "run", path / "logs"):
        if not place.is_dir() and (place.exists() or place.name == "logs"):
            fix = f"move away what is there, and make the folder: mkdir -m 700 {place}"
            yield Check("writable", "broken", f"{place} is no folder: no daemon can start", fix)
            return
        if place.exists() and not os.access(place, os.W_OK):
            read_only = os.statvfs(place).f_flag & os.ST_RDONLY
            why = "is on a read-only disk" if read_only else "cannot be written by this user"
            fix = "mount it for writing" if read_only else f"give {place} back to the daemon's user"
            yield Check("writable", "broken", f"{place} {why}: nothing can be recorded", fix)
            return


def _check_repository(git: Path) -> Iterator[Check]:
    from astra.bootstrap.sweeping import stale_locks

    if not (git / "HEAD").is_file() or not (git / "objects").is_dir():
        detail = f"{git} is not there, or is no git repository: source and changes cannot be read"
        yield Check("repository", "broken", detail, f"restore {git} from a backup")
        return
    if names := ", ".join(str(path.relative_to(git)) for path in stale_locks(git)):
        fix = "astra down, then any command: the next start removes them"
        yield Check("repository", "warning", f"a killed git left {names}", fix)


def _check_private(name: str, path: Path) -> Check:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        return Check(name, "broken", f"{path}: {error.strerror}", "restore it from a backup")
    if mode & 0o077:
        return Check(name, "broken", f"{path} is open to others ({mode:o})", f"chmod go= {path}")
    return Check(name, "ok", f"{path} ({mode:o})")


def _check_operator_key(root_id: str, root: Any) -> Iterator[Check]:
    from astra.trusted.files import operators_key

    path = operators_key.key_path(root_id)
    if not path.exists():
        fix = "sign on the machine that has it, or `astra operator rotate --recovery`"
        yield Check("operator key", "warning", f"{path} is not here", fix)
        return
    yield _check_private("operator key", path)
    if path.is_relative_to(root.path):
        fix = "set XDG_CONFIG_HOME to a folder outside the data root and move it"
        yield Check("operator key", "broken", "it lies inside the data root", fix)


def _check_records(root: Any, stored_chain: Any) -> Check:
    """Say whether this version can make sense of every record, before a daemon has to."""
    from astra.bootstrap import PROJECTIONS
    from astra.trusted.file_ledger.check import check_folds

    try:
        unapplied = check_folds(root.var, PROJECTIONS, stored_chain)
    except AstraError as error:
        return Check("records", "broken", error.detail, error.next_step)
    return Check("records", "ok", f"readable by this version, {unapplied} not yet in its index")


def _check_ledger(root: Any, settings: Any) -> Iterator[Check]:
    from astra.adapters.chains import find_chain
    from astra.adapters.witnesses.checking import check_data_root
    from astra.trusted.file_ledger.stored import ChainFiles

    try:
        public_key = root.read_ledger_key().public
    except AstraError as error:
        yield Check("ledger", "broken", error.detail, error.next_step)
        return
    try:
        stored_chain = find_chain(root, settings) if settings else ChainFiles(root.var / "ledger")
        yield from _check_clock(stored_chain)
        checked = check_data_root(root, stored_chain, public_key=public_key)
    except AstraError as error:
        yield Check("ledger", "broken", error.detail, error.next_step)
        return
    report = checked.report
    yield from _check_witness(checked)
    if report.ok:
        yield Check("ledger", "ok", f"{report.records} records, verified")
        yield from _check_archive(report)
        yield _check_records(root, stored_chain)
    for problem in report.problems:
        fix = _FIXES.get(problem.kind, "keep the data root as it is; compare with a backup")
        yield Check("ledger", "broken", f"{problem.kind}: {problem.detail}", fix)
    set_aside = sorted((root.var / "set-aside").glob("*.bin"))
    if set_aside:
        fix = "nothing: a crash tore them, and the chain tells of it"
        yield Check("set aside", "warning", f"{len(set_aside)} torn ends", fix)


def _check_archive(report: Any) -> Iterator[Check]:
    """Say whether archived months can be read, before an upgrade or a restore needs them."""
    if report.by_digest:
        folders = ", ".join(sorted({month.folder for month in report.by_digest}))
        away = f"{len(report.by_digest)} archived months cannot be read in {folders}"
        fix = "mount it: an upgrade or a restore may need to build the index from there"
        yield Check("archive", "warning", away, fix)
    elif report.from_archive:
        yield Check("archive", "ok", f"{len(report.from_archive)} archived months, readable")


def _check_witness(checked: Any) -> Iterator[Check]:
    """Say whether anybody outside would notice if the end of the record went missing."""
    if not checked.address:
        fix = "name a place outside this data root: [ledger] witness in astra.toml"
        yield Check("witness", "warning", "none: a cut of everything would go unnoticed", fix)
    elif checked.report.ok:
        comparison = "compared" if checked.compared else "gives nothing back to compare with"
        yield Check("witness", "ok", f"{checked.address}, {comparison}")


def _check_clock(stored_chain: Any) -> Iterator[Check]:
    """Notice a clock that was ahead when something was recorded, or is behind now."""
    from astra.trusted.kernel.clock import SystemClock, describe_time_ahead

    if detail := describe_time_ahead(stored_chain.read_end().time, SystemClock().now()):
        fix = "set the clock; if it is right: astra clock accept"
        yield Check("clock", "broken", detail, fix)


def _check_disk_space(path: Path) -> Check:
    from astra.trusted.file_ledger.reserve import Reserve, free_inodes, free_space

    free_bytes, floor = free_space(path)
    inodes = free_inodes(path)
    if inodes and inodes[0] < inodes[1]:
        why = f"{inodes[0]:,} inodes free: below {inodes[1]:,} the agent begins nothing new"
        return Check("disk", "broken", f"{why} (disk_low)", "remove files on that disk")
    size = f"{free_bytes >> 20:,} MiB free"
    if free_bytes < floor:
        why = f"{size}: below {floor >> 20:,} MiB the agent begins nothing new (disk_low)"
        return Check("disk", "broken", why, "make room on the disk of the data root")
    if not Reserve(path / "var").path.exists():
        fix = "nothing: the daemon lays it down when it runs"
        return Check("disk", "warning", f"{size}, no reserve for stop and decisions yet", fix)
    if free_bytes < _LITTLE_SPACE:
        return Check("disk", "warning", size, "make room: a full disk stops every effect")
    return Check("disk", "ok", size)


def _check_daemon(context: Context) -> Check:
    from astra.trusted.file_ledger.owner_lock import find_holder

    pid = find_holder(context.data_root / "var" / "run" / "owner.lock")
    if pid is None:
        return Check("daemon", "ok", "not running; commands start it")
    if context.client(without_settings=True).is_running():
        return Check("daemon", "ok", f"pid {pid}")
    alive = Path(f"/proc/{pid}").exists() and pid != os.getpid()
    fix = f"look at logs/daemon.log; end process {pid} if it hangs"
    return Check("daemon", "broken", f"pid {pid} does not answer", fix if alive else "try again")


def _check_sandbox_off(context: Context, *, answers: bool) -> Iterator[Check]:
    """Say whether agent code runs unconfined, or would if the operator signed it."""
    from astra.trusted.settings.environment import OFF_UNSAFE

    state = context.client(without_settings=True).get("/api/sandbox") if answers else {}
    if state:
        yield Check("limits", "ok", state["limits"])
    if state.get("kind") == OFF_UNSAFE:
        detail = "off-unsafe: agent code runs unconfined, as a plain process"
        yield Check("sandbox", "broken", detail, "astra sandbox on")
    elif context.settings_trouble is None and context.settings.sandbox_off:
        detail = f"ASTRA_SANDBOX={OFF_UNSAFE} is set; it counts once it is signed"
        yield Check("sandbox", "warning", detail, "unset it; `astra sandbox` says what is in force")


def _check_servers(context: Context) -> Iterator[Check]:
    """Say of each other MCP server whether it runs, and whether its tools are those signed for."""
    for server in context.client(without_settings=True).get("/api/servers")["items"]:
        name = f"server {server['name']}"
        if server["trouble"]:
            fix = "mend its entry in astra.toml (command, read_paths), then astra config sign"
            yield Check(name, "broken", one_line(server["trouble"]), fix)
        elif server["resting"]:
            detail = f"{server['resting']} of its tools wait for your signature"
            yield Check(name, "warning", detail, f"astra servers accept {server['name']}")
        else:
            yield Check(name, "ok", f"{server['usable']} tools")


def _render_check(context: Context, check: Check) -> str:
    state = context.console.paint(f"{check.state:8}", _COLOURS[check.state])
    line = f"{state} {check.name:13} {context.console.paint(check.detail, 'dim')}"
    return f"{line}\n{'':9}{'fix:':>13} {check.fix}" if check.fix else line
