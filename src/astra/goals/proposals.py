"""Where no method fits, a model may propose a decomposition; it is a method like any other.

It is data of the same form and passes the same checks, its graph says `proposed_by: model`, and
nothing of it runs before the operator signed for it. Each call of the model is recorded before it
is made and counts against the goal's budget; one that a crash cut off is made again, a few times at
most. What the model answered only ever becomes a graph: it is never read for anything else.
"""

from dataclasses import dataclass, replace
from typing import Any

from astra.goals import events
from astra.goals.adoption import Adoption
from astra.goals.graph import Graph
from astra.goals.method_files import combine, read_proposed_method
from astra.goals.model import Goal, Usage
from astra.goals.planner import NoPlan, plan_goal
from astra.goals.ports import Decomposer, Proposal
from astra.goals.states import State
from astra.trusted.kernel.errors import AstraError, LedgerError, StaleVersion
from astra.trusted.ledger.record import Event
from astra.trusted.policy import payload

MODEL = "model"
MOST_CALLS, MOST_GOALS_AT_ONCE = 3, 4


@dataclass(frozen=True, kw_only=True)
class ModelProposals:
    adoption: Adoption
    decomposer: Decomposer

    def list_due(self) -> list[str]:
        """Name the proposed goals that a model is to decompose."""
        goals = self.adoption.goals.list_asking_models(limit=MOST_GOALS_AT_ONCE)
        return [goal.id for goal in goals]

    def advance(self, identifier: str) -> None:
        """Ask the model for a decomposition; what comes of it is recorded, also where it is bad."""
        goal = self.adoption.goals.get(identifier)
        if goal.state != State.PROPOSED or not goal.asks_model:
            return
        if goal.model_asked >= MOST_CALLS:
            detail = f"a model was asked {MOST_CALLS} times, and the daemon ended each time"
            self.adoption.record_failure(goal, NoPlan(detail, next_step="add a method"))
        elif self._record_call(goal):
            self._record_answer(self.adoption.goals.get(identifier))

    def _record_call(self, goal: Goal) -> bool:
        """Count the call before it is made; tell whether the goal was still as it was read."""
        ledger = self.adoption.goals.ledger
        data = {"call": goal.model_asked + 1, "model_calls": 1}
        fields = events.fill_goal_event(
            goal.id, data, actor=events.DAEMON, correlation=goal.correlation
        )
        event = Event(type=events.DECOMPOSITION_ASKED, **fields)
        try:
            ledger.append([event], expect={goal.id: ledger.version(goal.id)})
        except StaleVersion:
            return False
        return True

    def _record_answer(self, goal: Goal) -> None:
        usage = Usage()
        try:
            proposal = self.decomposer.propose(goal, self._describe_tasks(goal))
            usage = proposal.usage
            graph = self._make_graph(goal, proposal)
        except LedgerError:
            raise
        except AstraError as error:
            self.adoption.record_failure(goal, error, usage=usage)
            return
        self.adoption.record_plan(goal, graph, usage=usage)

    def _describe_tasks(self, goal: Goal) -> list[str]:
        return sorted(self.adoption.situation(goal).methods.tasks() - {goal.task})

    def _make_graph(self, goal: Goal, proposal: Proposal) -> Graph:
        """Check a proposal as a method is checked, and plan the goal with it."""
        situation = self.adoption.situation(goal)
        method = read_proposed_method(goal.task, proposal.subtasks)
        methods = combine(situation.methods.methods, (method,))
        arguments = self.adoption.name_arguments(goal)
        graph = plan_goal(goal.id, goal.task, arguments, replace(situation, methods=methods))
        graph = replace(graph, methods_digest=situation.methods.digest, proposed_by=MODEL)
        self.adoption.refuse_unfit(goal, graph)
        document: dict[str, Any] = {"graph": graph.as_dict()}
        payload.refuse_unshowable(document)
        return graph
