"""The sandbox over HTTP: turning it off takes the operator's signature, turning it on is free."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Request

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import SandboxShown
from astra.trusted.door.requests import caller
from astra.trusted.policy import confinement
from astra.trusted.policy.authority import Signed


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/sandbox", response_model=SandboxShown)
    def show_sandbox() -> dict[str, Any]:
        """Say what is in force, after the check that may still be under way."""
        runtime.sandbox.preflight()
        return runtime.sandbox.state()

    @app.post("/api/sandbox/off-unsafe", response_model=SandboxShown)
    def allow_off(authority: Annotated[dict[str, Any], Body(embed=True)]) -> dict[str, Any]:
        operator_signature = Signed.read(authority)
        event = confinement.build_allowed_event(
            runtime.ledger, operator_signature, now=runtime.clock.now()
        )
        runtime.ledger.append([event])
        return runtime.sandbox.state()

    @app.post("/api/sandbox/on", response_model=SandboxShown)
    def turn_on(request: Request) -> dict[str, Any]:
        runtime.ledger.append([confinement.build_revoked_event(actor=caller(request))])
        return runtime.sandbox.state()
