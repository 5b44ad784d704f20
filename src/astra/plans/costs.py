"""What each step of a plan cost: the tokens it took, and when it was over, from the records."""

from collections import defaultdict
from typing import Any

from astra.ledger import chain
from astra.ledger.ports import Ledger
from astra.plans import events

_ENDS = frozenset({events.STEP_FINISHED, events.MODEL_FAILED, events.ACTION_SKIPPED})
_TOLD = (events.STEP_DECIDED, events.USAGE_COUNTED, *sorted(_ENDS))


def of_steps(ledger: Ledger, plan: str) -> dict[int, dict[str, Any]]:
    """Give tokens and the end of every step, by its number; a step under way has no end yet."""
    marks = ", ".join("?" * len(_TOLD))
    rows = ledger.query(
        "SELECT line FROM record JOIN mention USING (sequence)"  # noqa: S608 - only marks
        f" WHERE mention.id = ? AND type IN ({marks}) ORDER BY sequence",
        [plan, *_TOLD],
    )
    found: defaultdict[int, dict[str, Any]] = defaultdict(nothing)
    for record in (chain.parse(line) for (line,) in rows):
        cost = found[int(record.data["step"])]
        cost["tokens"] += int(record.data.get("usage", {}).get("tokens", 0))
        if record.type in _ENDS or record.data.get("set_aside"):
            cost["ended_at"] = record.time
    return dict(found)


def nothing() -> dict[str, Any]:
    return {"tokens": 0, "ended_at": None}
