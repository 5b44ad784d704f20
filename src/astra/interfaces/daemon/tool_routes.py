"""Tools and approvals over HTTP. A caller on the socket is an agent, unless a signature speaks."""

from typing import Annotated, Any, Literal

from fastapi import Body, FastAPI, Query, Request

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import (
    ApprovalDecided,
    ApprovalDetails,
    ApprovalShown,
    Page,
    ToolShown,
)
from astra.interfaces.daemon.parameters import LARGEST_PAGE, Cursor, Limit, Off, parse_names
from astra.trusted.calls.counter import Request as ToolRequest
from astra.trusted.calls.registry import AnyTool
from astra.trusted.door.requests import caller, limits, principal
from astra.trusted.policy import permissions
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.call import Actor, Role

Wanted = Literal["pending", "approved", "rejected", "expired", "used", "stale", "all"]


def add(app: FastAPI, runtime: Runtime) -> None:
    _add_tool_routes(app, runtime)
    _add_approval_routes(app, runtime)


def describe(tool: AnyTool) -> dict[str, Any]:
    return {
        "name": tool.underscored,
        "tier": int(tool.tier),
        "title": tool.title,
        "description": tool.description,
        "available": tool.available,
        "input_schema": tool.input.model_json_schema(),
        "output_schema": tool.output.model_json_schema(),
    }


def run_tool(
    runtime: Runtime, request: Request, name: str, arguments: dict[str, Any], *, off: str
) -> dict[str, Any]:
    """Call a tool for whoever is at the other end."""
    tool_request = ToolRequest(
        name=name,
        arguments=arguments,
        actor=find_actor(request),
        off=parse_names(off),
        limits=limits(request),
    )
    return runtime.counter.call(tool_request)


def find_actor(request: Request) -> Actor:
    """Name who calls a tool here: an agent, whoever else they are, or a service."""
    who = principal(request)
    is_service = who is not None and who.role is Role.SERVICE
    role = Role.SERVICE if is_service else Role.AGENT
    return Actor(role=role, name=caller(request), door="http")


def _add_tool_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/tools", response_model=Page[ToolShown])
    def list_tools(request: Request, astra_off: Off = "") -> dict[str, Any]:
        flags = runtime.switches.read_states(off=parse_names(astra_off))
        token_limits = limits(request)
        visible = [
            tool
            for tool in runtime.counter.registry.list_visible(flags, operator=False)
            if not token_limits.find_tool_objection(tool.name, int(tool.tier))
        ]
        return {"items": [describe(tool) for tool in visible], "next": None}

    @app.post("/api/tools/{name}")
    def call_tool(
        request: Request,
        name: str,
        arguments: Annotated[dict[str, Any] | None, Body()] = None,
        astra_off: Off = "",
    ) -> dict[str, Any]:
        return run_tool(runtime, request, name, arguments or {}, off=astra_off)


def _add_approval_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/approvals", response_model=Page[ApprovalShown])
    def list_approvals(
        state: Annotated[Wanted, Query()] = "pending",
        limit: Limit = LARGEST_PAGE,
        cursor: Cursor = None,
        *,
        newest: Annotated[bool, Query(description="the newest first")] = False,
    ) -> dict[str, Any]:
        approvals, following = runtime.desk.page(
            state=state, limit=limit, cursor=cursor, newest=newest
        )
        return {"items": [approval.as_dict() for approval in approvals], "next": following}

    @app.get("/api/approvals/{identifier}", response_model=ApprovalDetails)
    def show_approval(identifier: str) -> dict[str, Any]:
        approval = runtime.desk.details(identifier)
        return {**approval, "smaller_calls": _list_smaller_calls(runtime, approval)}

    @app.post("/api/approvals/{identifier}/check", response_model=ApprovalShown)
    def check_approval(
        identifier: str, terms: Annotated[dict[str, Any], Body(embed=True)]
    ) -> dict[str, Any]:
        """Refuse at once what a signature on these terms would be refused for; decides nothing."""
        return runtime.desk.check_grant(identifier, terms).as_dict()

    @app.post("/api/approvals/{identifier}/approve", response_model=ApprovalDecided)
    def approve(
        identifier: str, authority: Annotated[dict[str, Any], Body(embed=True)]
    ) -> dict[str, Any]:
        record = runtime.desk.grant(identifier, Signed.read(authority))
        runtime.shelf.export(identifier)
        runtime.planning.plans.fulfil(identifier)
        runtime.goals.adoption.fulfil(identifier)
        runtime.goals.of_desires.fulfil(identifier)
        return {**runtime.desk.get(identifier).as_dict(), "sequence": record.sequence}

    @app.post("/api/approvals/{identifier}/reject", response_model=ApprovalDecided)
    def reject(
        request: Request, identifier: str, reason: Annotated[str, Body(embed=True)]
    ) -> dict[str, Any]:
        record = runtime.desk.reject(identifier, reason, actor=caller(request))
        return {**runtime.desk.get(identifier).as_dict(), "sequence": record.sequence}


def _list_smaller_calls(runtime: Runtime, approval: dict[str, Any]) -> list[str]:
    """Name the calls of the same tool that would pass now, for a lone call that waits."""
    if approval["kind"] != "tool_call" or approval["state"] != "pending":
        return []
    tool = approval["details"]["tool"]
    usable = permissions.list_usable(runtime.ledger, tool, now=runtime.clock.now())
    return [str(permission) for permission in usable]
