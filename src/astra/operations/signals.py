"""The numbers that alert rules compare: a closed list, each with what it means and its unit.

Whoever runs Astra fills them in (`Values`). A signal without a value is not known now: a rule about
it raises nothing, and what it had raised is over.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import one_line

Values = Mapping[str, float | None]
ReadValues = Callable[[], Values]
_COMPARISON = re.compile(r"([a-z_]+) (above|below) (-?\d+(?:\.\d+)?)")

SIGNALS: Mapping[str, str] = MappingProxyType(
    {
        "refusal_share": "share of tool calls that were refused, in this hour and the one before;"
        " not known below 20 calls",
        "tests_failed": "runs of a change's tests that did not pass, in 24 hours",
        "rollbacks": "releases that a good one took the place of, in 24 hours",
        "budget_share": "largest share of a day's budget that is used",
        "oldest_decision_hours": "how long the oldest decision has waited",
        "schedule_lag_seconds": "how late the most overdue schedule is",
        "step_lag_seconds": "how late the most overdue step is",
        "disk_free_share": "share of the data root's disk that is free",
        "chain_trouble": "1 while the ledger is held, cannot be written, or the witness lacks its"
        " newest checkpoint",
        "clock_behind_seconds": "how far the machine's clock is behind the last record",
        "agent_quiet_hours": "hours since the agent's last call; not known unless it was active on"
        " three days of the week before",
        "unusual_calls": "calls with an effect in this hour, where the agent had none at this hour"
        " of the day for 14 days and was active on three of them",
        "background_trouble": "1 while a lane of background work fails",
        "app_trouble": "1 while the app does not serve as it should",
        "notifications_failed": "notifications that no attempt delivered, in this hour and the one"
        " before",
        "smoke_failed": "1 while the last `astra smoke` failed",
    }
)


def parse_comparison(text: str) -> tuple[str, str, float]:
    """Read what a metric is compared with.

    >>> parse_comparison("tests_failed below 1")
    ('tests_failed', 'below', 1.0)
    """
    match = _COMPARISON.fullmatch(text.strip())
    if match is None or match[1] not in SIGNALS:
        raise BadInput(
            f"a metric is NAME above N or NAME below N, not {one_line(text, 60)!r}",
            next_step=f"names are {', '.join(SIGNALS)}",
            field="criteria",
        )
    return match[1], match[2], float(match[3])
