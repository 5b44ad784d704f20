"""Archiving months of the chain over HTTP: what would leave, and moving it by signature."""

from threading import Lock
from typing import Annotated, Any

from fastapi import Body, FastAPI

from astra.adapters.ledger_archive import LedgerArchive, Order, Plan
from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import ArchiveMoved, ArchivePlanned
from astra.trusted.policy.authority import Signed


def add(app: FastAPI, runtime: Runtime) -> None:
    moving = Lock()

    def archive() -> LedgerArchive:
        return LedgerArchive(runtime.ledger, runtime.root, runtime.clock)

    @app.post("/api/ledger/archive/plan", response_model=ArchivePlanned)
    def plan_archive(
        before: Annotated[str, Body()], to: Annotated[str, Body()], thin: Annotated[bool, Body()]
    ) -> dict[str, Any]:
        """Say which months would leave, and what that saves; nothing is changed."""
        return _show_plan(archive().plan(Order(before=before, to=to, thin=thin)))

    @app.post("/api/ledger/archive", response_model=ArchiveMoved)
    def move_to_archive(
        before: Annotated[str, Body()],
        to: Annotated[str, Body()],
        thin: Annotated[bool, Body()],
        authority: Annotated[dict[str, Any], Body()],
    ) -> dict[str, Any]:
        """Move finished months into an archive; what stays of them is what was signed."""
        order = Order(before=before, to=to, thin=thin)
        with moving:  # a second one finds what the first one left
            record, plan = archive().move(order, Signed.read(authority))
        return {**_show_plan(plan), "sequence": record.sequence}


def _show_plan(plan: Plan) -> dict[str, Any]:
    months = [month.as_dict() for month in plan.months]
    saved = sum(month["saved"] for month in months)
    return {"months": months, "saved": saved, "content": plan.content}
