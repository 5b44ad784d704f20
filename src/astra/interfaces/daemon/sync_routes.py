"""Commits of people over HTTP: looking fetches and asks; bringing them in takes a signature."""

from typing import Any

from fastapi import FastAPI
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Growing


class IncomingShown(Growing):
    id: str
    author: str
    email: str
    time: str
    subject: str


class SyncShown(Growing):
    """How the upstream stands to the target's branch."""

    state: str = Field(description="up_to_date, awaiting_approval, merged or diverged")
    upstream: str = Field(description="where commits come from; empty where there is no upstream")
    head: str
    tip: str | None
    incoming: list[IncomingShown]
    incoming_total: int
    incoming_later: int = Field(0, description="how many wait behind these, for a later signature")
    approval_id: str | None


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/sync", response_model=SyncShown)
    def show_sync() -> dict[str, Any]:
        """Say how the upstream stands, as it was last fetched."""
        return runtime.sync.show()

    @app.post("/api/sync", response_model=SyncShown)
    def fetch_upstream() -> dict[str, Any]:
        """Fetch the upstream, look at what would come in, and ask for it."""
        return runtime.sync.look()
