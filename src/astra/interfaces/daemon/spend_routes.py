"""What model calls took today, and how full each cap is."""

from typing import Any

from fastapi import FastAPI
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Shape, SpendGauge


class SpendCap(Shape):
    cap: str
    limit: float
    in_words: str


class SpendRow(Shape):
    name: str
    calls: int
    tokens: int = Field(description="settled, uncertain and reserved together")
    money: float
    reserved_tokens: int
    reserved_money: float
    uncertain_tokens: int
    uncertain_money: float


class UnsettledCall(Shape):
    call: str
    since: str
    model: str
    tokens: int
    money: float
    under_way: bool = Field(description="false: it was cut off, and what it took is not known")


class SpendShown(Shape):
    day: str = Field(description="in UTC")
    currency: str
    caps: list[SpendCap] = Field(
        description="as configured; without one only goals with a budget of money are counted"
    )
    gauges: list[SpendGauge]
    actors: list[SpendRow] = Field(description="of this day")
    goals: list[SpendRow] = Field(description="those that called today, with all they ever took")
    plans: list[SpendRow] = Field(description="those that called today, with all they ever took")
    models: list[SpendRow] = Field(description="of this day")
    unsettled: list[UnsettledCall]


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/spend", response_model=SpendShown)
    def show_spend() -> dict[str, Any]:
        return runtime.spend.describe()
