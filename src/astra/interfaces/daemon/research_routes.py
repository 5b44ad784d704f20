"""Research over HTTP. Asking is a tool call; looking checks every citation again."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Request

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Page
from astra.interfaces.daemon.parameters import Cursor, Limit, Off, ReadAs
from astra.interfaces.daemon.tool_routes import run_tool
from astra.tools import research
from astra.tools.research import AskArguments

Document = dict[str, Any]


class ResearchBrief(research.SessionBrief):
    sequence: int


class ResearchShown(research.SessionAnswer):
    pass


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/research", response_model=Page[ResearchBrief])
    def list_research(limit: Limit = 50, cursor: Cursor = None) -> Document:
        sessions, following = runtime.research.book.list_sessions(limit=limit, cursor=cursor)
        return {"items": sessions, "next": None if following is None else str(following)}

    @app.post("/api/research", response_model=ResearchShown)
    def ask(
        request: Request,
        question: Annotated[Document, Body(), ReadAs(AskArguments)],
        astra_off: Off = "",
    ) -> Document:
        return run_tool(runtime, request, "research_and_summarize", question, off=astra_off)

    @app.get("/api/research/{identifier}", response_model=ResearchShown)
    def show_research(identifier: str) -> Document:
        return runtime.research.show(identifier)
