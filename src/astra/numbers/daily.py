"""What happened on each day, counted as it is recorded.

A chart over ninety days must not read ninety days of records: a row holds each day's count of each
measure, and another each record that was counted, so that every number leads to its evidence. A day
is the UTC day in the record; the ledger's times never go back, so neither do days.
"""

from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import Any

from astra.deployments import events as deployments
from astra.plans import events as plans
from astra.trusted.approvals import desk
from astra.trusted.changes import model as changes
from astra.trusted.changes import verdicts
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.ledger import chain
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record
from astra.trusted.policy import budgets, telemetry

LONGEST = 90
DEFAULT = 14
MEASURES: Mapping[str, str] = MappingProxyType(
    {
        "changes_proposed": "changes of code that were proposed",
        "changes_merged": "changes that became part of the branch",
        "approved": "requests that were approved",
        "rejected": "requests and plans that were rejected",
        "test_runs_failed": "runs of a change's tests that did not pass",
        "rollbacks": "releases that a good one took the place of",
        "calls_ok": "tool calls that went well",
        "calls_refused": "tool calls that were refused or had to wait",
        "calls_failed": "tool calls that failed or were cut off",
        "starts": "calls with an effect that counted against a budget",
    }
)
_BY_TYPE = {
    changes.SCHEDULED: "changes_proposed",
    changes.EXECUTED: "changes_merged",
    desk.GRANTED: "approved",
    desk.REJECTED: "rejected",
    deployments.ROLLED_BACK: "rollbacks",
    telemetry.TOOL_REFUSED: "calls_refused",
    telemetry.REFUSALS_COUNTED: "calls_refused",
    telemetry.TOOL_INTERRUPTED: "calls_failed",
}
_BY_CONTENT = frozenset(
    {
        *(plans.REJECTED, telemetry.TOOL_CALLED, telemetry.TOOL_FINISHED, budgets.BUDGET_SPENT),
        *(deployments.SWITCHED, changes.TESTS_FAILED),
    }
)


def window(days: int, *, now: datetime) -> tuple[str, ...]:
    """Name the whole days that end with today, in UTC, oldest first.

    >>> from datetime import UTC
    >>> window(3, now=datetime(2026, 3, 1, 0, 30, tzinfo=UTC))
    ('2026-02-27', '2026-02-28', '2026-03-01')
    """
    return tuple(format_time(now - timedelta(days=ago))[:10] for ago in reversed(range(days)))


def series(ledger: Ledger, days: tuple[str, ...]) -> list[dict[str, Any]]:
    """Give every measure with a count for each day; a day without any counts zero."""
    rows = ledger.query(
        "SELECT measure, day, value FROM day_count WHERE day BETWEEN ? AND ?", [days[0], days[-1]]
    )
    counts = {(measure, day): value for measure, day, value in rows}
    measures: list[dict[str, Any]] = []
    for name, about in MEASURES.items():
        values = [counts.get((name, day), 0) for day in days]
        measures.append({"name": name, "about": about, "total": sum(values), "values": values})
    return measures


def find_first_day(ledger: Ledger) -> str:
    """Name the day of the first record: before it there was nothing to count."""
    first = ledger.record(1)
    assert first is not None  # noqa: S101 - a data root begins with its creation
    return first.time[:10]


def evidence(
    ledger: Ledger, measure: str, *, since: date, until: date, limit: int, before: int | None = None
) -> list[Record]:
    """Give the records that a measure counted on some days, newest day and record first."""
    if measure not in MEASURES:
        raise NotFound(f"{measure[:40]!r} is not counted", next_step=", ".join(MEASURES))
    if since > until:
        raise BadInput("the first day is after the last", next_step="swap since and until")
    rows = ledger.query(
        "SELECT line FROM day_record JOIN record USING (sequence) WHERE measure = ?"
        " AND day BETWEEN ? AND ? AND sequence < ? ORDER BY day DESC, sequence DESC LIMIT ?",
        [measure, since.isoformat(), until.isoformat(), before or 1 << 62, limit],
    )
    return [chain.parse(line) for (line,) in rows]


def choose_measure(record: Record) -> str:
    """Say what a record counts as; nothing, where it follows from one that was counted."""
    if record.type in _BY_TYPE:
        return _BY_TYPE[record.type]
    data = record.data
    if record.type == changes.TESTS_FAILED:  # new tests are meant to fail on the old code
        return "" if verdicts.is_expected_failure(data) else "test_runs_failed"
    if record.type == plans.REJECTED:  # the rejection of its approval counts, if that was the way
        return "" if "approval" in data else "rejected"
    if record.type == budgets.BUDGET_SPENT:  # a start is spent in each scope, and once an actor
        return "starts" if data["scope"] == "actor" else ""
    if record.type == deployments.SWITCHED:
        return "rollbacks" if data.get("kind") == "rollback" and data["replaced"] else ""
    return "calls_ok" if data.get("outcome", {}).get("ok") else "calls_failed"


def count_in(record: Record) -> int:
    """Say how many of its measure a record counts: one of counted refusals tells it."""
    return int(record.data["count"]) if record.type == telemetry.REFUSALS_COUNTED else 1


def _add_to_count(record: Record) -> Iterator[Statement]:
    if measure := choose_measure(record):
        yield _COUNT, (measure, record.time[:10], count_in(record))


def _insert_evidence(record: Record) -> Iterator[Statement]:
    if measure := choose_measure(record):
        yield (
            "INSERT INTO day_record VALUES (?, ?, ?)",
            (measure, record.time[:10], record.sequence),
        )


_COUNT = """
    INSERT INTO day_count VALUES (?, ?, ?)
    ON CONFLICT (day, measure) DO UPDATE SET value = value + excluded.value
"""
TYPES = _BY_CONTENT | _BY_TYPE.keys()

COUNTS = Projection(
    "day counts",
    (
        """CREATE TABLE day_count (
            measure TEXT, day TEXT, value INTEGER, PRIMARY KEY (day, measure)
        ) WITHOUT ROWID""",
    ),
    _add_to_count,
    types=TYPES,
    version=2,
)

RECORDS = Projection(
    "day records",
    (
        """CREATE TABLE day_record (
            measure TEXT, day TEXT, sequence INTEGER, PRIMARY KEY (measure, day, sequence)
        ) WITHOUT ROWID""",
    ),
    _insert_evidence,
    types=TYPES,
    version=2,
)
