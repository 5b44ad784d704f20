"""`astra init` and `astra status`."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.settings.environment import OFF_UNSAFE

if TYPE_CHECKING:
    from astra.bootstrap.initialise import Made


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "status":
        parser.set_defaults(run=show_status)
        return
    parser.add_argument("target", nargs="?", metavar="TARGET", help="the agent's git repository")
    parser.add_argument(
        "--throwaway",
        action="store_true",
        help="for tests and demos: the passphrase may come from ASTRA_OPERATOR_PASSPHRASE",
    )
    parser.set_defaults(run=init)


def init(context: Context) -> None:
    from astra.bootstrap.initialise import existing, initialise

    target = _target(context.arguments.target)
    data_root = existing(context.settings, target)
    if data_root is None:
        passphrase, generated = _new_passphrase(context)
        data_root = initialise(
            context.settings,
            target,
            passphrase=passphrase,
            throwaway=context.arguments.throwaway,
        )
        _report(context, data_root, passphrase if generated else "")
        return
    _report(context, data_root, "")


def show_status(context: Context) -> int:
    trouble = context.settings_trouble
    client = context.client(without_settings=trouble is not None)
    if trouble is not None and not client.running():
        return _show_without_daemon(context, trouble)
    status = client.get("/api/status")
    lines = _status_lines(context, status)
    if trouble is not None:
        status["settings_trouble"] = trouble.as_dict()
        lines.append(_settings_line(context, trouble))
    context.console.result(status, *lines)
    return 0


def _show_without_daemon(context: Context, trouble: AstraError) -> int:
    """Say what can be said where a bad setting keeps the daemon from starting."""
    from astra.trusted.files.data_root import DataRoot
    from astra.trusted.sandbox import boxes

    root = DataRoot(context.data_root)
    root.require()
    stopped = boxes.is_stopped(root.path)
    document = {
        "data_root": str(root.path),
        "daemon": None,
        "stopped": stopped,
        "settings_trouble": trouble.as_dict(),
    }
    lines = [printable(f"Astra  {root.path}"), "  daemon       not running"]
    if stopped:
        words = "STOPPED: no work starts until `astra start`"
        lines.append(context.console.paint(words, "red"))
    context.console.result(document, *lines, _settings_line(context, trouble))
    return 1


def _settings_line(context: Context, trouble: AstraError) -> str:
    words = printable(f"{one_line(trouble.detail)}; {trouble.next_step}")
    return context.console.paint(f"  settings     {words}", "red")


def _target(given: str | None) -> Path | None:
    """Take the folder that was named, or else the repository this command runs in."""
    if given is not None:
        return Path(given).absolute().resolve()
    folder = Path.cwd()
    return next((path for path in (folder, *folder.parents) if (path / ".git").exists()), None)


def _new_passphrase(context: Context) -> tuple[str, bool]:
    from astra.bootstrap.initialise import generated_passphrase
    from astra.interfaces.cli import signing

    throwaway = context.arguments.throwaway
    if throwaway and not os.environ.get("ASTRA_OPERATOR_PASSPHRASE"):
        return generated_passphrase(), True
    return signing.new_passphrase(context, throwaway=throwaway), False


def _report(context: Context, made: "Made", passphrase: str) -> None:
    document: dict[str, Any] = {
        "data_root": str(made.data_root),
        "code_repo": str(made.code_repo),
        "operator_key": str(made.operator_key),
        "created": made.created,
    }
    lines = [f"{name:13} {printable(str(value))}" for name, value in document.items()]
    if not made.created:
        lines = [f"nothing to do: {printable(str(made.data_root))} is a data root already"]
    if made.recovery_key:
        document["recovery_key"] = made.recovery_key
        lines += [
            "",
            "Recovery key, shown this once. Write it down and keep it away from this machine:",
            f"  {made.recovery_key}",
        ]
    if passphrase:
        document["passphrase"] = passphrase
        lines += ["", f"Passphrase of this throwaway root: {passphrase}"]
    if made.created:
        lines += ["", "Next: astra status"]
    context.console.result(document, *lines)


def _warning_lines(context: Context, status: dict[str, Any]) -> list[str]:
    paint = context.console.paint
    lines = [f"Astra {status['version']}  {printable(status['data_root'])}"]
    if status["throwaway"]:
        lines.append(paint("THROWAWAY data root: its passphrase may be in the environment", "red"))
    if status["held"]:
        words = f"HELD: nothing begins: {'; '.join(status['held'])}"
        lines.append(paint(f"{words}; to go on from here: astra restore", "red"))
    elif status["stopped"]:
        lines.append(paint("STOPPED: no work starts until `astra start`", "red"))
    if status["disk"]["low"]:
        warning = "DISK LOW: no new work of the agent begins; make room"
        lines.append(paint(f"{warning} ({status['disk']['free'] >> 20:,} MiB free)", "red"))
    if status["sandbox"]["kind"] == OFF_UNSAFE:
        lines.append(paint(f"SANDBOX OFF, {status['sandbox']['state']}", "red"))
    return lines


def _status_lines(context: Context, status: dict[str, Any]) -> list[str]:
    paint = context.console.paint
    lines = _warning_lines(context, status)
    daemon, ledger = status["daemon"], status["ledger"]
    if ledger.get("clock"):
        words = f"CLOCK: {ledger['clock']}; time stands still, schedules wait"
        lines.append(paint(f"{words}: set the clock, or astra clock accept", "red"))
    lines += [
        f"  daemon       pid {daemon['pid']}, since {daemon['started_at']}",
        f"  ledger       {ledger['records']} records, head {ledger['head'][:16]}…",
        *_witness_lines(context, status["witness"]),
        f"  code access  {status['code_access']}, read scope {status['read_scope']}",
        f"  approvals    {status['approvals']['pending']} waiting",
        f"  schedules    {_schedules(status['executor'])}",
        f"  plans        {_plans(status['plans'])}",
        f"  model        {printable(status['model'] or 'none: drafting takes a file')}",
        _sandbox_line(context, status["sandbox"]),
        f"  limits       {status['sandbox']['limits']}",
        *_app_lines(context, status["app"]),
        f"  astra.toml   {status['configuration']}",
    ]
    lines += [
        f"  notify       {name}: there is no such line in .env; nobody is told through it"
        for name in status["notify"]["missing"]
    ]
    if ledger["trouble"]:
        lines.append(paint(f"  trouble      {ledger['trouble']}", "red"))
    if status["configuration"] != "signed":
        lines.append("               only the signed text counts; to sign it: astra config sign")
    lines += [_budget_line(row) for row in status["budgets"]]
    lines.append("  flags")
    lines += [flag_line(context, flag) for flag in status["flags"].values()]
    return lines


def _witness_lines(context: Context, witness: dict[str, Any]) -> list[str]:
    if not witness["address"]:
        return []
    words = f"{printable(witness['address'])}: {witness['state']}"
    lines = [f"  witness      {words}, record {witness['sequence']}"]
    if witness["trouble"]:
        lines.append(context.console.paint(f"  trouble      {one_line(witness['trouble'])}", "red"))
    return lines


def _sandbox_line(context: Context, sandbox: dict[str, Any]) -> str:
    line = f"  sandbox      {sandbox['kind']}, {sandbox['state']}"
    return line if sandbox["kind"] != OFF_UNSAFE else context.console.paint(line, "red")


def _plans(plans: dict[str, Any]) -> str:
    over = {"completed", "aborted", "rejected", "plan_failed"}
    parts = [f"{count} {state}" for state, count in plans["states"].items() if state not in over]
    parts = parts or ["none under way"]
    if plans["closed"]:
        parts.append(f"none runs now ({plans['closed']})")
    if plans["trouble"]:
        parts.append(f"trouble: {one_line(plans['trouble'])}")
    return ", ".join(parts)


def _app_lines(context: Context, app: dict[str, Any] | None) -> list[str]:
    if app is None:
        return []
    address = f" on http://127.0.0.1:{app['port']}" if app["port"] else ""
    under_way = f", {app['deployment']['id']} is {app['deployment']['state']}"
    lines = [f"  app          {app['state']}{address}, {app['release'] or 'no release'}{under_way}"]
    if app["egress"] != "none":
        lines.append(f"               connections outwards: {app['egress']}")
    if app["ports"]:
        lines.append(f"               {app['ports']}")
    if app["trouble"]:
        lines.append(context.console.paint(f"  trouble      {one_line(app['trouble'])}", "red"))
    return lines


def _schedules(executor: dict[str, Any]) -> str:
    parts = [f"{executor['active']} active, {executor['paused']} paused, {executor['open']} open"]
    if executor["next_due"]:
        parts.append(f"next {executor['next_due'][:19]}Z")
    if executor["closed"]:
        parts.append(f"none runs now ({executor['closed']})")
    if executor["trouble"]:
        parts.append(f"trouble: {one_line(executor['trouble'])}")
    return ", ".join(parts)


def _budget_line(row: dict[str, Any]) -> str:
    *before, today = row["week"]
    days = " ".join(map(str, before))
    return (
        f"  budget       {row['scope']} {printable(row['name'])}: {today} of {row['limit']} today;"
        f" the six days before: {days}"
    )


def flag_line(context: Context, flag: dict[str, Any]) -> str:
    state = context.console.paint("on ", "green") if flag["on"] else "off"
    why = f"{flag['source']}; {flag['note']}" if flag["note"] else flag["source"]
    return f"    {state} {flag['name']:30} {context.console.paint(why, 'dim')}"
