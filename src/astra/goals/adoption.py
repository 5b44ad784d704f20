"""From a goal to a signature: planned by methods, put before the operator, adopted once.

Nobody but the operator adopts: a request names the goal, its whole graph, what its tasks may call
and what they may use up, and the approval binds the digest of all of it. When the signature takes
effect everything is worked out anew; whatever moved meanwhile (the goal, its graph, the methods)
withdraws the request instead. A goal that used its budget up gets it once more in the same way: by
another signature over all of it. Adoptions are numbered, so none is used for another. A repair
after a rollback may be adopted by a signed policy instead; it is looked at again before each task.
"""

import contextlib
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from astra.goals import events
from astra.goals.book import Goals
from astra.goals.control import BUDGET_SPENT
from astra.goals.graph import Graph
from astra.goals.methods import GOAL_ARGUMENTS
from astra.goals.model import Goal, Usage, read_request
from astra.goals.planner import NoPlan, Situation, make_too_large, plan_goal
from astra.goals.states import State, refuse_unless_legal
from astra.operations.caps import WAITING_GOALS
from astra.trusted.approvals import desk as approvals
from astra.trusted.approvals.desk import Approval, Desk
from astra.trusted.kernel import canonical
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import AstraError, BadInput, Conflict, StaleVersion
from astra.trusted.kernel.ids import id_from_content, random_id
from astra.trusted.kernel.text import one_line, quote_text
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed

