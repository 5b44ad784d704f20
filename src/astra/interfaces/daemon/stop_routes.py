"""Stop and start over HTTP: stopping is free, starting again takes the operator's signature."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Request

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Accepted, Recorded, Stopped, StopShown
from astra.trusted.door.requests import caller
from astra.trusted.policy.authority import Signed
from astra.trusted.stop import report as stop_report


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/stop", response_model=StopShown)
    def show_stop() -> dict[str, Any]:
        stop_id, report = runtime.stops.in_force()
        return {"stopped": runtime.stops.stopped(), "stop": stop_id, "report": report}

    @app.post("/api/stop", response_model=Stopped)
    def stop_all(
        request: Request,
        keep_app: Annotated[bool, Body(embed=True)] = False,  # noqa: FBT002 - a JSON member
    ) -> dict[str, Any]:
        stop_id, done = stop_report.stop_now(runtime.root.path, keep_app=keep_app)
        recorded = runtime.stops.record(actor=caller(request))
        return {"stop": stop_id, "recorded": recorded, **stop_report.as_dict(done)}

    @app.post("/api/stop/record")
    def record_stop(request: Request) -> Recorded:
        return Recorded(recorded=runtime.stops.record(actor=caller(request)))

    @app.post("/api/start")
    def start_again(
        stop: Annotated[str, Body()], authority: Annotated[dict[str, Any], Body()]
    ) -> Accepted:
        record = runtime.stops.start_again(stop, Signed.read(authority))
        return Accepted(sequence=record.sequence)
