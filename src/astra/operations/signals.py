"""The numbers that alert rules compare: a closed list, each with what it means and its unit.

Whoever runs Astra fills them in (`Values`). A signal without a value is not known now: a rule about
it raises nothing, and what it had raised is over.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import one_line

Values = Mapping[str, float | None]
ReadValues = Callable[[], Values]
_COMPARISON = re.compile(r"([a-z_]+) (above|below|(?:falls|rises) by) (-?\d+(?:\.\d+)?)")
ABOVE, FALLS, RISES = "above", "falls by", "rises by"

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
        "machines_away": "daemons and workers of a shared chain that were killed or hang; not"
        " known where a machine is alone",
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


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What a signal is held to: a number, or by how much it moved from what it was before."""

    name: str
    word: str
    number: float

    @property
    def needs_before(self) -> bool:
        return self.word in {FALLS, RISES}

    def holds(self, value: float, before: float = 0.0) -> bool:
        """Tell whether a value holds to it.

        >>> parse_comparison("tests_failed falls by 2").holds(3, before=5)
        True
        >>> parse_comparison("tests_failed falls by 2").holds(4, before=5)
        False
        """
        if self.needs_before:
            difference = value - before if self.word == RISES else before - value
            return difference >= self.number
        return value > self.number if self.word == ABOVE else value < self.number


def parse_comparison(text: str) -> Comparison:
    """Read what a metric is compared with.

    >>> parse_comparison("tests_failed below 1")
    Comparison(name='tests_failed', word='below', number=1.0)
    """
    match = _COMPARISON.fullmatch(text.strip())
    if match is None or match[1] not in SIGNALS:
        raise BadInput(
            "a metric is NAME above N, below N, falls by N or rises by N,"
            f" not {one_line(text, 60)!r}",
            next_step=f"names are {', '.join(SIGNALS)}",
            field="criteria",
        )
    comparison = Comparison(name=match[1], word=match[2], number=float(match[3]))
    if comparison.needs_before and comparison.number <= 0:
        raise BadInput(
            f"{comparison.name} {comparison.word} takes a number above 0",
            next_step="say by how much it has to move",
            field="criteria",
        )
    return comparison
