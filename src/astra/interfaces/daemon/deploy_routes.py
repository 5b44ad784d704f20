"""Releases and deployments over HTTP. Whatever changes what serves takes the operator's word."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Query

from astra.bootstrap.runtime import Runtime
from astra.deployments import events, views
from astra.deployments.changes import FailedChanges
from astra.deployments.fleet import views as fleet_views
from astra.interfaces.daemon.models import Page
from astra.interfaces.daemon.parameters import LARGEST_PAGE, Limit
from astra.interfaces.daemon.work_models import (
    DeploymentShown,
    DeployOrder,
    FleetShown,
    ReleaseShown,
    RollbackContent,
)
from astra.trusted.kernel.errors import NotFound
from astra.trusted.policy.authority import Signed

Change = Annotated[str | None, Query()]
Behind = Annotated[str | None, Query(description="the `next` of the page before")]


def add(app: FastAPI, runtime: Runtime) -> None:
    _add_read_routes(app, runtime)
    _add_fleet_route(app, runtime)
    _add_deploy_routes(app, runtime)


def _add_read_routes(app: FastAPI, runtime: Runtime) -> None:
    ledger = runtime.ledger

    @app.get("/api/releases", response_model=Page[ReleaseShown])
    def list_releases(
        *,
        every: Annotated[bool, Query()] = False,
        limit: Limit = LARGEST_PAGE,
        cursor: Behind = None,
    ) -> dict[str, Any]:
        releases, following = views.release_page(ledger, every=every, limit=limit, before=cursor)
        items = [
            {**release.as_dict(), "about": _name_change(runtime, release.commit_id)}
            for release in releases
        ]
        return {"items": items, "next": following}

    @app.get("/api/deployments", response_model=Page[DeploymentShown])
    def list_deployments(limit: Limit = 100, cursor: Behind = None) -> dict[str, Any]:
        deployments, following = views.deployment_page(ledger, limit=limit, before=cursor)
        return {"items": [_show(runtime, item) for item in deployments], "next": following}

    @app.get("/api/deployments/order", response_model=DeployOrder)
    def show_order(change: Change = None) -> dict[str, Any]:
        """Say what a deployment would take, and what an operator would sign for it."""
        verdict = runtime.deployer.requests.approved.may_deploy(change)
        facts = {name: value for name, value in verdict.__dict__.items() if name != "next_step"}
        twin = runtime.deployer.find_live_twin(verdict.commit)
        facts["live"] = twin.id if twin else ""
        return {
            **facts,
            "waves": runtime.deployer.work.fleet.preview_waves(),
            "quarantined": views.quarantine_reason(ledger, verdict.commit),
            "to_revert": FailedChanges(runtime.changes).list_contained(verdict),
        }

    @app.get("/api/deployments/{identifier}", response_model=DeploymentShown)
    def show_deployment(identifier: str) -> dict[str, Any]:
        deployment = views.deployment(ledger, identifier)
        if deployment is None:
            raise NotFound(f"there is no deployment {identifier[:100]}", next_step="astra releases")
        revert = FailedChanges(runtime.changes).find_taken_back(deployment)
        rollout = fleet_views.find_rollout(ledger, deployment.id)
        instances = rollout.describe_instances() if rollout else {}
        return {**_show(runtime, deployment), "revert": revert, "instances": instances}

    @app.get("/api/rollback", response_model=RollbackContent)
    def show_rollback(
        *,
        release: Annotated[str | None, Query()] = None,
        keep_state: Annotated[bool, Query()] = False,
    ) -> dict[str, Any]:
        """Say what an operator would sign to go back."""
        target, serving = runtime.deployer.requests.choose(release), views.live_release(ledger)
        return events.rollback_content(
            release=target.id, serving=serving.id if serving else "", keep_state=keep_state
        )


def _show(runtime: Runtime, deployment: views.Deployment) -> dict[str, Any]:
    """Give a deployment with what it brought, and what serves again where it was taken back."""
    target = deployment.rollback_to
    back = views.release(runtime.ledger, target) if target else None
    return {
        **deployment.as_dict(),
        "about": _name_change(runtime, deployment.commit_id),
        "rollback_about": _name_change(runtime, back.commit_id) if back else "",
    }


def _name_change(runtime: Runtime, commit: str) -> str:
    change = runtime.changes.book.find_by_commit(commit)
    return change.purpose if change else ""


def _add_fleet_route(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/fleet", response_model=FleetShown)
    def show_fleet() -> dict[str, Any]:
        """Say what each instance of the fleet runs, and how far the newest rollout is."""
        fleet_work = runtime.deployer.work.fleet
        present = fleet_work.find_present() if fleet_work.is_on() else frozenset[str]()
        return fleet_views.describe_fleet(runtime.ledger, fleet_work.fleet(), present)


def _add_deploy_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/deployments", response_model=DeploymentShown)
    def deploy(
        authority: Annotated[dict[str, Any], Body()],
        change: Annotated[str | None, Body()] = None,
    ) -> dict[str, Any]:
        operator_signature = Signed.read(authority)
        return runtime.deployer.deploy(
            change, actor="operator", signed=operator_signature
        ).as_dict()

    @app.post("/api/rollback", response_model=DeploymentShown)
    def roll_back(
        authority: Annotated[dict[str, Any], Body()],
        release: Annotated[str | None, Body()] = None,
    ) -> dict[str, Any]:
        return runtime.deployer.roll_back(release, Signed.read(authority)).as_dict()
