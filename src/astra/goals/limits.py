"""What ends a goal that is under way or keeps it from going on: signature, budget, criteria."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from astra.goals import control, events
from astra.goals.adoption import Adoption
from astra.goals.control import Control
from astra.goals.model import Goal
from astra.goals.states import State
from astra.trusted.kernel.clock import Clock, format_time, show_time
from astra.trusted.kernel.errors import Conflict


@dataclass(frozen=True, kw_only=True)
class Limits:
    adoption: Adoption
    control: Control
    clock: Clock

    def hold_unsigned(self, goal: Goal, version: int | None = None) -> bool:
        """Hold a goal that is not what the operator signed; tell whether it did."""
        try:
            self.adoption.check_signed(goal, version)
        except Conflict as conflict:
            self._hold(goal, control.NOT_SIGNED, conflict.detail)
            return True
        return False

    def hold_over_limit(self, goal: Goal, *, uncounted: float = 0.0) -> bool:
        """Hold a goal that used its budget up or passed its deadline; tell whether it did.

        `uncounted` are milliseconds of an attempt whose end is not recorded yet.
        """
        budget_name = goal.usage.find_spent(goal.budget, uncounted=uncounted)
        if budget_name:
            self._hold(goal, control.BUDGET_SPENT, f"its budget of {budget_name} is used up")
        elif goal.deadline and goal.deadline <= format_time(self.clock.now()):
            why = f"its deadline was {show_time(goal.deadline)}"
            self._hold(goal, control.DEADLINE_PASSED, why)
        else:
            return False
        return True

    def conclude(self, goal: Goal, check: Callable[[Mapping[str, str]], dict[str, Any]]) -> None:
        """Run the success criteria of a goal whose tasks are over."""
        if goal.state != State.EXECUTING or self.hold_unsigned(goal):
            return
        if not goal.criteria:
            close = f"astra goals close {goal.id}"
            detail = f"its tasks are over, and it has no success criteria: {close}"
            self._hold(goal, control.UNCHECKED, detail)
            return
        checks = [check(criterion) for criterion in goal.criteria]
        if all(result["holds"] for result in checks):
            self.control.satisfy(goal.id, checks)
            return
        failures = [f"{c['criterion']}: {c['detail']}" for c in checks if not c["holds"]]
        self._hold(goal, control.CRITERIA_FAILED, "; ".join(failures), checks)

    def _hold(
        self, goal: Goal, reason: str, detail: str, checks: Sequence[dict[str, Any]] = ()
    ) -> None:
        self.control.hold(goal.id, reason, detail, actor=events.DAEMON, checks=checks)
