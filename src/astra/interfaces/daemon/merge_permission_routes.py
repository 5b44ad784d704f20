"""Standing permissions for changes over HTTP: look, add with a signature, remove freely."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Request

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Page, Shape
from astra.interfaces.daemon.permission_routes import PermissionChanged
from astra.trusted.changes import merge_permissions
from astra.trusted.door.requests import caller
from astra.trusted.policy.authority import Signed


class MergeScope(Shape):
    """What a permission is to cover, and under which conditions."""

    paths: list[str]
    until: str
    uses: int
    most_files: int
    most_lines: int
    mutants: int
    deploy: bool
    plan: str = ""
    """The plan whose changes alone it covers; any where it is empty."""


class MergePermissionContent(MergeScope):
    """What the operator signs, in its one spelling, with the sentence that says it."""

    permission: str
    words: str


class MergePermissionShown(MergeScope):
    id: str
    words: str
    used: int
    left: int
    added_at: str
    state: str


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/merge-permissions", response_model=Page[MergePermissionShown])
    def list_merge_permissions() -> dict[str, Any]:
        """List the standing permissions for changes, and what is left of each."""
        standing = merge_permissions.list_all(runtime.ledger, now=runtime.clock.now())
        return {"items": [permission.as_dict() for permission in standing], "next": None}

    @app.post("/api/merge-permissions/content", response_model=MergePermissionContent)
    def spell_merge_permission(scope: Annotated[MergeScope, Body()]) -> dict[str, Any]:
        """Give what the operator would sign for a permission; nothing changes."""
        return merge_permissions.draft_content(**scope.model_dump(), now=runtime.clock.now())

    @app.post("/api/merge-permissions", response_model=PermissionChanged)
    def add_merge_permission(
        content: Annotated[MergePermissionContent, Body()],
        authority: Annotated[dict[str, Any], Body()],
    ) -> dict[str, Any]:
        record = merge_permissions.add(
            runtime.ledger, content.model_dump(), Signed.read(authority), now=runtime.clock.now()
        )
        return {"id": content.permission, "sequence": record.sequence}

    @app.delete("/api/merge-permissions/{identifier}", response_model=PermissionChanged)
    def remove_merge_permission(request: Request, identifier: str) -> dict[str, Any]:
        record = merge_permissions.remove(runtime.ledger, identifier, actor=caller(request))
        return {"id": identifier, "sequence": record.sequence}