AGENT, OPERATOR = "agent", "operator"
"""Who proposed a goal: the operator where its record is signed, else an agent."""
KIND, DESIRE_KIND = "goal", "goal_of_desire"
"""A request to adopt a goal, and one to make a goal of a desire and adopt it (`of_desires`)."""
NOTHING = Usage()
MOST_REMEMBERED = 256
LARGEST_REQUEST = 900_000
"""How many bytes of JSON a request to adopt a goal may have: it has to fit into one record."""
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Adoption:
    goals: Goals
    desk: Desk
    situation: Callable[[Goal], Situation]
    find_policy_objection: Callable[[Goal, Graph], str] = lambda _goal, _graph: "there is no policy"
    """Says why the signed policy does not adopt a goal, or nothing."""
    may_ask_model: Callable[[], bool] = bool
    """Whether a model is there to propose a decomposition where no method fits."""
    has_tool: Callable[[str], bool] = lambda _name: True
    read_currency: Callable[[], str] = lambda: "USD"
    """Gives the currency that spending is counted in."""
    _digests: dict[str, tuple[bytes, str]] = field(
        default_factory=dict[str, tuple[bytes, str]], compare=False
    )
    """Of each goal, what its digest was last worked out from, and that digest."""
    _signed_versions: dict[str, int] = field(default_factory=dict[str, int], compare=False)
    """Of each goal, the version at which the operator's signature over it was found to hold."""

    def create(self, fields: Mapping[str, Any], *, actor: str, correlation: str) -> Goal:
        """Record an agent's goal, plan it, and put it before the operator: proposed, no more."""
        if self.goals.count(State.PROPOSED) >= WAITING_GOALS.most:
            raise WAITING_GOALS.build_error()
        data = self.read_fields(fields, source=AGENT)
        return self._create(self._make_creation(data, actor, correlation))

    def create_signed(self, fields: Mapping[str, Any], signed: Signed, *, now: datetime) -> Goal:
        """Record a goal of the operator's own: the signature under it says so, and nothing else."""
        data = self.read_fields(fields, source=OPERATOR)
        event = self._make_creation(data, OPERATOR, random_id("cor"))
        return self._create(authority.signed_event(self.goals.ledger, event, signed, now=now))

    def read_fields(self, fields: Mapping[str, Any], *, source: str) -> dict[str, Any]:
        """Check what is wanted as a goal; gives the data of its record, which a person signs."""
        data = read_request(fields, currency=self.read_currency())
        if data["parent"]:
            self.goals.get(data["parent"])
        if data["deadline"] and data["deadline"] <= format_time(self.desk.clock.now()):
            raise BadInput(
                f"deadline: {data['deadline']} is over already",
                next_step="give a time that is to come",
                field="deadline",
            )
        return {**data, "source": source}

    def _make_creation(self, data: Mapping[str, Any], actor: str, correlation: str) -> Event:
        identifier = id_from_content(
            "goal", actor, correlation, data["text"], taken=self.goals.exists
        )
        fields = events.fill_goal_event(identifier, data, actor=actor, correlation=correlation)
        return Event(type=events.CREATED, **fields)

    def _create(self, event: Event) -> Goal:
        identifier = str(event.subject)
        self.goals.ledger.append([event], expect={identifier: 0})
        self.plan(identifier)
        return self.goals.get(identifier)

    def plan(self, identifier: str) -> None:
        """Plan a proposed goal and ask for its adoption; says in its record why that failed."""
        goal = self.goals.get(identifier)
        if goal.state != State.PROPOSED or goal.asks_model:
            return
        try:
            graph = self.compute_graph(goal)
        except AstraError as error:
            self.record_failure(goal, error, asks_model=self._asks_model(goal, error))
            return
        self.record_plan(goal, graph)

    def compute_graph(self, goal: Goal) -> Graph:
        """Decompose a goal by the methods in force, recording nothing."""
        graph = plan_goal(goal.id, goal.task, self.name_arguments(goal), self.situation(goal))
        self.refuse_unfit(goal, graph)
        return graph

    def refuse_unfit(self, goal: Goal, graph: Graph) -> None:
        """Refuse a graph that could not be put before the operator, or that nobody could do."""
        self._refuse_unknown_tools(graph)
        size = len(canonical.encode(fill_request(goal, graph, len(self._list_adoptions(goal)) + 1)))
        if size > LARGEST_REQUEST:
            raise make_too_large(
                f"the graph has {size:,} bytes with all that is signed, over the limit of"
                f" {LARGEST_REQUEST:,}"
            )

    def _refuse_unknown_tools(self, graph: Graph) -> None:
        for node in graph.nodes:
            if node.tool and not self.has_tool(node.tool):
                raise NoPlan(
                    f"{node.path} (method {node.method}) would call {one_line(node.tool, 60)},"
                    " and there is no such tool",
                    code="bad_method",
                    next_step="add a method to astra.toml, or give the goal another task",
                )

    def record_plan(self, goal: Goal, graph: Graph, *, usage: Usage = NOTHING) -> None:
        """Record the graph of a proposed goal, and settle who adopts it."""
        self._append(goal, events.PLANNED, fill_plan(graph, usage))
        if self.goals.get(goal.id).planned is not None:
            self.settle(goal.id)

    def settle(self, identifier: str) -> None:
        """Adopt a planned goal where the signed policy says so, else put it before the operator."""
        goal = self.goals.get(identifier)
        if goal.state != State.PROPOSED or goal.planned is None:
            return
        graph = self.goals.graph(goal)
        if self.find_policy_objection(goal, graph):
            self.ask(identifier)
            return
        number = len(self._list_adoptions(goal)) + 1
        data = {"policy": True, "digest": digest_of(goal, graph, number), "planned": goal.planned}
        self._append(goal, events.ADOPTED, data)

    def record_failure(
        self, goal: Goal, error: AstraError, *, usage: Usage = NOTHING, asks_model: bool = False
    ) -> None:
        """Record why a proposed goal has no graph, and whether a model is asked for one."""
        more = "; a model is asked how to decompose it" if asks_model else ""
        data = {
            "code": error.reason,
            "reason": f"{one_line(error.detail, 1000)}{more}",
            "asks_model": asks_model,
            "tokens": usage.tokens,
        }
        self._append(goal, events.PLANNING_FAILED, data)

    def name_arguments(self, goal: Goal) -> dict[str, str]:
        """Give what a goal brings to its method."""
        return dict(zip(GOAL_ARGUMENTS, (goal.text, goal.id, goal.category), strict=True))

    def _asks_model(self, goal: Goal, error: AstraError) -> bool:
        has_budget = goal.usage.model_calls < goal.budget.model_calls
        return error.reason == NoPlan.code and has_budget and self.may_ask_model()

    def ask(self, identifier: str) -> str:
        """Put a goal with its graph before the operator; gives the approval that waits."""
        goal = self.goals.get(identifier)
        if not is_spent(goal):
            refuse_unless_legal(goal.id, State(goal.state), events.ADOPTED)
        if goal.planned is None:
            self.plan(identifier)
            goal = self.goals.get(identifier)
        graph, number = self.goals.graph(goal), len(self._list_adoptions(goal)) + 1
        digest = digest_of(goal, graph, number)
        self._withdraw_others(goal.id, keep=digest)
        again = " once more, with its whole budget" if is_spent(goal) else ""
        return self.desk.ask(
            kind=KIND,
            subject_id=goal.id,
            digest=digest,
            summary=f"adopt the goal {quote_text(goal.text)}{again}",
            details=fill_request(goal, graph, number),
            actor=events.DAEMON,
            correlation=goal.correlation,
        )

    def fulfil(self, approval_id: str) -> None:
        """Adopt the goal that the operator signed for, or withdraw a request that moved."""
        approval = self.desk.get(approval_id)
        if approval.kind != KIND or approval.state != "approved":
            return
        version = self.goals.ledger.version(approval.subject_id)
        if objection := self._find_objection(approval):
            self.desk.withdraw_granted(approval_id, objection)
            return
        goal = self.goals.get(approval.subject_id)
        adoption = {"approval": approval_id, "digest": approval.digest, "planned": goal.planned}
        story = goal.correlation
        fields = events.fill_goal_event(goal.id, adoption, actor="operator", correlation=story)
        adopted = Event(type=events.ADOPTED, **fields)
        if is_spent(goal):
            adopted = Event(type=events.RESUMED, **fields)
        used = approvals.build_used_event(approval_id, actor=events.DAEMON, correlation=story)
        with contextlib.suppress(StaleVersion):  # another door did it, or the step is due again
            self.goals.ledger.append([used, adopted], expect={goal.id: version})

    def check_signed(self, goal: Goal, version: int | None = None) -> None:
        """Refuse to work on a goal whose graph is not the one that the operator signed.

        A version counts every record that makes a goal what it is: what was signed for at one
        version is signed for as long as the goal stays at it. A policy is asked each time.
        """
        if version is not None and self._signed_versions.get(goal.id) == version:
            return
        adoptions = self._list_adoptions(goal)
        if adoptions and self._stands_by_policy(goal, adoptions):
            return
        approval_id = str(adoptions[-1].data.get("approval", "")) if adoptions else ""
        if approval_id and self.desk.was_signed(approval_id):
            approval = self.desk.get(approval_id)
            if approval.digest == self._compute_digest(goal, len(adoptions), approval.kind):
                if version is not None:
                    _remember(self._signed_versions, goal.id, version)
                return
        raise Conflict(
            f"{goal.id} is not what the operator signed",
            code="not_signed",
            next_step=f"abandon it and reopen it: astra goals abandon {goal.id}",
        )

    def _stands_by_policy(self, goal: Goal, adoptions: list[Record]) -> bool:
        """Tell whether a policy adopted a goal, and still would, with exactly this graph."""
        data = adoptions[-1].data
        return bool(
            data.get("policy")
            and data["digest"] == self._compute_digest(goal, len(adoptions))
            and not self.find_policy_objection(goal, self.goals.graph(goal))
        )

    def _compute_digest(self, goal: Goal, number: int, kind: str = KIND) -> str:
        """Work out what an adoption binds, once for each state of a goal: graphs are large."""
        state = canonical.encode([kind, number, goal.planned, goal.contract(), goal.desire_id])
        known_state, digest = self._digests.get(goal.id, (b"", ""))
        if known_state != state:
            digest = digest_of(goal, self.goals.graph(goal), number, kind)
            _remember(self._digests, goal.id, (state, digest))
        return digest

    def _find_objection(self, approval: Approval) -> str:
        if not self.desk.stands(approval.id):
            return "it does not carry the operator's signature, or its time was over"
        goal = self.goals.get(approval.subject_id)
        budget_spent = is_spent(goal)
        if (goal.state != State.PROPOSED and not budget_spent) or goal.planned is None:
            return f"the goal is {goal.state}"
        graph = self.goals.graph(goal)
        if digest_of(goal, graph, len(self._list_adoptions(goal)) + 1) != approval.digest:
            return "the goal, or its graph, is not what was approved"
        if not budget_spent and self.situation(goal).methods.digest != graph.methods_digest:
            return "the methods were changed since it was planned"
        return ""

    def _list_adoptions(self, goal: Goal) -> list[Record]:
        """Give the records of a goal that a signature, or a signed policy, brought about."""
        records = self.goals.ledger.records_of(goal.id, events.ADOPTED, events.RESUMED)
        return [r for r in records if r.data.get("approval") or r.data.get("policy")]

    def _withdraw_others(self, identifier: str, *, keep: str) -> None:
        for approval in self.desk.list_for_subject(KIND, identifier, "pending", "approved"):
            if approval.digest != keep:
                with contextlib.suppress(StaleVersion):  # somebody decided on it meanwhile
                    self.desk.go_stale(approval.id, "the goal was planned anew")

    def _append(self, goal: Goal, type_: str, data: Mapping[str, Any]) -> None:
        """Record something about a goal that is proposed still, and planned no more than before."""
        version = self.goals.ledger.version(goal.id)
        now = self.goals.get(goal.id)
        if (now.state, now.planned) != (goal.state, goal.planned):
            return
        fields = events.fill_goal_event(
            goal.id, data, actor=events.DAEMON, correlation=goal.correlation
        )
        event = Event(type=type_, **fields)
        with contextlib.suppress(StaleVersion):  # somebody moved it: the step is due again
            self.goals.ledger.append([event], expect={goal.id: version})


