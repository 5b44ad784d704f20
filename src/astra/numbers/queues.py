"""What waits, for how long, and for whom: the queues that a person looks at first.

Each names its oldest entry, so that an age on a page leads to the records behind it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from astra.deployments import views as deployments
from astra.plans.states import BLOCKED
from astra.plans.states import State as PlanState
from astra.schedules.views import IS_OPEN
from astra.trusted.approvals.desk import Desk
from astra.trusted.changes.model import State
from astra.trusted.ledger.ports import Ledger

_STANDING = (*sorted(map(str, BLOCKED)), str(PlanState.PAUSED), str(PlanState.DRAFT_PENDING))
Rows = list[tuple[str, str]]
"""Ids with the times since which they wait."""


@dataclass(frozen=True, kw_only=True)
class Queue:
    name: str
    about: str
    waiting: Callable[[Ledger, Desk], Rows]


def queues(ledger: Ledger, desk: Desk) -> list[dict[str, Any]]:
    """Count each queue and name what has waited longest in it; empty ones are told as well."""
    queue_rows: list[dict[str, Any]] = []
    for queue in _QUEUES:
        rows = sorted(queue.waiting(ledger, desk), key=lambda row: row[1])
        oldest, since = rows[0] if rows else (None, None)
        row = {"name": queue.name, "about": queue.about, "count": len(rows)}
        queue_rows.append({**row, "oldest": oldest, "since": since})
    return queue_rows


def _list_decisions(_ledger: Ledger, desk: Desk) -> Rows:
    return [(approval.id, approval.requested_at) for approval in desk.list_by_state()]


def _blocked_plans(ledger: Ledger, _desk: Desk) -> Rows:
    rows = ledger.query(
        "SELECT id, coalesce(updated_at, created_at) FROM plan"  # noqa: S608 - only marks
        f" WHERE state IN ({', '.join('?' * len(_STANDING))})"
        " AND (state != 'draft_pending' OR questions != '[]')",
        _STANDING,
    )
    return [(str(identifier), str(since)) for identifier, since in rows]


def _list_changes(ledger: Ledger, _desk: Desk) -> Rows:
    """Give the open changes that do not wait for a decision: Astra itself is at work on them."""
    rows = ledger.query(
        "SELECT change.id, record.time FROM change JOIN record USING (sequence)"
        " WHERE state IN (?, ?, ?)",
        [State.GATHERING.value, State.GRANTED.value, State.APPROVED.value],
    )
    return [(str(identifier), str(since)) for identifier, since in rows]


def _list_firings(ledger: Ledger, _desk: Desk) -> Rows:
    return _query_rows(ledger, f"SELECT id, fire_time FROM firing WHERE {IS_OPEN}")  # noqa: S608 - fixed


def _list_deployments(ledger: Ledger, _desk: Desk) -> Rows:
    deployment = deployments.open_deployment(ledger)
    return [(deployment.id, deployment.requested_at)] if deployment else []


def _query_rows(ledger: Ledger, query: str) -> Rows:
    return [(str(row[0]), str(row[1])) for row in ledger.query(query)]


_QUEUES = (
    Queue(name="decisions", about="requests that wait for you", waiting=_list_decisions),
    Queue(name="blocked_plans", about="plans that wait for you", waiting=_blocked_plans),
    Queue(name="changes", about="changes being scanned, tested or merged", waiting=_list_changes),
    Queue(name="firings", about="scheduled runs that are not over", waiting=_list_firings),
    Queue(name="deployments", about="deployments under way", waiting=_list_deployments),
)
