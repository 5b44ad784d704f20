"""The workers of a shared chain, to look at."""

from typing import Any

from fastapi import FastAPI

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import WorkersShown


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/workers", response_model=WorkersShown)
    def show_workers() -> dict[str, Any]:
        return {"items": [worker.as_dict() for worker in runtime.workers.list_workers()]}
