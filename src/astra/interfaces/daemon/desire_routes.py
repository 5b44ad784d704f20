"""Desires and the awareness feed over HTTP: the tools, by routes of their own."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import ApprovalDetails, Page
from astra.interfaces.daemon.parameters import Off, ReadAs
from astra.interfaces.daemon.tool_routes import run_tool
from astra.interfaces.daemon.work_models import DesireShown
from astra.tools.awareness import Feed
from astra.tools.desires import Never, Pruned, RecordArguments, Suggestions
from astra.trusted.door.requests import caller

Document = dict[str, Any]


def add(app: FastAPI, runtime: Runtime) -> None:
    _add_read_routes(app, runtime)
    _add_write_routes(app, runtime)


def _add_read_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/desires", response_model=Page[DesireShown])
    def list_desires(
        request: Request,
        *,
        limit: Annotated[int | None, Query()] = None,
        min_strength: Annotated[float | None, Query()] = None,
        tag: Annotated[str | None, Query()] = None,
        search: Annotated[str | None, Query()] = None,
        faded: Annotated[bool | None, Query()] = None,
        cursor: Annotated[str | None, Query()] = None,
        astra_off: Off = "",
    ) -> Document:
        arguments = _drop_unset(
            limit=limit,
            min_strength=min_strength,
            tag=tag,
            search=search,
            faded=faded,
            cursor=cursor,
        )
        return run_tool(runtime, request, "astra.desires.list", arguments, off=astra_off)

    @app.get("/api/desires/suggestions", response_model=Suggestions)
    def suggest_promotions(
        request: Request, limit: Annotated[int | None, Query()] = None, astra_off: Off = ""
    ) -> Document:
        arguments = _drop_unset(limit=limit)
        return run_tool(runtime, request, "astra.desires.suggest", arguments, off=astra_off)

    @app.get("/api/desires/{identifier}", response_model=DesireShown)
    def show_desire(request: Request, identifier: str, astra_off: Off = "") -> Document:
        arguments = {"id": identifier}
        return run_tool(runtime, request, "astra.desires.show", arguments, off=astra_off)

    @app.get("/api/awareness", response_model=Feed)
    def read_awareness(
        request: Request,
        *,
        kind: Annotated[str | None, Query()] = None,
        limit: Annotated[int | None, Query()] = None,
        cursor: Annotated[str | None, Query()] = None,
        astra_off: Off = "",
    ) -> Document:
        arguments = _drop_unset(kind=kind, limit=limit, cursor=cursor)
        return run_tool(runtime, request, "astra.awareness.read", arguments, off=astra_off)


def _add_write_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/desires", response_model=DesireShown)
    def record_desire(
        request: Request,
        desire: Annotated[Document, Body(), ReadAs(RecordArguments)],
        astra_off: Off = "",
    ) -> Document:
        return run_tool(runtime, request, "astra.desires.record", desire, off=astra_off)

    @app.post("/api/desires/prune", response_model=Pruned)
    def prune_desires(request: Request, astra_off: Off = "") -> Document:
        return run_tool(runtime, request, "astra.desires.prune", {}, off=astra_off)

    @app.post("/api/desires/{identifier}/reinforce", response_model=DesireShown)
    def reinforce_desire(
        request: Request,
        identifier: str,
        amount: Annotated[float | None, Body(embed=True)] = None,
        astra_off: Off = "",
    ) -> Document:
        arguments = {"id": identifier, **_drop_unset(amount=amount)}
        return run_tool(runtime, request, "astra.desires.reinforce", arguments, off=astra_off)

    @app.post("/api/desires/{identifier}/promote", response_model=Never)
    def ask_for_promotion(
        request: Request,
        identifier: str,
        *,
        adopt: Annotated[bool, Body(embed=True)] = False,
        astra_off: Off = "",
    ) -> Document:
        arguments = {"id": identifier, "adopt": adopt}
        return run_tool(runtime, request, "astra.desires.promote", arguments, off=astra_off)

    @app.post("/api/desires/{identifier}/approval", response_model=ApprovalDetails)
    def ask_for_adoption(request: Request, identifier: str) -> Document:
        """Name the approval of a desire with its planned goal, asking for it where none waits."""
        approval = runtime.goals.of_desires.ask(identifier, actor=caller(request))
        return runtime.desk.details(approval)


def _drop_unset(**asked: Any) -> Document:
    return {name: value for name, value in asked.items() if value is not None}
