"""What was spent of the budgets, by day: for whoever looks, nothing decides by it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from astra.trusted.kernel.clock import format_time
from astra.trusted.ledger.ports import Ledger


def list_consumption(ledger: Ledger, *, days: int = 14) -> list[dict[str, Any]]:
    """Show what was spent a day, newest day first."""
    rows = ledger.query(
        "SELECT day, scope, name, used, allowed FROM budget"
        " WHERE day > date((SELECT max(day) FROM budget), ?)"
        " ORDER BY day DESC, scope, name LIMIT ?",
        [f"-{days} days", days * 100],
    )
    names = ("day", "scope", "name", "used", "limit")
    return [dict(zip(names, row, strict=True)) for row in rows]


def list_week_usage(ledger: Ledger, *, now: datetime) -> list[dict[str, Any]]:
    """Show what was spent on the day of `now`, and on each of the seven days that end with it."""
    days = [format_time(now - timedelta(days=ago))[:10] for ago in reversed(range(7))]
    rows = ledger.query(
        "SELECT scope, name, day, used, allowed FROM budget WHERE day BETWEEN ? AND ?"
        " ORDER BY scope, name, day",
        [days[0], days[-1]],
    )
    usage_by_budget: dict[tuple[str, str], dict[str, Any]] = {}
    for scope, name, day, used, allowed in rows:
        row = usage_by_budget.setdefault(
            (scope, name), {"scope": scope, "name": name, "week": [0] * 7}
        )
        row["week"][days.index(day)] = used
        row["limit"] = allowed
    return [{**row, "day": days[-1], "used": row["week"][-1]} for row in usage_by_budget.values()]


def list_fullest_budgets(
    ledger: Ledger, days: Sequence[str], *, most: int
) -> tuple[list[dict[str, Any]], int]:
    """Give the budgets of the last seven days, fullest first, and how many others there were.

    Each with what every day used, and the id whose story tells it; no id where nothing was used.
    Only the last week is compared, so that the answer takes no longer as the days grow many.
    """
    span = [days[-7:][0], days[-1]]
    names = ledger.query(
        "SELECT scope, name FROM budget WHERE day BETWEEN ? AND ? GROUP BY scope, name"
        " ORDER BY max(used * 1.0 / max(allowed, 1)) DESC, scope, name",
        span,
    )
    return [_read_usage(ledger, days, *name) for name in names[:most]], max(len(names) - most, 0)


def _read_usage(ledger: Ledger, days: Sequence[str], scope: str, name: str) -> dict[str, Any]:
    rows = ledger.query(
        "SELECT day, id, used, allowed FROM budget WHERE scope = ? AND name = ?"
        " AND day BETWEEN ? AND ? ORDER BY day",
        [scope, name, days[0], days[-1]],
    )
    usage_by_day = {day: (identifier, used) for day, identifier, used, _ in rows}
    daily_usage = [usage_by_day.get(day, (None, 0)) for day in days]
    return {
        "scope": scope,
        "name": name,
        "limit": rows[-1][3],
        "used": [used for _, used in daily_usage],
        "ids": [identifier for identifier, _ in daily_usage],
    }
