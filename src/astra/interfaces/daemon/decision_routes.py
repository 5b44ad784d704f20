"""What a decision rests on, over HTTP: the facts of a change, and live against proposed."""

from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.deployments.decision_facts import DecisionFacts, Tone
from astra.deployments.live_difference import LiveDifference
from astra.interfaces.daemon.models import Shape


class FactShown(Shape):
    name: str
    text: str
    tone: Tone
    red: bool = Field(description="a reader should stop here")
    term: str | None = Field(description="the term of the signature that names it, or null")
    value: str | None = Field(description="what that term says")
    with_deploy: bool = Field(description="counts only where the approval includes the deploy")


class LiveShown(Shape):
    release: str
    commit: str


class CommitShown(Shape):
    commit: str
    change: str | None
    reason: str
    tests: str | None


class CarryOverShown(Shape):
    """The base moved, and this round is the change on the new base."""

    at: str
    previous_base: str
    onto: str
    signed_before: bool


class FactsShown(Shape):
    """Everything that matters before somebody signs for a change."""

    id: str
    commit: str
    base: str
    target_branch: str
    behind: int = Field(description="commits that the branch has on top of the base, at most 50")
    blocked: bool = Field(description="a finding that the signed configuration blocks on")
    facts: list[FactShown]
    live: LiveShown | None
    waiting: list[CommitShown] = Field(description="merged before it, and not live yet")
    carried_over: CarryOverShown | None


class ContainedShown(Shape):
    commit: str
    reason: str


class AttemptShown(Shape):
    deployment: str
    kind: str
    state: str
    reason: str
    requested_at: str
    rehearsed_at: str | None
    correlation: str


class LiveDifferenceShown(Shape):
    """What putting a commit into service would change there."""

    live: LiveShown | None
    commit: str
    diff: str
    truncated: bool
    is_ahead: bool = Field(description="false where the live commit is not below it")
    commits: list[CommitShown] = Field(description="in it and not live yet, the newest first")
    more: bool = Field(description="there are more commits than are listed")
    quarantined: str
    contains: list[ContainedShown]
    history: list[AttemptShown] = Field(description="earlier deployments of the same commit")


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/changes/{identifier}/decision", response_model=FactsShown)
    def show_decision_facts(identifier: str) -> dict[str, Any]:
        """Say what matters before somebody signs for a change."""
        waves = runtime.deployer.work.fleet.preview_waves()
        facts = DecisionFacts(changes=runtime.changes, ledger=runtime.ledger, waves=waves)
        return facts.describe(identifier)

    @app.get("/api/deployments/order/difference", response_model=LiveDifferenceShown)
    def show_live_difference(change: Annotated[str | None, Query()] = None) -> dict[str, Any]:
        """Compare what is live with what would be live after a deployment."""
        verdict = runtime.deployer.requests.approved.may_deploy(change)
        difference = LiveDifference(changes=runtime.changes, ledger=runtime.ledger)
        return difference.describe(verdict.commit)
