"""`astra init` and `astra status`."""

import argparse
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.settings.environment import FLAGS, OFF_UNSAFE

if TYPE_CHECKING:
    from astra.adoption.detected import Detected
    from astra.bootstrap.initialise import Made

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


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
    parser.add_argument(
        "--yes",
        action="store_true",
        help="sign the configuration that was detected, without asking",
    )
    corrections = parser.add_argument_group("instead of what was detected")
    corrections.add_argument("--tests", metavar="COMMAND", default="", help="what runs the tests")
    corrections.add_argument(
        "--app", metavar="COMMAND", default="", help="what starts the server; {port} is its port"
    )
    corrections.add_argument(
        "--health", metavar="PATH", default="", help="the path that answers while it is healthy"
    )
    corrections.add_argument(
        "--package",
        metavar="NAME",
        action="append",
        default=[],
        help="a package that tests or server need and no file names, as often as needed",
    )
    corrections.add_argument(
        "--before-start",
        metavar="COMMAND",
        default="",
        help="what runs once before each release starts, such as a migration",
    )
    corrections.add_argument(
        "--env",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=_read_variable,
        help="a variable of the server, as often as needed; {state} is its state folder",
    )
    parser.set_defaults(run=init)


def _read_variable(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (sign and _VARIABLE.fullmatch(name)):
        raise argparse.ArgumentTypeError(f"{text!a} is not NAME=VALUE")
    return name, value


def init(context: Context) -> None:
    from astra.adoption.corrections import Corrections
    from astra.bootstrap.initialise import describe_existing, initialise

    arguments = context.arguments
    target = _find_target(arguments.target)
    data_root = describe_existing(context.settings, target)
    if data_root is None:
        passphrase, generated = _new_passphrase(context)
        data_root = initialise(
            context.settings,
            target,
            passphrase=passphrase,
            throwaway=arguments.throwaway,
            sign_detected=arguments.yes,
            corrections=Corrections(
                test_command=arguments.tests,
                app_command=arguments.app,
                health_path=arguments.health,
                before_start=arguments.before_start,
                packages=tuple(arguments.package),
                app_env=tuple(arguments.env),
            ),
        )
        _leave_standing(data_root.data_root)
        _report_data_root(context, data_root, passphrase if generated else "")
        _offer_check(context, data_root)
        return
    _report_data_root(context, data_root, "")


def _leave_standing(data_root: Path) -> None:
    """Write down how things stand, so that the first MCP session need not wait for the daemon."""
    from astra.interfaces.mcp.first_answers import Standing, write_standing
    from astra.trusted.files.data_root import DataRoot

    defaults = {name: on for name, (on, _) in FLAGS.items()}
    write_standing(DataRoot(data_root).run, Standing(flags=defaults))


def _offer_check(context: Context, made: "Made") -> None:
    """Ask on a terminal whether to try what was detected; elsewhere the command was named."""
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not context.console.as_json
    if made.is_signed or not is_terminal:
        return
    if input("Try it in a box now? [Y/n] ").strip().lower() in {"", "y", "yes"}:
        from astra.interfaces.cli.operator import check_config

        check_config(context)


def show_status(context: Context) -> int:
    trouble = context.settings_trouble
    client = context.client(without_settings=trouble is not None)
    if trouble is not None and not client.is_running():
        return _show_without_daemon(context, trouble)
    status = client.get("/api/status")
    lines = _status_lines(context, status)
    if trouble is not None:
        status["settings_trouble"] = trouble.as_dict()
        lines.append(_settings_line(context, trouble))
    context.console.print_result(status, *lines)
    return 0


def _show_without_daemon(context: Context, trouble: AstraError) -> int:
    """Say what can be said where a bad setting keeps the daemon from starting."""
    from astra.trusted.files.data_root import DataRoot
    from astra.trusted.sandbox import boxes

    root = DataRoot(context.data_root)
    root.require_first_record()
    stopped = boxes.is_stopped(root.path)
    document = {
        "data_root": str(root.path),
        "daemon": None,
        "stopped": stopped,
        "settings_trouble": trouble.as_dict(),
    }
    lines = [printable(f"Astra  {root.path}"), "  daemon       not running"]
    if stopped:
        stop_warning = "STOPPED: no work starts until `astra start`"
        lines.append(context.console.paint(stop_warning, "red"))
    context.console.print_result(document, *lines, _settings_line(context, trouble))
    return 1


def _settings_line(context: Context, trouble: AstraError) -> str:
    problem = printable(f"{one_line(trouble.detail)}; {trouble.next_step}")
    return context.console.paint(f"  settings     {problem}", "red")


def _find_target(given: str | None) -> Path | None:
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


def _report_data_root(context: Context, made: "Made", passphrase: str) -> None:
    document: dict[str, Any] = {
        "data_root": str(made.data_root),
        "code_repo": str(made.code_repo),
        "operator_key": str(made.operator_key),
        "created": made.created,
    }
    lines = [f"{name:13} {printable(str(value))}" for name, value in document.items()]
    if made.created:
        document["detected"] = made.detected.as_dict()
        lines += _detected_lines(made.detected)
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
    if made.created and not made.is_signed:
        lines += [
            "",
            f"{printable(str(made.data_root / 'astra.toml'))} says all of this and is not signed.",
            "Next: astra config check   tries it in a box",
            "      astra config sign    puts it into force",
        ]
    elif made.created:
        lines += ["", "Next: astra status"]
    context.console.print_result(document, *lines)


def _detected_lines(detected: "Detected") -> list[str]:
    """Say what was found in the repository; it is the repository's own text, so it is escaped."""
    rows = {
        "language": f"{detected.language} {detected.versions}".strip(),
        "tests": detected.test_command,
        "environment": detected.environment,
    }
    if app := detected.app:
        rows["app" if app.listens else "worker"] = app.command
    lines = [f"  {name:11} {printable(one_line(value))}" for name, value in rows.items() if value]
    lines += [f"  not found   {note}" for note in detected.missing]
    return ["", "Found in the repository:", *lines] if detected.language else []


def _warning_lines(context: Context, status: dict[str, Any]) -> list[str]:
    paint = context.console.paint
    lines = [f"Astra {status['version']}  {printable(status['data_root'])}"]
    if status["throwaway"]:
        lines.append(paint("THROWAWAY data root: its passphrase may be in the environment", "red"))
    if status["held"]:
        held_warning = f"HELD: nothing begins: {'; '.join(status['held'])}"
        lines.append(paint(f"{held_warning}; to go on from here: astra restore", "red"))
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
        clock_warning = f"CLOCK: {ledger['clock']}; time stands still, schedules wait"
        lines.append(paint(f"{clock_warning}: set the clock, or astra clock accept", "red"))
    lines += [
        f"  daemon       pid {daemon['pid']}, since {show_time(daemon['started_at'])}",
        f"  ledger       {ledger['records']} records, head {ledger['head'][:16]}…",
        *_witness_lines(context, status["witness"]),
        f"  code access  {status['code_access']}, read scope {status['read_scope']}",
        f"  approvals    {status['approvals']['pending']} waiting",
        f"  schedules    {_summarise_schedules(status['executor'])}",
        f"  plans        {_summarise_plans(status['plans'])}",
        f"  model        {printable(status['model'] or 'none: drafting takes a file')}",
        *_spend_lines(status["spend"]),
        _sandbox_line(context, status["sandbox"]),
        f"  limits       {status['sandbox']['limits']}",
        *_app_lines(context, status["app"]),
        *_smoke_lines(context, status["smoke"]),
        *_server_lines(context, status["servers"]),
        f"  astra.toml   {status['configuration']}",
    ]
    lines += [
        f"  notify       {name}: there is no such line in .env; nobody is told through it"
        for name in status["notify"]["missing"]
    ]
    if ledger.get("next_index"):
        lines.append(paint(f"  version      {ledger['next_index']}", "yellow"))
    if ledger["trouble"]:
        lines.append(paint(f"  trouble      {ledger['trouble']}", "red"))
    if status["configuration"] != "signed":
        lines.append("               only the signed text counts; to sign it: astra config sign")
    lines += [_budget_line(row) for row in status["budgets"]]
    lines.append("  flags")
    lines += [render_flag(context, flag) for flag in status["flags"].values()]
    return lines


def _spend_lines(spend: dict[str, Any]) -> list[str]:
    """Say how full the fullest cap on spending is; nothing where there are none."""
    return [f"  spend        {printable(spend['summary'])}"] if spend["summary"] else []


def _server_lines(context: Context, servers: dict[str, Any]) -> list[str]:
    """Say how many other MCP servers there are, and what is wrong with any of them."""
    if not servers["count"]:
        return []
    lines = [f"  servers      {servers['count']}"]
    for name in servers["resting"]:
        warning = f"  servers      tools of {name} rest: astra servers show {name}"
        lines.append(context.console.paint(warning, "yellow"))
    for name, why in servers["troubles"].items():
        trouble = f"  trouble      the server {name} does not run: {one_line(why)}"
        lines.append(context.console.paint(trouble, "red"))
    return lines


def _witness_lines(context: Context, witness: dict[str, Any]) -> list[str]:
    if not witness["address"]:
        return []
    witness_state = f"{printable(witness['address'])}: {witness['state']}"
    lines = [f"  witness      {witness_state}, record {witness['sequence']}"]
    if witness["trouble"]:
        lines.append(context.console.paint(f"  trouble      {one_line(witness['trouble'])}", "red"))
    return lines


def _smoke_lines(context: Context, smoke: dict[str, Any] | None) -> list[str]:
    if smoke is None:
        return []
    line = f"  smoke        {', '.join(smoke['failed']) + ' FAILED' if smoke['failed'] else 'ok'}"
    return [
        context.console.paint(f"{line}, {show_time(smoke['at'])}", "dim" if smoke["ok"] else "red")
    ]


def _sandbox_line(context: Context, sandbox: dict[str, Any]) -> str:
    line = f"  sandbox      {sandbox['kind']}, {sandbox['state']}"
    return line if sandbox["kind"] != OFF_UNSAFE else context.console.paint(line, "red")


def _summarise_plans(plans: dict[str, Any]) -> str:
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
    lines.append(f"               {one_line(app['kind'])}")
    if app["egress"] != "none":
        lines.append(f"               connections outwards: {app['egress']}")
    if app["ports"]:
        lines.append(f"               {app['ports']}")
    if app["trouble"]:
        lines.append(context.console.paint(f"  trouble      {one_line(app['trouble'])}", "red"))
    return lines


def _summarise_schedules(executor: dict[str, Any]) -> str:
    parts = [f"{executor['active']} active, {executor['paused']} paused, {executor['open']} open"]
    if executor["next_due"]:
        parts.append(f"next {show_time(executor['next_due'])}")
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


def render_flag(context: Context, flag: dict[str, Any]) -> str:
    state = context.console.paint("on ", "green") if flag["on"] else "off"
    why = f"{flag['source']}; {flag['note']}" if flag["note"] else flag["source"]
    return f"    {state} {flag['name']:30} {context.console.paint(why, 'dim')}"
