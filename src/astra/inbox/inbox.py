"""The inbox: requests for a decision, work that stands still, what failed, and what is wrong.

It remembers nothing. Each part is read from the view that its domain keeps anyway, so an item is
there exactly as long as its cause. Every door shows this list, and counts it. Texts of an agent are
on one line and escaped.

The agent cannot take an item out, and neither can anybody by marking it as read: over the socket an
agent looks like its user. A deployment that failed leaves the list when another one follows, or
after a week.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from astra.deployments import views as deployments
from astra.deployments.views import Deployment
from astra.goals import control
from astra.goals.book import Goals
from astra.goals.events import HELD
from astra.goals.model import Goal
from astra.inbox.items import (
    FAILED_DEPLOYMENT,
    HELD_GOAL,
    RESTING_CHANGE,
    WAITING_PLAN,
    WAITING_SIGNATURE,
    InboxItem,
)
from astra.plans import talk
from astra.plans.model import AgentPlan
from astra.plans.moves import find_way_to_room
from astra.plans.register import Register
from astra.plans.states import State as PlanState
from astra.trusted.approvals.desk import Desk
from astra.trusted.approvals.views import Approval
from astra.trusted.changes.model import KIND as CHANGE_KIND
from astra.trusted.changes.model import Change, State
from astra.trusted.changes.views import Book
from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.kernel.text import one_line, quote_text
from astra.trusted.policy import cosigning
from astra.trusted.policy.rounds import list_waiting_rounds

MOST_CHANGES = MOST_GOALS = 100
_REMEMBERED = timedelta(days=7)
_LONGEST_WHY = 300
_REQUESTS = {
    "tool_call": "this kind of call takes your signature each time",
    "schedule": "its next firing takes your signature",
    "change": "a change of the code takes your signature",
    "plan": "a plan works by itself within what you sign",
    "goal_of_desire": "a desire becomes a goal, and works by its plan, only by your signature",
    "spend_cap": "a model was not called, because a cap on tokens or money would be passed",
    "promotion": "a desire becomes a goal only by your signature",
}
_PLANS = {
    PlanState.BLOCKED_ON_PERMISSION: (
        "it wants something that it was not granted",
        "astra plans grant {id}",
    ),
    PlanState.BLOCKED_ON_DESTRUCTIVE: (
        "its next step takes something away for good",
        "astra plans grant {id}",
    ),
    PlanState.BLOCKED_ON_BUDGET: (
        "the steps of this checkpoint are used up",
        "astra plans extend-budget {id} STEPS",
    ),
    PlanState.BLOCKED_ON_LLM: ("it cannot go on without its model", "astra plans resume {id}"),
    PlanState.PAUSED: ("it is paused", "astra plans resume {id}"),
    PlanState.DRAFT_PENDING: ("it has questions", "astra plans answer {id} TEXT"),
}
_CHANGES = {
    State.CONFLICT: ("it does not fit the branch any more", "astra changes show {id}"),
    State.TESTS_FAILED: (
        "its tests did not pass; you may take it despite them",
        "astra changes show {id}",
    ),
    State.AWAITING: (
        "nobody decided in time, or what was to be signed changed",
        "astra approve {id}",
    ),
}
_GOALS = {
    control.PAUSED: ("it is paused", "astra goals run {id}"),
    control.BUDGET_SPENT: ("its budget is used up", "astra goals adopt {id}"),
    control.TASK_FAILED: ("a task of it failed", "astra goals retry {id}"),
    control.DEADLINE_PASSED: ("its deadline has passed", "astra goals abandon {id} --reason TEXT"),
    control.UNCHECKED: ("you judge whether it is achieved", "astra goals close {id}"),
    control.CRITERIA_FAILED: (
        "its success criteria do not hold",
        "astra goals retry {id} --node NODE",
    ),
    control.NOT_SIGNED: (
        "its signature does not hold any more",
        "astra goals abandon {id} --reason TEXT",
    ),
}
_NOT_PLANNED = ("it could not be planned", "astra goals show {id}")
_DEPLOYMENTS = {
    "failed": "it was not put into service",
    "rolled_back": "it failed in service and was taken back",
    "rollback_failed": "it failed in service, and nothing good could be brought back",
}


@dataclass(frozen=True, kw_only=True)
class Inbox:
    desk: Desk
    plans: Register
    changes: Book
    goals: Goals
    find_change_to_revert: Callable[[Deployment], str | None]
    """Names the change that a deployment took out of service and that the branch still holds."""
    alarms: Callable[[], Iterable[InboxItem]] = tuple

    def list_items(self) -> list[InboxItem]:
        """Give everything that waits: what is wrong, requests that end first, then the rest."""
        rounds = list_waiting_rounds(self.desk.ledger, now=self.desk.clock.now())
        waits = {str(item["content"].get("approval", "")): item["words"] for item in rounds}
        requests = [
            self._from_approval(approval, waits.get(approval.id, ""))
            for approval in self.desk.list_by_state()
        ]
        requests += [_from_round(item) for item in rounds if "approval" not in item["content"]]
        waiting_goals = self._held_goals({item.subject_id for item in requests})
        standing = [*self._waiting_plans(), *self._resting_changes(), *waiting_goals]
        return [
            *self.alarms(),
            *self._failed_deployments(),
            *sorted(requests, key=lambda item: item.expires_at or ""),
            *sorted(standing, key=lambda item: item.waiting_since),
        ]

    def _from_approval(self, approval: Approval, signatures: str) -> InboxItem:
        title, why = self._describe_request(approval)
        return InboxItem(
            id=approval.id,
            kind=approval.kind,
            title=title,
            why=f"{why}; {signatures}" if signatures else why,
            waiting_since=approval.requested_at,
            command=f"astra approve {approval.id}",
            subject_id=approval.subject_id,
            expires_at=approval.expires_at,
        )

    def _describe_request(self, approval: Approval) -> tuple[str, str]:
        """Say what is asked for and why; of a change, what its evidence is."""
        why = _REQUESTS.get(approval.kind, "it takes your signature")
        if approval.kind == CHANGE_KIND:
            details = self.desk.details(approval.id)["details"]
            if "title" in details:  # earlier versions put all of it into the summary
                return details["title"], "; ".join(details["facts"])
        return approval.summary, why

    def _waiting_plans(self) -> Iterator[InboxItem]:
        for plan in self.plans.list_waiting_plans():
            why, command = _describe_plan(plan)
            goal = plan.plan.goals[0] if plan.plan else plan.description
            yield InboxItem(
                id=plan.id,
                kind=WAITING_PLAN,
                title=f"the plan {quote_text(goal)}",
                why=why,
                waiting_since=plan.updated_at or plan.created_at,
                command=command.format(id=plan.id),
                subject_id=plan.id,
            )

    def _resting_changes(self) -> Iterator[InboxItem]:
        for state, (why, command) in _CHANGES.items():
            for change in self.changes.list_page(state=str(state), limit=MOST_CHANGES)[0]:
                if change.approval is None or state is not State.AWAITING:
                    yield self._from_change(change, why, command)

    def _from_change(self, change: Change, why: str, command: str) -> InboxItem:
        facts = _describe_conflict(change) or one_line(change.reason, _LONGEST_WHY)
        return InboxItem(
            id=change.id,
            kind=RESTING_CHANGE,
            title=f"the change {quote_text(change.purpose)}",
            why=f"{why}: {facts}" if facts else why,
            waiting_since=self.changes.last_time(change.id),
            command=command.format(id=change.id),
            subject_id=change.id,
        )

    def _held_goals(self, asked_ids: set[str]) -> Iterator[InboxItem]:
        """Give goals that stand still, but for those about which a request waits already."""
        held_goals = self.goals.list_standing_still(limit=MOST_GOALS)
        unplanned_goals = self.goals.list_unplanned(limit=MOST_GOALS)
        for goal in [*held_goals, *unplanned_goals]:
            if goal.id not in asked_ids:
                yield self._from_goal(goal)

    def _from_goal(self, goal: Goal) -> InboxItem:
        why, command = _GOALS.get(goal.held, _NOT_PLANNED)
        facts = one_line(goal.why, _LONGEST_WHY)
        holds = self.goals.ledger.records_of(goal.id, HELD) if goal.held else []
        return InboxItem(
            id=goal.id,
            kind=HELD_GOAL,
            title=f"the goal {quote_text(goal.text)}",
            why=f"{why}: {facts}" if facts else why,
            waiting_since=holds[-1].time if holds else goal.created_at,
            command=command.format(id=goal.id),
            subject_id=goal.id,
        )

    def _failed_deployments(self) -> Iterator[InboxItem]:
        for deployment in deployments.deployments(self.desk.ledger, limit=1):
            is_recent = deployment.changed_at > self._format_oldest()
            if (outcome := _DEPLOYMENTS.get(deployment.state)) and is_recent:
                yield self._from_deployment(deployment, outcome)

    def _from_deployment(self, deployment: Deployment, outcome: str) -> InboxItem:
        """Say what failed in the words of its change; where the branch still has it, undo it."""
        reason = one_line(deployment.reason, _LONGEST_WHY)
        change = self.changes.find_by_commit(deployment.commit_id)
        about = f" of {quote_text(change.purpose)}" if change else ""
        reverted_id = self.find_change_to_revert(deployment)
        looking = f"astra ledger story {deployment.id}"
        return InboxItem(
            id=deployment.id,
            kind=FAILED_DEPLOYMENT,
            title=f"the deployment{about or ' of ' + deployment.release} failed",
            why=f"{outcome}: {reason}" if reason else outcome,
            waiting_since=deployment.changed_at,
            command=f"astra changes revert {reverted_id} --deploy" if reverted_id else looking,
            subject_id=deployment.release,
        )

    def _format_oldest(self) -> str:
        return format_time(parse_time(self.desk.now()) - _REMEMBERED)


def _from_round(item: Mapping[str, Any]) -> InboxItem:
    """Give a decision that has some of its signatures, and is no answer to a request."""
    return InboxItem(
        id=item["round"],
        kind=WAITING_SIGNATURE,
        title=f"{item['action'].replace('_', ' ')}, which takes {item['needed']} signatures",
        why=item["words"],
        waiting_since=item["since"],
        command=f"astra operators sign {item['round'][:16]}",
        subject_id=item["round"],
        expires_at=format_time(parse_time(item["since"]) + cosigning.LIFETIME),
    )


def _describe_plan(plan: AgentPlan) -> tuple[str, str]:
    """Say why a plan stands still, and which command lets it go on."""
    why, command = _PLANS[plan.state]
    if plan.state is PlanState.PAUSED and plan.reason == talk.QUESTION:
        return "it asks you something", "astra plans message {id} TEXT"
    if way_to_room := find_way_to_room(plan):
        why, command = "a cap on tokens or money is reached", way_to_room
    facts = plan.questions[0] if plan.has_questions else plan.reason
    return (f"{why}: {one_line(facts, _LONGEST_WHY)}" if facts else why), command


def _describe_conflict(change: Change) -> str:
    if change.state is not State.CONFLICT or not change.conflict:
        return ""
    return one_line(f"{change.conflict['why']} {', '.join(change.conflict['paths'])}", _LONGEST_WHY)
