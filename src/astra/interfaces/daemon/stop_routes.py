"""Stop and start over HTTP: stopping is free, starting again takes the operator's signature."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Request

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import (
    Accepted,
    MachineForgotten,
    MachinesShown,
    MachineStopped,
    Recorded,
    Stopped,
    StopShown,
)
from astra.trusted.door.requests import caller
from astra.trusted.policy.authority import Signed


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/stop", response_model=StopShown)
    def show_stop() -> dict[str, Any]:
        stop_id, report = runtime.stops.read_current_stop()
        return {"stopped": runtime.stops.is_stopped(), "stop": stop_id, "report": report}

    @app.post("/api/stop", response_model=Stopped)
    def stop_all(
        request: Request,
        keep_app: Annotated[bool, Body(embed=True)] = False,  # noqa: FBT002 - a JSON member
    ) -> dict[str, Any]:
        return runtime.stops.stop_all(keep_app=keep_app, actor=caller(request))

    @app.post("/api/stop/record")
    def record_stop(request: Request) -> Recorded:
        recorded = runtime.stops.record(actor=caller(request))
        states = runtime.stops.await_machines() if recorded else []
        return Recorded(
            recorded=recorded, machines=[MachineStopped.model_validate(state) for state in states]
        )

    @app.get("/api/machines", response_model=MachinesShown)
    def show_machines() -> dict[str, Any]:
        machines = runtime.machines
        items = [machine.as_dict() for machine in machines.list_machines()]
        return {"own": machines.own_id, "items": items}

    @app.delete("/api/machines/{identifier}")
    def forget_machine(identifier: str) -> MachineForgotten:
        return MachineForgotten(forgotten=runtime.machines.forget(identifier))

    @app.post("/api/start")
    def start_again(
        stop: Annotated[str, Body()], authority: Annotated[dict[str, Any], Body()]
    ) -> Accepted:
        record = runtime.stops.start_again(stop, Signed.read(authority))
        return Accepted(sequence=record.sequence)
