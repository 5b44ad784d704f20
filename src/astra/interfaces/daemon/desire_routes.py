"""Desires, the awareness feed and goals over HTTP: the tools, by routes of their own."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request

from astra.bootstrap.runtime import Runtime
from astra.goals.book import Goals
from astra.interfaces.daemon.models import GoalShown, Page
from astra.interfaces.daemon.tool_routes import called
from astra.interfaces.daemon.work_models import DesireShown
from astra.tools.awareness import Feed
from astra.tools.desires import Never, Pruned, Suggestions
from astra.trusted.door.requests import Off
from astra.trusted.kernel.paging import LARGEST_PAGE

Document = dict[str, Any]


def add(app: FastAPI, runtime: Runtime) -> None:
    _reading(app, runtime)
    _writing(app, runtime)
    _goals(app, runtime)


def _reading(app: FastAPI, runtime: Runtime) -> None:
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
        asked = _given(
            limit=limit,
            min_strength=min_strength,
            tag=tag,
            search=search,
            faded=faded,
            cursor=cursor,
        )
        return called(runtime, request, "astra.desires.list", asked, off=astra_off)

    @app.get("/api/desires/suggestions", response_model=Suggestions)
    def suggest_promotions(
        request: Request, limit: Annotated[int | None, Query()] = None, astra_off: Off = ""
    ) -> Document:
        asked = _given(limit=limit)
        return called(runtime, request, "astra.desires.suggest", asked, off=astra_off)

    @app.get("/api/desires/{identifier}", response_model=DesireShown)
    def show_desire(request: Request, identifier: str, astra_off: Off = "") -> Document:
        asked = {"id": identifier}
        return called(runtime, request, "astra.desires.show", asked, off=astra_off)

    @app.get("/api/awareness", response_model=Feed)
    def read_awareness(
        request: Request,
        *,
        kind: Annotated[str | None, Query()] = None,
        limit: Annotated[int | None, Query()] = None,
        cursor: Annotated[str | None, Query()] = None,
        astra_off: Off = "",
    ) -> Document:
        asked = _given(kind=kind, limit=limit, cursor=cursor)
        return called(runtime, request, "astra.awareness.read", asked, off=astra_off)


def _writing(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/desires", response_model=DesireShown)
    def record_desire(
        request: Request, desire: Annotated[Document, Body()], astra_off: Off = ""
    ) -> Document:
        return called(runtime, request, "astra.desires.record", desire, off=astra_off)

    @app.post("/api/desires/prune", response_model=Pruned)
    def prune_desires(request: Request, astra_off: Off = "") -> Document:
        return called(runtime, request, "astra.desires.prune", {}, off=astra_off)

    @app.post("/api/desires/{identifier}/reinforce", response_model=DesireShown)
    def reinforce_desire(
        request: Request,
        identifier: str,
        amount: Annotated[float | None, Body(embed=True)] = None,
        astra_off: Off = "",
    ) -> Document:
        asked = {"id": identifier, **_given(amount=amount)}
        return called(runtime, request, "astra.desires.reinforce", asked, off=astra_off)

    @app.post("/api/desires/{identifier}/promote", response_model=Never)
    def ask_for_promotion(request: Request, identifier: str, astra_off: Off = "") -> Document:
        asked = {"id": identifier}
        return called(runtime, request, "astra.desires.promote", asked, off=astra_off)


def _goals(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/goals", response_model=Page[GoalShown])
    def list_goals(
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50,
        after: Annotated[int, Query(ge=0, lt=1 << 63)] = 0,
    ) -> Document:
        found, cursor = Goals(runtime.ledger).listed(limit=limit, after=after)
        return {"items": [goal.as_dict() for goal in found], "next": cursor}

    @app.get("/api/goals/{identifier}", response_model=GoalShown)
    def show_goal(identifier: str) -> Document:
        return Goals(runtime.ledger).get(identifier).as_dict()


def _given(**asked: Any) -> Document:
    return {name: value for name, value in asked.items() if value is not None}
