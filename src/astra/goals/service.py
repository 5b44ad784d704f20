"""Goals as doors ask for them: the book, adoption, control, and where a goal may come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from astra.desires.model import Desire
from astra.goals import promotion
from astra.goals.adoption import Adoption
from astra.goals.book import Goals
from astra.goals.control import Control
from astra.goals.model import Goal
from astra.goals.of_desires import DesireAdoption
from astra.goals.planner import NoPlan
from astra.goals.promotion import Promotions
from astra.goals.states import State
from astra.trusted.kernel.errors import Conflict, NeedsApproval, NotFound
from astra.trusted.kernel.paging import LARGEST_PAGE

TOP_DESIRE = "top_desire"
_OVER = frozenset({State.SATISFIED, State.ABANDONED})


@dataclass(frozen=True, kw_only=True)
class GoalService:
    book: Goals
    adoption: Adoption
    control: Control
    promotions: Promotions

    @property
    def of_desires(self) -> DesireAdoption:
        return DesireAdoption(promotions=self.promotions, adoption=self.adoption)

    def execute(self, identifier: str) -> Goal:
        """Have a goal executed: an adopted one starts by itself, a proposed one waits for a yes."""
        goal = self.book.get(identifier)
        if goal.state in _OVER:
            raise Conflict(
                f"{goal.id} is {goal.state}",
                code="wrong_state",
                next_step=f"an operator can run `astra goals reopen {goal.id}`",
            )
        if goal.state == State.PROPOSED:
            approval = self.adoption.ask(goal.id)
            raise NeedsApproval(
                f"{goal.id} is executed once the operator has adopted it",
                next_step=f"tell the operator to look at {approval}: `astra goals adopt {goal.id}`",
                approval_id=approval,
                goal_id=goal.id,
                desire_id=goal.desire_id,
            )
        return goal

    def execute_top_desire(self, *, actor: str) -> Goal:
        """Execute the goal of the strongest desire that is one; without one, ask for one."""
        desires = self.promotions.desires.list_desires(limit=LARGEST_PAGE).items
        for desire in desires:
            if desire.goal_id and self.book.get(desire.goal_id).state not in _OVER:
                return self.execute(desire.goal_id)
        raise self._ask_for_goal(desires, actor)

    def _ask_for_goal(self, desires: Sequence[Desire], actor: str) -> NeedsApproval:
        candidate = next((desire for desire in desires if desire.goal_id is None), None)
        if candidate is None:
            raise NotFound("no desire is left to make a goal of", next_step="astra desires record")
        approval = self._request_goal(candidate, actor)
        return NeedsApproval(
            f"no desire is a goal; {candidate.id} becomes one once the operator has approved it",
            next_step=f"tell the operator to look at {approval}: `astra approve {approval}`",
            approval_id=approval,
            desire_id=candidate.id,
            goal_id=promotion.name_goal(candidate),
        )

    def _request_goal(self, desire: Desire, actor: str) -> str:
        """Ask for a goal with its adoption; for a goal alone where no method decomposes it."""
        try:
            return self.of_desires.ask(desire.id, actor=actor)
        except NoPlan:
            return self.promotions.request(desire.id, actor=actor)

    def describe_goal(self, identifier: str) -> dict[str, Any]:
        """Give a goal with its tasks and what it waits for; one that has no plan has no tasks.

        A goal that was reopened is planned anew: the tasks it had before are no longer its own.
        """
        goal = self.book.get(identifier)
        tasks = self.book.tasks(goal.id) if goal.planned else []
        return {**goal.as_dict(), "tasks": [task.as_dict() for task in tasks]}

    def describe_graph(self, identifier: str) -> dict[str, Any]:
        """Give nodes with their states, and edges; what the adoption signs is beside it."""
        goal = self.book.get(identifier)
        graph = self.book.graph(goal)
        tasks = {task.id: task.as_dict() for task in self.book.tasks(goal.id)}
        edges = [{"from": step, "to": node.id} for node in graph.nodes for step in node.after]
        return {
            "goal": goal.id,
            "state": goal.state,
            "method": graph.method,
            "methods_digest": graph.methods_digest,
            "proposed_by": graph.proposed_by,
            "manifest": graph.manifest(),
            "will_still_ask": graph.questions(),
            "nodes": [tasks[node.id] for node in graph.nodes if node.id in tasks],
            "edges": edges,
        }
