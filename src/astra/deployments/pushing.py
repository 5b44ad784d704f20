"""Pushing the commit of a settled release to the operator's remote, once their checks agree.

It comes after success and decides nothing about it: whatever fails here is told, and the deployment
stands. A push that a crash interrupted is made again, which changes nothing when it had arrived.
"""

from dataclasses import dataclass

from astra.deployments import events, views
from astra.deployments.ports import Checked, Remote
from astra.deployments.stage import Stage
from astra.deployments.views import Deployment
from astra.trusted.ledger.record import Event

_SAID = 1000


@dataclass(frozen=True)
class Pushing:
    stage: Stage
    remote: Remote

    def due(self) -> Deployment | None:
        """Give the deployment whose commit is to be pushed now."""
        settled = views.unpushed(self.stage.ledger)
        if settled is None or self.stage.stopped() or not self.stage.plan().push_remote:
            return None
        return settled

    def advance(self) -> bool:
        """Push what is due; tells whether there was something."""
        due = self.due()
        if due is None:
            return False
        outcome = self._checked(due)
        if outcome.ok:
            outcome = self.remote.push(due.commit_id)
        self.stage.ledger.append([_outcome(due, outcome)])
        return True

    def _checked(self, due: Deployment) -> Checked:
        if not self.stage.plan().commit_checks:
            return Checked(ok=True, detail="no checks are named")
        folder = self.stage.releases.folder(due.release)
        return self.remote.check(folder, correlation=due.correlation)


def _outcome(due: Deployment, done: Checked) -> Event:
    data = {"deployment": due.id, "commit": due.commit_id, "reason": done.detail[:_SAID]}
    if done.ok:
        return Event(type=events.PUSHED, actor="daemon", data=data, correlation=due.correlation)
    return Event(type=events.PUSH_FAILED, actor="daemon", data=data, correlation=due.correlation)
