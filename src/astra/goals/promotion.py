"""From desire to goal: suggested by Astra, asked for by anyone, decided by the operator.

Asking makes an approval request whose digest names the desire, its words and the goal that would be
created; it changes nothing else. Once the operator has signed, the daemon creates the goal as a due
step: the approval is used up, the desire marked and the goal created in one batch of records, so
it happens once, whatever crashes. A grant that does not carry the operator's signature, or a desire
that is not what was asked about, withdraws the request instead.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

from astra.desires.book import Desires
from astra.desires.model import Desire
from astra.desires.views import PROMOTED, likeness
from astra.goals.adoption import DESIRE_KIND
from astra.goals.book import CREATED
from astra.goals.model import KEPT
from astra.operations.caps import WAITING_PROMOTIONS
from astra.trusted.approvals import desk
from astra.trusted.approvals.desk import Approval, Desk
from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import Conflict, NotFound
from astra.trusted.kernel.ids import id_from_content
from astra.trusted.kernel.paging import LARGEST_PAGE
from astra.trusted.kernel.text import quote_text
from astra.trusted.ledger.record import Event

KIND = "promotion"
_KINDS = frozenset({KIND, DESIRE_KIND})
"""What counts as a request to make a goal of a desire: alone, or with its adoption."""
MOST_WAITING = WAITING_PROMOTIONS.most
STRONG, OFTEN = 0.5, 3


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Why a desire might be worth a goal, in numbers that the server counted itself."""

    strength: float
    reinforcements: int
    recurrence: int
    since: str

    @property
    def is_convincing(self) -> bool:
        return self.strength >= STRONG and self.reinforcements + self.recurrence >= OFTEN

    def as_dict(self) -> dict[str, Any]:
        return {
            "strength": self.strength,
            "reinforcements": self.reinforcements,
            "recurrence": self.recurrence,
            "since": f"{self.since[:19]}Z",
            "why": self.why,
        }

    @property
    def why(self) -> str:
        reinforced = (
            f"reinforced {_describe_count(self.reinforcements)}"
            if self.reinforcements
            else "never reinforced"
        )
        return (
            f"its strength is {self.strength:.2f} now, it was {reinforced} and recorded"
            f" {_describe_count(self.recurrence)} in these words since {self.since[:10]}"
        )


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    desire: Desire
    evidence: Evidence