def _remember(memory: dict[str, T], key: str, value: T) -> None:
    """Keep a value, and forget the oldest where there are many."""
    for oldest in list(memory)[: max(0, len(memory) + 1 - MOST_REMEMBERED)]:
        memory.pop(oldest, None)
    memory[key] = value


def fill_plan(graph: Graph, usage: Usage = NOTHING) -> dict[str, Any]:
    """Give the data of the record of a plan."""
    return {"graph": graph.as_dict(), "manifest": graph.manifest(), "tokens": usage.tokens}


def bound_content(goal: Goal, graph: Graph, number: int, kind: str = KIND) -> dict[str, Any]:
    """Give exactly what one signature adopts: the goal, its graph, its manifest, its budgets.

    Where the same signature makes the goal, the desire that it is made of is bound too.
    """
    return {
        "kind": kind,
        **({"desire": goal.desire_id} if kind == DESIRE_KIND else {}),
        "adoption": number,
        **goal.contract(),
        "graph": graph.as_dict(),
        "manifest": graph.manifest(),
    }


def fill_request(goal: Goal, graph: Graph, number: int, kind: str = KIND) -> dict[str, Any]:
    """Give what is shown before a signature: all that it adopts, and what will still ask."""
    return {
        **bound_content(goal, graph, number, kind),
        "proposed_by": graph.proposed_by,
        "will_still_ask": graph.questions(),
    }


def digest_of(goal: Goal, graph: Graph, number: int, kind: str = KIND) -> str:
    content = bound_content(goal, graph, number, kind)
    return hashlib.sha256(canonical.encode(content)).hexdigest()


def is_spent(goal: Goal) -> bool:
    """Tell whether a goal is held because its budget is used up."""
    return goal.state == State.BLOCKED and goal.held == BUDGET_SPENT
