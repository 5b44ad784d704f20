"""`/metrics` in Prometheus' text format, counted from the ledger's own views.

Every number is a question to the index, asked when somebody scrapes: nothing is counted twice, and
a restart loses nothing. What counts up is a `_total` and never falls, because the ledger does not.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from astra.bootstrap.runtime import Runtime
from astra.changes import counting
from astra.deployments import events as deployments
from astra.deployments import views as releases
from astra.deployments.fleet import views as fleet_views
from astra.numbers import budget_usage
from astra.operations import alert_book
from astra.trusted.kernel.clock import parse_time
from astra.trusted.ledger.ports import Ledger

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Sample = tuple[dict[str, str], float]


@dataclass(frozen=True, kw_only=True)
class Metric:
    name: str
    kind: str
    help: str
    samples: tuple[Sample, ...]

    def lines(self) -> Iterator[str]:
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} {self.kind}"
        for labels, value in self.samples:
            inside = ",".join(f'{name}="{_escape_label(text)}"' for name, text in labels.items())
            yield f"{self.name}{f'{{{inside}}}' if inside else ''} {value:g}"


def render(runtime: Runtime) -> str:
    """Write every metric, as it is now."""
    lines = (line for metric in collect(runtime) for line in metric.lines())
    return "\n".join(lines) + "\n"


def collect(runtime: Runtime) -> Iterator[Metric]:
    ledger, now = runtime.ledger, runtime.clock.now()
    head = ledger.head()
    yield _make_counter("astra_records_total", "records in the ledger", [({}, head.sequence)])
    for name, count in counting.count_changes(ledger).items():
        yield _make_counter(
            f"astra_change_{name}_total", f"changes of code: {_name_to_words(name)}", [({}, count)]
        )
    yield _make_counter(
        "astra_release_rollbacks_total",
        "releases that a good one took the place of, by itself or on an operator's order",
        [
            ({"by": "daemon"}, _count_records(ledger, deployments.ROLLED_BACK)),
            ({"by": "operator"}, releases.count_rollbacks_by_hand(ledger)),
        ],
    )
    if runtime.deployer.has_fleet():
        yield from _collect_fleet(runtime)
    yield _make_gauge(
        "astra_approvals", "requests for a decision, by state", _sample_approvals(ledger)
    )
    yield _make_counter(
        "astra_tool_calls_total", "calls of tools, by tool and outcome", _sample_tool_calls(ledger)
    )
    yield _make_gauge("astra_budget_used", "starts spent today", _sample_budgets(runtime, "used"))
    yield _make_gauge(
        "astra_budget_limit", "starts allowed today", _sample_budgets(runtime, "limit")
    )
    yield from _collect_queues(runtime, now)
    yield _make_gauge(
        "astra_stopped", "1 while work is stopped", [({}, runtime.stops.is_stopped())]
    )
    yield _make_gauge(
        "astra_signal", "what alert rules compare, by signal", _sample_signals(runtime)
    )
    raised = alert_book.list_open(ledger).values()
    yield _make_gauge(
        "astra_alert",
        "1 while an alert is raised, by rule",
        [({"alert": alert.name, "severity": alert.severity}, 1) for alert in raised],
    )
    flags = [({"flag": name}, flag.on) for name, flag in runtime.switches.flags().items()]
    yield _make_gauge("astra_flag", "1 while a flag is on", flags)


def _collect_fleet(runtime: Runtime) -> Iterator[Metric]:
    work = runtime.deployer.work.fleet
    fleet = fleet_views.describe_fleet(runtime.ledger, work.fleet(), work.find_present())
    yield _make_gauge(
        "astra_instance_present",
        "1 while the worker of an instance is there",
        [({"instance": item["instance"]}, item["present"]) for item in fleet["items"]],
    )
    yield _make_gauge(
        "astra_instance_release",
        "1 for the release that an instance last proved, and its state",
        [
            ({name: item[name] for name in ("instance", "release", "state")}, 1)
            for item in fleet["items"]
        ],
    )


def _collect_queues(runtime: Runtime, now: datetime) -> Iterator[Metric]:
    """Say how many wait, and how long the oldest has waited."""
    pending_approvals = runtime.desk.list_by_state()
    oldest = min((approval.requested_at for approval in pending_approvals), default=None)
    yield _make_gauge(
        "astra_approvals_pending", "decisions that wait", [({}, len(pending_approvals))]
    )
    yield _make_gauge(
        "astra_approval_oldest_seconds",
        "how long the oldest decision has waited",
        [({}, _compute_age(oldest, now))],
    )
    due = runtime.ledger.query("SELECT min(next_run) FROM schedule WHERE next_run IS NOT NULL")
    late = _compute_age(due[0][0], now)
    yield _make_gauge(
        "astra_schedule_lag_seconds", "how late the most overdue schedule is", [({}, max(late, 0))]
    )
    step = runtime.ledger.query("SELECT min(due) FROM due_step WHERE due IS NOT NULL")
    yield _make_gauge(
        "astra_step_lag_seconds",
        "how late the most overdue step is",
        [({}, max(_compute_age(step[0][0], now), 0))],
    )


def _sample_approvals(ledger: Ledger) -> list[Sample]:
    rows = ledger.query("SELECT state, number FROM approval_count WHERE number > 0 ORDER BY state")
    return [({"state": state}, count) for state, count in rows]


def _sample_tool_calls(ledger: Ledger) -> list[Sample]:
    rows = ledger.query("SELECT tool, outcome, calls FROM tool_count ORDER BY tool, outcome")
    return [({"tool": tool, "outcome": outcome}, count) for tool, outcome, count in rows]


def _sample_signals(runtime: Runtime) -> list[Sample]:
    """Give every signal that is known now."""
    values = runtime.alerting.read_values().items()
    return [({"signal": name}, value) for name, value in values if value is not None]


def _sample_budgets(runtime: Runtime, what: str) -> list[Sample]:
    today = budget_usage.list_week_usage(runtime.ledger, now=runtime.clock.now())
    return [({"scope": row["scope"], "name": row["name"]}, row[what]) for row in today]


def _count_records(ledger: Ledger, kind: str) -> int:
    return ledger.query("SELECT count(*) FROM record WHERE type = ?", [kind])[0][0]


def _name_to_words(name: str) -> str:
    return name.replace("_", " ")


def _compute_age(moment: str | None, now: datetime) -> float:
    return (now - parse_time(moment)).total_seconds() if moment else 0.0


def _make_counter(name: str, text: str, samples: Iterable[tuple[dict[str, str], Any]]) -> Metric:
    return Metric(name=name, kind="counter", help=text, samples=_to_samples(samples))


def _make_gauge(name: str, text: str, samples: Iterable[tuple[dict[str, str], Any]]) -> Metric:
    return Metric(name=name, kind="gauge", help=text, samples=_to_samples(samples))


def _to_samples(samples: Iterable[tuple[dict[str, str], Any]]) -> tuple[Sample, ...]:
    return tuple((labels, float(value)) for labels, value in samples)


def _escape_label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