@dataclass(frozen=True, kw_only=True)
class Promotions:
    desires: Desires
    desk: Desk

    def suggestions(self, *, limit: int = 5) -> list[Suggestion]:
        """Name the desires that speak for themselves: strong, and wanted again and again."""
        desires_waiting = {approval.subject_id for approval in self._list_pending()}
        suggestions_by_text: dict[str, Suggestion] = {}
        for desire in self.desires.list_desires(limit=LARGEST_PAGE).items:
            evidence = self.evidence(desire)
            if (
                evidence.is_convincing
                and desire.goal_id is None
                and desire.id not in desires_waiting
            ):
                suggestion = Suggestion(desire=desire, evidence=evidence)
                suggestions_by_text.setdefault(likeness(desire.text), suggestion)
        return list(suggestions_by_text.values())[:limit]

    def evidence(self, desire: Desire) -> Evidence:
        recurrence, since = self.desires.recurrence(desire.text)
        return Evidence(
            strength=desire.strength,
            reinforcements=desire.reinforcements,
            recurrence=recurrence,
            since=since,
        )

    def request(self, identifier: str, *, actor: str) -> str:
        """Ask the operator to make a goal of a desire; gives the approval that waits for them."""
        desire = self.desires.get(identifier)
        refuse_pointless(desire)
        approval = self._find_request(desire)
        if approval is None:
            self.refuse_flood()
            approval = self._request_approval(desire, actor)
        return approval

    def fulfil(self, approval_id: str) -> None:
        """Create the goal that the operator approved, or withdraw a request that does not hold."""
        approval = self.desk.get(approval_id)
        if approval.state != "approved":
            return
        if objection := self._find_objection(approval):
            self.desk.withdraw_granted(approval_id, objection)
            return
        desire = self.desires.get(approval.subject_id)
        self.desires.ledger.append(
            build_promotion_events(desire, approval_id), expect={name_goal(desire): 0}
        )

    def _find_objection(self, approval: Approval) -> str:
        """Say why an approval makes no goal, or nothing."""
        if not self.desk.stands(approval.id):
            return "it does not carry the operator's signature, or its time was over"
        try:
            desire = self.desires.get(approval.subject_id)
        except NotFound:
            return "there is no such desire"
        if digest(desire) != approval.digest:
            return "the desire is not the one that was approved"
        return "the desire is a goal already" if desire.goal_id else ""

    def refuse_flood(self) -> None:
        """Keep a person's inbox readable, whoever asks."""
        if len(self._list_pending()) >= MOST_WAITING:
            raise WAITING_PROMOTIONS.build_error()

    def _find_request(self, desire: Desire) -> str | None:
        """Name the request for exactly this that waits, or that was granted a moment ago."""
        desire_digest = digest(desire)
        for approval in self._list_pending():
            if approval.digest == desire_digest:
                return approval.id
        return self.desk.find_usable(desire_digest)

    def _request_approval(self, desire: Desire, actor: str) -> str:
        return self.desk.ask(
            kind=KIND,
            subject_id=desire.id,
            digest=digest(desire),
            summary=f"make a goal of the desire {quote_text(desire.text)}",
            details={
                "desire": desire.id,
                "text": desire.text,
                "tags": list(desire.tags),
                "goal": build_goal(desire),
                "evidence": self.evidence(desire).as_dict(),
            },
            actor=actor,
            correlation=desire.correlation,
        )

    def _list_pending(self) -> list[Approval]:
        return [approval for approval in self.desk.list_by_state() if approval.kind in _KINDS]


def refuse_pointless(desire: Desire) -> None:
    """Refuse to ask about a desire that is a goal already, or that nobody wants any more."""
    if desire.goal_id is not None:
        raise Conflict(
            f"{desire.id} is a goal already",
            code="already_promoted",
            next_step=f"astra goals show {desire.goal_id}",
            goal_id=desire.goal_id,
        )
    if desire.state != "active":
        raise Conflict(
            f"{desire.id} has faded",
            code="desire_faded",
            next_step=f"astra desires reinforce {desire.id}, if it is wanted still",
        )


def digest(desire: Desire) -> str:
    """Name exactly what the operator approves: this desire, in these words, as this goal."""
    content = {"kind": KIND, "desire": desire.id, "text": desire.text, "goal": build_goal(desire)}
    return hashlib.sha256(canonical.encode(content)).hexdigest()


def name_goal(desire: Desire) -> str:
    """Give the id of the goal that a desire becomes."""
    return id_from_content("goal", desire.id, desire.text, digits=16)


def build_promotion_events(desire: Desire, approval_id: str) -> list[Event]:
    """Give the records that use an approval up, mark the desire and create its goal, together."""
    goal, story = build_goal(desire), desire.correlation
    return [
        desk.build_used_event(approval_id, actor="daemon", correlation=story),
        Event(
            type=PROMOTED,
            actor="daemon",
            data={"goal": goal["id"], "approval": approval_id},
            correlation=story,
            subject=desire.id,
            key=f"promoted:{desire.id}",
        ),
        Event(
            type=CREATED,
            actor="daemon",
            data={**goal, "desire": desire.id, "approval": approval_id},
            correlation=story,
            subject=goal["id"],
        ),
    ]


def build_goal(desire: Desire) -> dict[str, Any]:
    identifier = name_goal(desire)
    criteria = [{"outcome": KEPT}]
    return {"id": identifier, "text": desire.text, "source": "desire", "criteria": criteria}


def _describe_count(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")
