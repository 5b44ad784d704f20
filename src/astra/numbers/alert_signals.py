"""What alert rules compare, as far as the ledger knows it."""

from datetime import UTC, datetime, timedelta

from astra.numbers import budget_usage, hourly
from astra.operations import smoke
from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.ledger.ports import Ledger

FEWEST_CALLS, ACTIVE_DAYS = 20, 3
_DAY_HOURS, _WEEK_DAYS, _USUAL_DAYS = 23, 7, 14


def read_signals(
    ledger: Ledger, *, now: datetime, oldest_decision: str | None
) -> dict[str, float | None]:
    """Read every signal that follows from records."""
    return {
        "refusal_share": _compute_refusal_share(ledger, now),
        "tests_failed": _count_day(ledger, "test_runs_failed", now),
        "rollbacks": _count_day(ledger, "rollbacks", now),
        "budget_share": _compute_budget_share(ledger, now),
        "oldest_decision_hours": _compute_seconds_since(oldest_decision, now) / 3600,
        "schedule_lag_seconds": _compute_lag(ledger, _NEXT_RUN, now),
        "step_lag_seconds": _compute_lag(ledger, _NEXT_STEP, now),
        "agent_quiet_hours": _compute_quiet_hours(ledger, now),
        "unusual_calls": _count_unusual(ledger, now),
        "notifications_failed": _count_failed_notices(ledger, now),
        "smoke_failed": _read_smoke(ledger),
    }


def _compute_refusal_share(ledger: Ledger, now: datetime) -> float | None:
    calls = hourly.sum_lately(ledger, hourly.CALLS, hours=1, now=now)
    if calls < FEWEST_CALLS:
        return None
    return hourly.sum_lately(ledger, ["calls_refused"], hours=1, now=now) / calls


def _count_day(ledger: Ledger, measure: str, now: datetime) -> float:
    return float(hourly.sum_lately(ledger, [measure], hours=_DAY_HOURS, now=now))


def _compute_budget_share(ledger: Ledger, now: datetime) -> float:
    rows = budget_usage.list_week_usage(ledger, now=now)
    return max((row["used"] / row["limit"] for row in rows if row["limit"]), default=0.0)


def _compute_lag(ledger: Ledger, query: str, now: datetime) -> float:
    ((due,),) = ledger.query(query)
    return max(_compute_seconds_since(due, now), 0.0)


def _compute_seconds_since(moment: str | None, now: datetime) -> float:
    return (now - parse_time(moment)).total_seconds() if moment else 0.0


def _compute_quiet_hours(ledger: Ledger, now: datetime) -> float | None:
    last = hourly.find_last_hour(ledger, hourly.CALLS)
    if not last:
        return None
    last_hour = datetime.strptime(last, "%Y-%m-%dT%H").replace(tzinfo=UTC)
    after = last_hour + timedelta(hours=1)
    active = hourly.list_active_hours(ledger, "calls_ok", days=_WEEK_DAYS, now=after)
    if len({hour[:10] for hour in active}) < ACTIVE_DAYS:
        return None
    return max((now - last_hour).total_seconds() / 3600, 0.0)


def _count_unusual(ledger: Ledger, now: datetime) -> float | None:
    """Count effects in this hour, where this hour of the day had none on any day before."""
    active = hourly.list_active_hours(ledger, "starts", days=_USUAL_DAYS, now=now)
    if len({hour[:10] for hour in active}) < ACTIVE_DAYS:
        return None
    this_hour = hourly.name_hour(now)
    if any(hour[11:] == this_hour[11:] for hour in active):
        return 0.0
    return float(hourly.sum_lately(ledger, ["starts"], hours=0, now=now))


def _count_failed_notices(ledger: Ledger, now: datetime) -> float:
    """Count what the last attempt could not deliver."""
    ((count,),) = ledger.query(
        "SELECT count(*) FROM notice_try WHERE last > ? AND failed = 1",
        [format_time(now - timedelta(hours=2))],
    )
    return float(count)


def _read_smoke(ledger: Ledger) -> float:
    record = ledger.newest(smoke.FINISHED)
    return float(record is not None and not record.data["ok"])


_NEXT_RUN = "SELECT min(next_run) FROM schedule WHERE next_run IS NOT NULL"
_NEXT_STEP = "SELECT min(due) FROM due_step WHERE due IS NOT NULL"
