"""The record of a deployment that failed, and the blame that goes with it."""

from collections.abc import Sequence
from typing import Any

from astra.deployments import events, views
from astra.deployments.views import Deployment
from astra.deployments.watching import Trouble
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

MOST_TEXT = 2000


def make_failure_batch(
    ledger: Ledger,
    deployment: Deployment,
    trouble: Trouble,
    *,
    stage: str,
    rolls_back: bool,
    rollback_to: str | None,
    output: str,
    facts: dict[str, Any] | None = None,
) -> list[Event]:
    """Give the failure and, where the release is to blame, the quarantine of its commits."""
    data = {
        "release": deployment.release,
        "stage": stage,
        "reason": trouble.reason[:MOST_TEXT],
        "blamed": trouble.blamed,
        "rolls_back": rolls_back,
        "rollback_to": rollback_to,
        "said": output,
        **(facts or {}),
    }
    batch = [make_event(events.FAILED, deployment, data)]
    # A commit that stayed healthy before is not what failed now: its settings are.
    was_proven = views.is_proven(ledger, deployment.commit_id)
    if trouble.blamed and deployment.kind == "deploy" and not was_proven:
        reason = f"{stage}: {trouble.reason}"[:MOST_TEXT]
        for commit in _list_blamed_commits(ledger, deployment):
            blame = {"commit": commit, "reason": reason}
            batch.append(make_event(events.QUARANTINED, deployment, blame))
    return batch


def make_event(type_: str, deployment: Deployment, data: dict[str, Any]) -> Event:
    """Give an event of a deployment's own story."""
    return Event(
        type=type_,
        actor="daemon",
        data={"deployment": deployment.id, "kind": deployment.kind, **data},
        correlation=deployment.correlation,
        subject=deployment.id,
    )


def _list_blamed_commits(ledger: Ledger, deployment: Deployment) -> Sequence[str]:
    """Blame what failed before and was deployed again; what stands on top of it is not."""
    failed_before = views.failed_commits_inside(ledger, deployment.id)
    return failed_before or (deployment.commit_id,)
