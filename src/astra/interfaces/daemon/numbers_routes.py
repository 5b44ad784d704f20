"""How much of what, day by day, and the records behind each number."""

from datetime import date, timedelta
from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Page, QueueShown, RecordShown, Shape
from astra.interfaces.daemon.parameters import Cursor, Limit
from astra.numbers import budget_usage, daily, queues

_MOST_BUDGETS = 20
Days = Annotated[int, Query(ge=1, le=daily.LONGEST, description="whole days in UTC, with today")]
Day = Annotated[date | None, Query(description="a day in UTC, like 2026-03-29")]


class Series(Shape):
    name: str
    about: str
    total: int
    values: list[int] = Field(description="one for each of `days`")


class BudgetDays(Shape):
    scope: str
    name: str
    limit: int = Field(description="a day, as of the newest start")
    used: list[int] = Field(description="one for each of `days`")
    ids: list[str | None] = Field(
        description="whose story tells that day; none if nothing was used"
    )


class Numbers(Shape):
    days: list[str]
    began: str = Field(description="the day of the first record: before it nothing was counted")
    series: list[Series]
    budgets: list[BudgetDays] = Field(description="of the last seven days, the fullest first")
    other_budgets: int = Field(description="how many more there were in those seven days")
    queues: list[QueueShown] = Field(description="what waits now")


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/metrics", response_model=Numbers)
    def count_days(days: Days = daily.DEFAULT) -> dict[str, Any]:
        ledger, day_names = runtime.ledger, daily.window(days, now=runtime.clock.now())
        fullest, other_count = budget_usage.list_fullest_budgets(
            ledger, day_names, most=_MOST_BUDGETS
        )
        return {
            "days": day_names,
            "began": daily.find_first_day(ledger),
            "series": daily.series(ledger, day_names),
            "budgets": fullest,
            "other_budgets": other_count,
            "queues": queues.queues(ledger, runtime.desk),
        }

    @app.get("/api/metrics/{name}", response_model=Page[RecordShown])
    def list_counted(
        name: str,
        since: Day = None,
        until: Day = None,
        limit: Limit = 100,
        cursor: Cursor = None,
    ) -> dict[str, Any]:
        """List the records that a number counts, the newest first."""
        last = until or runtime.clock.now().date()
        first = since or last - timedelta(days=min(daily.DEFAULT - 1, last.toordinal() - 1))
        records = daily.evidence(
            runtime.ledger, name, since=first, until=last, before=cursor, limit=limit + 1
        )
        following = records[limit - 1].sequence if len(records) > limit else None
        return {
            "items": [RecordShown.show(record) for record in records[:limit]],
            "next": following,
        }
