"""The built-in alert rules for Prometheus, and a dashboard for Grafana over the same numbers.

Both are written from the rules, so that they compare what Astra compares: the gauge `astra_signal`
of `/metrics`. A rule whose `clear` is not its number keeps firing until it is back there, which is
written with the series `ALERTS` that Prometheus itself keeps.
"""

import json
from collections.abc import Iterator
from typing import Any

from astra.operations import alert_rules
from astra.operations.alert_rules import Rule
from astra.operations.signals import SIGNALS

_QUERIES = (
    ("Alerts that are raised", "astra_alert", "{{alert}} ({{severity}})"),
    ("Calls of tools a minute", "sum by (outcome) (rate(astra_tool_calls_total[5m])) * 60", ""),
    ("Decisions that wait", "astra_approvals_pending", "waiting"),
    ("Records a minute", "rate(astra_records_total[5m]) * 60", "records"),
    ("Budgets used today", "astra_budget_used / astra_budget_limit", "{{scope}} {{name}}"),
    ("Test runs that failed", "astra_change_failed_tests_total", "failed"),
    ("Rollbacks", "astra_release_rollbacks_total", "by {{by}}"),
)


def write_rules() -> str:
    """Write the rule file for Prometheus."""
    lines = ["# Written by `astra alerts export prometheus`.", "groups:", "  - name: astra"]
    lines.append("    rules:")
    for rule in alert_rules.read_built_in():
        lines += _write_rule(rule)
    lines += _write_alert("AstraDown", 'up{job="astra"} == 0', 2, "critical", _DOWN)
    return "\n".join(lines) + "\n"


def write_dashboard() -> str:
    """Write the dashboard for Grafana, as its import takes it."""
    queries = (*_QUERIES, *_list_signal_queries())
    document: dict[str, Any] = {
        "title": "Astra",
        "uid": "astra",
        "schemaVersion": 38,
        "editable": True,
        "time": {"from": "now-24h", "to": "now"},
        "templating": {"list": [_DATASOURCE]},
        "panels": [_make_panel(number, *query) for number, query in enumerate(queries)],
    }
    return json.dumps(document, indent=2) + "\n"


def name_alert(rule: Rule) -> str:
    """Name a rule as people name alerts of Prometheus.

    >>> name_alert(Rule(name="quiet_agent"))
    'AstraQuietAgent'
    """
    return "Astra" + "".join(word.capitalize() for word in rule.name.split("_"))


def write_expression(rule: Rule) -> str:
    """Write what Prometheus compares.

    >>> write_expression(Rule(name="a", signal="rollbacks", above=1.0))
    'astra_signal{signal="rollbacks"} > 1'
    """
    series, sign = f'astra_signal{{signal="{rule.signal}"}}', "<" if rule.above is None else ">"
    beyond = f"{series} {sign} {rule.threshold:g}"
    if rule.clear_at == rule.threshold:
        return beyond
    firing = f'ALERTS{{alertname="{name_alert(rule)}",alertstate="firing"}}'
    return f"{beyond} or ({series} {sign} {rule.clear_at:g} and on (instance, job) {firing})"


def _write_rule(rule: Rule) -> Iterator[str]:
    summary = f"{rule.about}; next: {rule.next_step}"
    expression = write_expression(rule)
    return _write_alert(name_alert(rule), expression, rule.for_minutes, rule.severity, summary)


def _write_alert(
    name: str, expression: str, minutes: int, severity: str, summary: str
) -> Iterator[str]:
    yield f"      - alert: {name}"
    yield f"        expr: {json.dumps(expression)}"
    yield f"        for: {minutes}m"
    yield f"        labels: {{severity: {severity}}}"
    yield f"        annotations: {{summary: {json.dumps(summary)}}}"


def _list_signal_queries() -> Iterator[tuple[str, str, str]]:
    for signal, about in SIGNALS.items():
        yield about.partition(";")[0], f'astra_signal{{signal="{signal}"}}', signal


def _make_panel(number: int, title: str, expression: str, legend: str) -> dict[str, Any]:
    source = {"type": "prometheus", "uid": "${datasource}"}
    target = {"refId": "A", "expr": expression, "legendFormat": legend or "__auto"}
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": title,
        "datasource": source,
        "targets": [{**target, "datasource": source}],
        "gridPos": {"h": 7, "w": 8, "x": 8 * (number % 3), "y": 7 * (number // 3)},
    }


_DOWN = "Astra does not answer Prometheus; next: systemctl status astra"
_DATASOURCE = {"name": "datasource", "label": "Prometheus", "type": "datasource"} | {
    "query": "prometheus"
}
