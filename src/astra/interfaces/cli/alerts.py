"""`astra alerts [check|silence|unsilence|export]`: what is raised, and what every rule compares."""

import argparse
from datetime import UTC, datetime, timedelta
from typing import Any

from astra.interfaces.cli.main import Context
from astra.interfaces.cli.times import describe_age
from astra.trusted.kernel.clock import format_time, show_time
from astra.trusted.kernel.text import one_line, printable

_COLOURS = {"critical": "red", "warning": "yellow"}


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.set_defaults(run=list_alerts)
    parser.add_argument("--rules", action="store_true", help="also every rule with its value now")
    actions = parser.add_subparsers(metavar="ACTION")
    checking = actions.add_parser("check", help="compare every rule now, not at the next turn")
    checking.set_defaults(run=check_alerts)
    silencing = actions.add_parser(
        "silence", help="mute a rule for a time; asks for the passphrase"
    )
    silencing.add_argument("name", metavar="RULE")
    silencing.add_argument("--hours", type=float, default=24.0, metavar="N", help="how long (24)")
    silencing.add_argument("--reason", required=True, metavar="TEXT")
    silencing.set_defaults(run=silence_alert)
    ending = actions.add_parser("unsilence", help="end a silence before its time; that is free")
    ending.add_argument("name", metavar="RULE")
    ending.set_defaults(run=end_silence)
    exporting = actions.add_parser("export", help="the built-in rules for other programs")
    exporting.add_argument("form", choices=("prometheus", "grafana"))
    exporting.set_defaults(run=export_rules)


def list_alerts(context: Context) -> int:
    return _print_alerts(context, context.client().get("/api/alerts"))


def check_alerts(context: Context) -> int:
    return _print_alerts(context, context.client().post("/api/alerts/check"))


def silence_alert(context: Context) -> None:
    from astra.interfaces.cli.signing import sign_action

    arguments = context.arguments
    until = format_time(datetime.now(UTC) + timedelta(hours=arguments.hours))
    content = {"alert": arguments.name, "until": until, "reason": arguments.reason}
    authority = sign_action(context, "alert_silenced", content)
    body = {"content": content, "authority": authority}
    answer = context.client().post("/api/alerts/silences", body)
    context.console.print_result(
        {**answer, "until": until}, f"{arguments.name} is silenced until {show_time(until)}"
    )


def end_silence(context: Context) -> None:
    name = context.arguments.name
    answer = context.client().delete(f"/api/alerts/silences/{name}")
    context.console.print_result(answer, f"{printable(name)} is told again")


def export_rules(context: Context) -> None:
    from astra.operations import prometheus

    form = context.arguments.form
    text = prometheus.write_rules() if form == "prometheus" else prometheus.write_dashboard()
    context.console.print_result({"form": form, "text": text}, *text.splitlines())


def _print_alerts(context: Context, page: dict[str, Any]) -> int:
    lines = [line for alert in page["items"] for line in _render_alert(context, alert)]
    rules = [_render_rule(rule) for rule in page["rules"]] if _shows_rules(context) else []
    context.console.print_result(page, *(lines or ["no alert is raised"]), *rules)
    return 0


def _shows_rules(context: Context) -> bool:
    return bool(getattr(context.arguments, "rules", False))


def _render_alert(context: Context, alert: dict[str, Any]) -> list[str]:
    state = "silenced" if alert["silenced"] else alert["severity"]
    title = context.console.paint(f"{state:9} {alert['name']}", _COLOURS.get(state, "dim"))
    age = describe_age(alert["raised_at"])
    about = f"          {one_line(alert['text'], 300)}"
    return [f"{title}  {age}", about, f"          next: {one_line(alert['next_step'])}"]


def _render_rule(rule: dict[str, Any]) -> str:
    value = "not known" if rule["value"] is None else f"{rule['value']:g}"
    until = rule["silenced_until"]
    silence = f", silenced until {show_time(until)}" if until else ""
    return f"  {rule['name']:16} {rule['severity']:9} {rule['rule']}; now {value}{silence}"
