"""Releases and deployments over HTTP. Whatever changes what serves takes the operator's word."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Query

from astra.bootstrap.runtime import Runtime
from astra.deployments import events, views
from astra.interfaces.daemon.models import Page
from astra.interfaces.daemon.work_models import (
    DeploymentShown,
    DeployOrder,
    ReleaseShown,
    RollbackContent,
)
from astra.trusted.door.requests import LARGEST_PAGE, Limit
from astra.trusted.kernel.errors import NotFound
from astra.trusted.policy.authority import Signed

Change = Annotated[str | None, Query()]
Behind = Annotated[str | None, Query(description="the `next` of the page before")]


def add(app: FastAPI, runtime: Runtime) -> None:
    _reading(app, runtime)
    _changing(app, runtime)


def _reading(app: FastAPI, runtime: Runtime) -> None:
    ledger = runtime.ledger

    @app.get("/api/releases", response_model=Page[ReleaseShown])
    def list_releases(
        *,
        every: Annotated[bool, Query()] = False,
        limit: Limit = LARGEST_PAGE,
        cursor: Behind = None,
    ) -> dict[str, Any]:
        found, following = views.release_page(ledger, every=every, limit=limit, before=cursor)
        return {"items": [release.as_dict() for release in found], "next": following}

    @app.get("/api/deployments", response_model=Page[DeploymentShown])
    def list_deployments(limit: Limit = 100, cursor: Behind = None) -> dict[str, Any]:
        found, following = views.deployment_page(ledger, limit=limit, before=cursor)
        return {"items": [deployment.as_dict() for deployment in found], "next": following}

    @app.get("/api/deployments/order", response_model=DeployOrder)
    def show_order(change: Change = None) -> dict[str, Any]:
        """Say what a deployment would take, and what an operator would sign for it."""
        verdict = runtime.deployer.requests.approved.may_deploy(change)
        facts = {name: value for name, value in verdict.__dict__.items() if name != "next_step"}
        return {**facts, "quarantined": views.quarantined(ledger, verdict.commit)}

    @app.get("/api/deployments/{identifier}", response_model=DeploymentShown)
    def show_deployment(identifier: str) -> dict[str, Any]:
        found = views.deployment(ledger, identifier)
        if found is None:
            raise NotFound(f"there is no deployment {identifier[:100]}", next_step="astra releases")
        return found.as_dict()

    @app.get("/api/rollback", response_model=RollbackContent)
    def show_rollback(release: Annotated[str | None, Query()] = None) -> dict[str, Any]:
        """Say what an operator would sign to go back."""
        target, serving = runtime.deployer.requests.choose(release), views.live(ledger)
        return events.rollback_content(release=target.id, serving=serving.id if serving else "")


def _changing(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/deployments", response_model=DeploymentShown)
    def deploy(
        authority: Annotated[dict[str, Any], Body()],
        change: Annotated[str | None, Body()] = None,
    ) -> dict[str, Any]:
        signed = Signed.read(authority)
        return runtime.deployer.deploy(change, actor="operator", signed=signed).as_dict()

    @app.post("/api/rollback", response_model=DeploymentShown)
    def roll_back(
        authority: Annotated[dict[str, Any], Body()],
        release: Annotated[str | None, Body()] = None,
    ) -> dict[str, Any]:
        return runtime.deployer.roll_back(release, Signed.read(authority)).as_dict()
