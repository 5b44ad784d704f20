"""`astra smoke` over HTTP: run it, or look at the last run."""

from typing import Any

from fastapi import FastAPI, Request
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Shape
from astra.tools.operating import SmokeReport
from astra.trusted.door.requests import caller


class LastSmoke(Shape):
    last: SmokeReport | None = Field(description="the newest run, or null where there was none")


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/smoke", response_model=SmokeReport)
    def run_smoke(request: Request) -> dict[str, Any]:
        """Try every part of the running server once, within seconds, and record the outcome."""
        return runtime.smoke.run(actor=caller(request)).as_dict()

    @app.get("/api/smoke")
    def show_last_smoke() -> LastSmoke:
        last = runtime.smoke.find_last()
        return LastSmoke(last=SmokeReport.model_validate(last) if last else None)
