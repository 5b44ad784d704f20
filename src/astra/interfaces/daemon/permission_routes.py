"""Standing permissions over HTTP: look, add with a signature, remove freely."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Page, Shape
from astra.trusted.calls.registry import AnyTool
from astra.trusted.door.requests import caller
from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy import permissions
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.call import Tier


class PermissionContent(Shape):
    """What the operator signs, in its one spelling."""

    permission: str
    tool: str
    host: str
    method: str
    until: str
    uses: int


class PermissionShown(Shape):
    id: str
    tool: str
    host: str
    method: str
    until: str
    uses: int
    used: int
    left: int
    added_at: str
    state: str


class PermissionChanged(Shape):
    id: str
    sequence: int


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/permissions", response_model=Page[PermissionShown])
    def list_permissions() -> dict[str, Any]:
        """List the standing permissions, and what is left of each."""
        standing = permissions.list_all(runtime.ledger, now=runtime.clock.now())
        return {"items": [permission.as_dict() for permission in standing], "next": None}

    @app.get("/api/permissions/content", response_model=PermissionContent)
    def spell_permission(
        tool: Annotated[str, Query()],
        host: Annotated[str, Query()],
        until: Annotated[str, Query()],
        uses: Annotated[int, Query()],
        method: Annotated[str, Query()] = permissions.DEFAULT_METHOD,
    ) -> dict[str, Any]:
        """Give what the operator would sign for a permission."""
        return permissions.draft_content(
            tool=_require_tool(runtime, tool).name,
            host=host,
            method=method,
            until=until,
            uses=uses,
            now=runtime.clock.now(),
        )

    @app.post("/api/permissions", response_model=PermissionChanged)
    def add_permission(
        content: Annotated[PermissionContent, Body()],
        authority: Annotated[dict[str, Any], Body()],
    ) -> dict[str, Any]:
        _require_tool(runtime, content.tool)
        record = permissions.add(
            runtime.ledger,
            content.model_dump(),
            Signed.read(authority),
            now=runtime.clock.now(),
        )
        return {"id": content.permission, "sequence": record.sequence}

    @app.delete("/api/permissions/{identifier}", response_model=PermissionChanged)
    def remove_permission(request: Request, identifier: str) -> dict[str, Any]:
        record = permissions.remove(runtime.ledger, identifier, actor=caller(request))
        return {"id": identifier, "sequence": record.sequence}


def _require_tool(runtime: Runtime, name: str) -> AnyTool:
    """Give the tool that a permission is for; one that would never be covered is refused."""
    tool = runtime.registry.find(name)
    if tool.tier is Tier.EXTERNAL and tool.name not in permissions.NEVER:
        return tool
    raise BadInput(
        f"{tool.name} takes no standing permission",
        code="bad_permission",
        next_step="permissions are for tools that reach a host, such as fetch_url",
    )
