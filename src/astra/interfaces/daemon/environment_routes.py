"""Environments over HTTP: what each takes, and who uses it; removing is for the socket."""

from datetime import datetime
from typing import Any

from fastapi import FastAPI
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Shape


class EnvironmentShown(Shape):
    name: str = Field(description="a digest over the lock files, the recipe and the interpreter")
    bytes: int
    packages: int
    used_at: datetime = Field(description="when it was last asked for")
    used_by: list[str] = Field(description="releases, changes and the branch; empty: may go")


class EnvironmentList(Shape):
    items: list[EnvironmentShown]


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/environments", response_model=EnvironmentList)
    def list_environments() -> dict[str, Any]:
        return {
            "items": [stored.as_dict() for stored in runtime.environment_store.list_environments()]
        }

    @app.delete("/api/environments", response_model=EnvironmentList)
    def remove_unused_environments() -> dict[str, Any]:
        """Remove every environment that nothing uses."""
        return {"items": [stored.as_dict() for stored in runtime.environment_store.remove_unused()]}

    @app.delete("/api/environments/{name}", response_model=EnvironmentShown)
    def remove_environment(name: str) -> dict[str, Any]:
        """Remove one environment, unless something uses it."""
        return runtime.environment_store.remove(name).as_dict()
