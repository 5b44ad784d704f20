"""The clock over HTTP: how it differs from the ledger's time, and accepting it by signature."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Body, FastAPI

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import ClockAccepted, ClockShown
from astra.interfaces.daemon.session_routes import Reception
from astra.trusted.policy import clock_acceptance
from astra.trusted.policy.authority import Signed


def add(app: FastAPI, runtime: Runtime, reception: Reception) -> None:
    def state() -> dict[str, Any]:
        machine = runtime.clock.machine.now()
        return asdict(clock_acceptance.read_state(runtime.ledger, machine=machine))

    @app.get("/api/clock", response_model=ClockShown)
    def show_clock() -> dict[str, Any]:
        return state()

    @app.post("/api/clock/accept", response_model=ClockAccepted)
    def accept_clock(authority: Annotated[dict[str, Any], Body(embed=True)]) -> dict[str, Any]:
        """Let the ledger's time go back to the clock's. What was given for a time is over."""
        operator_signature = Signed.read(authority)
        machine = runtime.clock.machine.now()
        record = clock_acceptance.accept(runtime.ledger, operator_signature, machine=machine)
        reception.forget()
        return {**state(), "sequence": record.sequence}
