"""Going on from an older state over HTTP: it takes the operator's signature, from their key."""

from typing import Annotated, Any

from fastapi import Body, FastAPI

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Accepted, RestoreShown
from astra.trusted.policy.authority import Signed


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/restore")
    def show_restore() -> RestoreShown:
        hold_details = [hold.detail for hold in runtime.ledger.holds]
        return RestoreShown(held=hold_details, content=runtime.restores.content())

    @app.post("/api/restore")
    def sign_restore(
        authority: Annotated[dict[str, Any], Body(embed=True)],
    ) -> Accepted:
        """Go on from here. Open approvals, tokens and sessions are void, and work is stopped."""
        record = runtime.restores.sign(Signed.read(authority))
        return Accepted(sequence=record.sequence)
