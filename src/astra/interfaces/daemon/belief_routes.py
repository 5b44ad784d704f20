"""Beliefs over HTTP: the tools, by routes of their own; putting one away is the operator's."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Page
from astra.interfaces.daemon.parameters import Off, ReadAs
from astra.interfaces.daemon.tool_routes import run_tool
from astra.tools.beliefs import BeliefAnswer, BeliefDetails, ProposeArguments
from astra.trusted.door.requests import caller

Document = dict[str, Any]


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/beliefs", response_model=Page[BeliefAnswer])
    def query_beliefs(
        request: Request,
        *,
        limit: Annotated[int | None, Query()] = None,
        proposed: Annotated[bool | None, Query()] = None,
        scope: Annotated[str | None, Query()] = None,
        cursor: Annotated[str | None, Query()] = None,
        astra_off: Off = "",
    ) -> Document:
        options = {"limit": limit, "proposed": proposed, "scope": scope, "cursor": cursor}
        arguments = {name: value for name, value in options.items() if value is not None}
        return run_tool(runtime, request, "query_beliefs", arguments, off=astra_off)

    @app.post("/api/beliefs", response_model=BeliefDetails)
    def propose_belief(
        request: Request,
        belief: Annotated[Document, Body(), ReadAs(ProposeArguments)],
        astra_off: Off = "",
    ) -> Document:
        return run_tool(runtime, request, "propose_belief", belief, off=astra_off)

    @app.get("/api/beliefs/{identifier}", response_model=BeliefDetails)
    def reflect_on_belief(request: Request, identifier: str, astra_off: Off = "") -> Document:
        arguments = {"id": identifier}
        return run_tool(runtime, request, "reflect_on_belief", arguments, off=astra_off)

    @app.post("/api/beliefs/{identifier}/deprecate", response_model=BeliefDetails)
    def deprecate_belief(
        request: Request, identifier: str, reason: Annotated[str, Body(embed=True)]
    ) -> Document:
        book = runtime.beliefs.book
        return runtime.beliefs.describe(
            book.deprecate(identifier, reason, actor=caller(request)).id
        )
