"""DEPLOY tasks: wait for the deployment that a change's approval included, or ask for one."""

from dataclasses import dataclass

from astra.deployments import events, views
from astra.deployments.views import Deployment
from astra.goals.door import Door
from astra.goals.graph import Node
from astra.goals.kinds import DEPLOY_TOOL
from astra.goals.performing import look_at_approval
from astra.goals.ports import Done, TaskRun, Waiting
from astra.trusted.approvals.desk import Desk
from astra.trusted.changes.model import Change, State
from astra.trusted.changes.views import Book
from astra.trusted.kernel.errors import NeedsApproval
from astra.trusted.ledger.ports import Ledger

_GOOD = "settled"


@dataclass(frozen=True)
class ChangeOutcomes:
    """Whether a change that a goal made still stands."""

    ledger: Ledger
    book: Book

    def find_objection(self, identifier: str) -> str:
        """Say why a change does not stand, or nothing."""
        change = self.book.get(identifier)
        if change.state is not State.EXECUTED:
            return f"{change.id} is {change.state}"
        deployment = find_deployment(self.ledger, change)
        if deployment is None:
            return f"{change.id} is not deployed yet" if change.terms.get("deploy") else ""
        return "" if deployment.state == _GOOD else f"{deployment.id} is {deployment.state}"


@dataclass(frozen=True, kw_only=True)
class DeployTask:
    ledger: Ledger
    book: Book
    desk: Desk
    door: Door
    model_calls: int = 0

    def is_repeatable(self, _node: Node) -> bool:
        return False

    def begin(self, run: TaskRun) -> Done | Waiting:
        """Ask for a deployment, unless the diff was signed with it: then that one is waited for."""
        change = self.book.get(str(run.arguments["change"]))
        if change.terms.get("deploy"):
            return Waiting(on=change.id, why=f"for the deployment of {change.id}")
        return self._ask(run, change)

    def look(self, run: TaskRun, on: str) -> Done | Waiting | None:
        change = self.book.get(str(run.arguments["change"]))
        if on.startswith("apr_"):
            return look_at_approval(self.desk, on, granted=lambda: self._ask(run, change))
        return self._describe_deployment(change)

    def recover(self, run: TaskRun) -> Done | Waiting | None:
        """Wait for the deployment that an attempt asked for; where it came to none, ask for it."""
        change = self.book.get(str(run.arguments["change"]))
        if change.terms.get("deploy") or find_deployment(self.ledger, change):
            return Waiting(on=change.id, why=f"for the deployment of {change.id}")
        return self._ask(run, change)

    def _ask(self, run: TaskRun, change: Change) -> Done | Waiting:
        message = {"commit_message": f"{change.id} for {run.goal.id}"}
        try:
            answer = self.door.call(run, DEPLOY_TOOL, message)
        except NeedsApproval as waits:
            approval = str(waits.facts.get("approval_id", ""))
            return Waiting(on=approval, why=f"the deployment waits for {approval}")
        if not answer["deployed"]:
            return Done(
                succeeded=False,
                reason=str(answer.get("code") or "not_deployed"),
                detail=str(answer.get("reason") or ""),
            )
        return Waiting(on=change.id, why=f"for the deployment of {change.id}")

    def _describe_refusal(self, change: Change) -> Done | None:
        declined = self.ledger.find_mentions(change.id, events.DECLINED)
        if not declined:
            return None
        data = declined[-1].data
        return Done(succeeded=False, reason=data["code"], detail=data["reason"], final=True)

    def _describe_deployment(self, change: Change) -> Done | None:
        mine = find_deployment(self.ledger, change)
        if mine is None:
            return self._describe_refusal(change)
        if mine.is_open:
            return None
        if mine.state == _GOOD:
            note = f"{mine.id} serves {change.id}"
            return Done(outputs={"deployment": mine.id, "notes": note})
        detail = f"{mine.id} is {mine.state}{f': {mine.reason}' if mine.reason else ''}"
        return Done(succeeded=False, reason="not_deployed", detail=detail, final=True)


def find_deployment(ledger: Ledger, change: Change) -> Deployment | None:
    """Give the newest deployment of the commit that a change became."""
    deployments = views.deployments(ledger, limit=20)
    return next((item for item in deployments if item.commit_id == change.commit), None)
