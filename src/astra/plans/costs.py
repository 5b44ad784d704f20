"""What the checkpoints of a plan took, added up over all of their steps where the rows are."""

from typing import Any

from astra.trusted.ledger.ports import Ledger

_BY_OUTCOME = """
    SELECT checkpoint, coalesce(outcome, state), count(*), sum(tokens),
        sum(max(julianday(ended_at) - julianday(started_at), 0)) * 86400000
    FROM plan_step WHERE plan = ? GROUP BY 1, 2 ORDER BY 1, 2
"""


def by_checkpoint(ledger: Ledger, plan: str) -> list[dict[str, Any]]:
    """Give steps, tokens, time and outcomes of each checkpoint that was begun, in order.

    A step under way counts with its tokens, and has no length yet.
    """
    costs: dict[int, dict[str, Any]] = {}
    for checkpoint, outcome, steps, tokens, took in ledger.query(_BY_OUTCOME, [plan]):
        cost = costs.setdefault(checkpoint, _make_empty_cost(checkpoint))
        cost["steps"] += steps
        cost["tokens"] += tokens
        cost["milliseconds"] += round(took or 0)
        cost["outcomes"][outcome] = steps
    return list(costs.values())


def _make_empty_cost(checkpoint: int) -> dict[str, Any]:
    return {"checkpoint": checkpoint, "steps": 0, "tokens": 0, "milliseconds": 0, "outcomes": {}}
