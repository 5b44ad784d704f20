"""One signature from a desire to an adopted goal: planned before it is signed, done in one batch.

Planning changes nothing, so the goal that a desire would become is planned before anybody signs.
The request names the desire, the goal, its whole graph, what its tasks may call and what they may
use up, and the approval binds the digest of all of it. When the signature takes effect all of it is
worked out anew: where it is still the same, the approval is used up, the desire marked, and the
goal created, planned and adopted in one batch of records, so that all of it happens once or none.
Where the graph or the methods moved meanwhile, the request is withdrawn and made anew.

A desire that no method decomposes cannot be asked for like this: `promotion` makes a goal of it
first, for which a model may then propose a decomposition.
"""

import contextlib
from dataclasses import dataclass
from typing import Any

from astra.desires.model import Desire
from astra.goals import events, promotion
from astra.goals.adoption import DESIRE_KIND, Adoption, digest_of, fill_plan, fill_request
from astra.goals.graph import Graph
from astra.goals.model import Goal
from astra.goals.promotion import Promotions
from astra.goals.states import State
from astra.trusted.approvals.desk import Approval
from astra.trusted.kernel.errors import AstraError, DuplicateKey, LedgerError, StaleVersion
from astra.trusted.kernel.text import one_line, quote_text
from astra.trusted.ledger.record import Event

FIRST = 1
"""The number of an adoption that a goal is created with."""


@dataclass(frozen=True, kw_only=True)
class Contract:
    """A desire, the goal that it would become, and the graph of that goal."""

    desire: Desire
    goal: Goal
    graph: Graph

    @property
    def digest(self) -> str:
        return digest_of(self.goal, self.graph, FIRST, DESIRE_KIND)

    @property
    def summary(self) -> str:
        kinds = ", ".join(dict.fromkeys(str(node.kind) for node in self.graph.nodes))
        return (
            f"make a goal of the desire {quote_text(self.desire.text)} and"
            f" adopt it with its {len(self.graph.nodes)} tasks: {kinds}"
        )

    def describe(self) -> dict[str, Any]:
        return fill_request(self.goal, self.graph, FIRST, DESIRE_KIND)


@dataclass(frozen=True, kw_only=True)
class DesireAdoption:
    promotions: Promotions
    adoption: Adoption

    def ask(self, desire_id: str, *, actor: str) -> str:
        """Put a desire with its planned goal before the operator; gives the approval that waits.

        Raises what keeps the goal from being planned.
        """
        contract = self._draw_up(desire_id)
        self._withdraw_others(contract)
        if not self._is_waiting(contract):
            self.promotions.refuse_flood()
        return self._request_approval(contract, actor)

    def fulfil(self, approval_id: str) -> None:
        """Do all that the operator signed for, or withdraw a request that does not hold."""
        desk = self.adoption.desk
        approval = desk.get(approval_id)
        if approval.kind != DESIRE_KIND or approval.state != "approved":
            return
        if not desk.stands(approval_id):
            reason = "it does not carry the operator's signature, or its time was over"
            desk.withdraw_granted(approval_id, reason)
            return
        try:
            contract = self._draw_up(approval.subject_id)
        except LedgerError:
            raise
        except AstraError as error:
            desk.withdraw_granted(approval_id, one_line(error.detail, 300))
            return
        if contract.digest != approval.digest:
            self._ask_again(approval, contract)
            return
        self._record_adoption(approval, contract)

    def _draw_up(self, desire_id: str) -> Contract:
        """Plan the goal that a desire would become, as everything stands now."""
        desire = self.promotions.desires.get(desire_id)
        promotion.refuse_pointless(desire)
        goal = _foresee_goal(desire)
        return Contract(desire=desire, goal=goal, graph=self.adoption.compute_graph(goal))

    def _is_waiting(self, contract: Contract) -> bool:
        return any(
            approval.digest == contract.digest
            for approval in self._list_requests(contract.desire.id, "pending")
        )

    def _request_approval(self, contract: Contract, actor: str) -> str:
        desk = self.adoption.desk
        return desk.find_usable(contract.digest) or desk.ask(
            kind=DESIRE_KIND,
            subject_id=contract.desire.id,
            digest=contract.digest,
            summary=contract.summary,
            details={
                **contract.describe(),
                "evidence": self.promotions.evidence(contract.desire).as_dict(),
            },
            actor=actor,
            correlation=contract.desire.correlation,
        )

    def _ask_again(self, approval: Approval, contract: Contract) -> None:
        """Withdraw a request whose graph or methods moved, and put what holds now in its place."""
        reason = "the graph, or the methods that it was planned by, changed since it was asked for"
        self.adoption.desk.go_stale(approval.id, reason)
        self._request_approval(contract, events.DAEMON)

    def _record_adoption(self, approval: Approval, contract: Contract) -> None:
        goal, story = contract.goal, contract.desire.correlation
        plan_fields = events.fill_goal_event(
            goal.id, fill_plan(contract.graph), actor=events.DAEMON, correlation=story
        )
        adoption = {"approval": approval.id, "digest": approval.digest}
        adoption_fields = events.fill_goal_event(
            goal.id, adoption, actor="operator", correlation=story
        )
        batch = [
            *promotion.build_promotion_events(contract.desire, approval.id),
            Event(type=events.PLANNED, **plan_fields),
            Event(type=events.ADOPTED, **adoption_fields),
        ]
        # Another door did it, or the desire became a goal meanwhile: the step is due again.
        with contextlib.suppress(StaleVersion, DuplicateKey):
            self.adoption.goals.ledger.append(batch, expect={goal.id: 0})
            self._withdraw_promotions(contract.desire.id)

    def _withdraw_others(self, contract: Contract) -> None:
        for approval in self._list_requests(contract.desire.id, "pending", "approved"):
            if approval.digest != contract.digest:
                self._withdraw(approval, "the goal was planned anew")

    def _withdraw_promotions(self, desire_id: str) -> None:
        """Take what else was asked about a desire out of the inbox: it is a goal now."""
        desk = self.adoption.desk
        for approval in desk.list_for_subject(promotion.KIND, desire_id, "pending"):
            self._withdraw(approval, "the desire is a goal already")

    def _withdraw(self, approval: Approval, reason: str) -> None:
        with contextlib.suppress(StaleVersion):  # somebody decided on it meanwhile
            self.adoption.desk.go_stale(approval.id, reason)

    def _list_requests(self, desire_id: str, *states: str) -> list[Approval]:
        return self.adoption.desk.list_for_subject(DESIRE_KIND, desire_id, *states)


def _foresee_goal(desire: Desire) -> Goal:
    """Give the goal that a desire would become, as it will be read once it is there."""
    fields = promotion.build_goal(desire)
    return Goal(
        id=fields["id"],
        text=fields["text"],
        state=str(State.PROPOSED),
        source=fields["source"],
        criteria=tuple(fields["criteria"]),
        desire_id=desire.id,
        approval_id=None,
        created_at="",
        correlation=desire.correlation,
        sequence=0,
    )
