"""Goals over HTTP. Adopting takes a signature; what holds a goal or gives it up does not.

Creating one is an agent's call of a tool, whoever makes it, unless the operator's signature is
with it.
"""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.goals.adoption import OPERATOR
from astra.goals.model import Goal
from astra.interfaces.daemon.models import ApprovalDetails, Page, Shape
from astra.interfaces.daemon.parameters import Off, ReadAs
from astra.interfaces.daemon.tool_routes import run_tool
from astra.tools.goals import CreateArguments, GoalAnswer, GoalDetails, GoalTask
from astra.trusted.door.requests import caller
from astra.trusted.kernel.paging import LARGEST_PAGE
from astra.trusted.policy.authority import Signed

Document = dict[str, Any]


class GoalGiven(CreateArguments):
    authority: Document | None = Field(
        default=None, description="a signature over the content, where it is the operator's own"
    )


CREATE = "astra.goals.create"


class GraphEdge(Shape):
    source: str = Field(alias="from")
    target: str = Field(alias="to")


class GoalContent(Shape):
    """What the operator signs to propose a goal: all of it, in its one spelling."""

    text: str
    category: str
    task: str
    criteria: list[dict[str, str]]
    deadline: str | None
    budget: dict[str, int | str]
    priority: int
    parent: str | None
    source: str


class GoalGraph(Shape):
    goal: str
    state: str
    method: str
    methods_digest: str
    proposed_by: str
    manifest: dict[str, list[str]]
    will_still_ask: list[str]
    nodes: list[GoalTask]
    edges: list[GraphEdge]


def add(app: FastAPI, runtime: Runtime) -> None:
    _add_read_routes(app, runtime)
    _add_decision_routes(app, runtime)
    _add_control_routes(app, runtime)


def _add_read_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/goals", response_model=Page[GoalAnswer])
    def list_goals(
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50,
        after: Annotated[int, Query(ge=0, lt=1 << 63)] = 0,
    ) -> Document:
        goals, cursor = runtime.goals.book.list_goals(limit=limit, after=after)
        return {"items": [goal.as_dict() for goal in goals], "next": cursor}

    @app.get("/api/goals/{identifier}", response_model=GoalDetails)
    def show_goal(identifier: str) -> Document:
        return runtime.goals.describe_goal(identifier)

    @app.get("/api/goals/{identifier}/graph", response_model=GoalGraph)
    def show_graph(identifier: str) -> Document:
        return runtime.goals.describe_graph(identifier)


def _add_decision_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/goals", response_model=GoalDetails)
    def create_goal(
        request: Request, goal: Annotated[Document, Body(), ReadAs(GoalGiven)], astra_off: Off = ""
    ) -> Document:
        """Propose a goal: with `authority`, a signature over its content, as the operator's own."""
        if "authority" not in goal:
            return run_tool(runtime, request, CREATE, goal, off=astra_off)
        return _create_signed(runtime, goal)

    @app.post("/api/goals/content", response_model=GoalContent)
    def spell_goal(goal: Annotated[Document, Body(), ReadAs(CreateArguments)]) -> Document:
        """Give what the operator would sign to propose a goal as their own; nothing changes."""
        fields = _read_arguments(runtime, goal)
        return runtime.goals.adoption.read_fields(fields, source=OPERATOR)

    @app.post("/api/goals/{identifier}/approval", response_model=ApprovalDetails)
    def ask_for_adoption(identifier: str) -> Document:
        """Name the approval of exactly this goal and graph, asking for it where none waits."""
        return runtime.desk.details(runtime.goals.adoption.ask(identifier))


def _add_control_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/goals/{identifier}/run", response_model=GoalDetails)
    def run_goal(request: Request, identifier: str) -> Document:
        return _show(runtime, runtime.goals.control.resume(identifier, actor=caller(request)))

    @app.post("/api/goals/{identifier}/pause", response_model=GoalDetails)
    def pause_goal(request: Request, identifier: str) -> Document:
        return _show(runtime, runtime.goals.control.pause(identifier, actor=caller(request)))

    @app.post("/api/goals/{identifier}/close", response_model=GoalDetails)
    def close_goal(request: Request, identifier: str) -> Document:
        return _show(runtime, runtime.goals.control.close(identifier, actor=caller(request)))

    @app.post("/api/goals/{identifier}/reopen", response_model=GoalDetails)
    def reopen_goal(request: Request, identifier: str) -> Document:
        return _show(runtime, runtime.goals.control.reopen(identifier, actor=caller(request)))

    @app.post("/api/goals/{identifier}/retry", response_model=GoalDetails)
    def retry_goal(
        request: Request, identifier: str, node: Annotated[str | None, Body(embed=True)] = None
    ) -> Document:
        goal = runtime.goals.control.retry(identifier, node, actor=caller(request))
        return _show(runtime, goal)

    @app.post("/api/goals/{identifier}/abandon", response_model=GoalDetails)
    def abandon_goal(
        request: Request, identifier: str, reason: Annotated[str, Body(embed=True)]
    ) -> Document:
        goal = runtime.goals.control.abandon(identifier, reason, actor=caller(request))
        return _show(runtime, goal)


def _create_signed(runtime: Runtime, document: Document) -> Document:
    fields = {name: value for name, value in document.items() if name != "authority"}
    goal = runtime.goals.adoption.create_signed(
        _read_arguments(runtime, fields),
        Signed.read(document["authority"]),
        now=runtime.clock.now(),
    )
    return _show(runtime, goal)


def _read_arguments(runtime: Runtime, document: Document) -> Document:
    """Read a goal as the tool does: what is no field of one, or too long, is refused."""
    fields = {name: value for name, value in document.items() if name != "source"}
    tool = runtime.counter.registry.find(CREATE)
    return tool.parse(fields).model_dump(mode="json")


def _show(runtime: Runtime, goal: Goal) -> Document:
    return runtime.goals.describe_goal(goal.id)
