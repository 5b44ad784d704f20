"""A release that was taken back asks to be mended: one goal for each rollback, and no more.

The goal is proposed and planned as any other; adopting it is the operator's, or the signed
policy's (`goals.repair_policy`). Its key is the deployment that was taken back, so that a crash
between any two lines makes neither none nor two. It belongs to the story of that deployment.
"""

from contextlib import suppress
from dataclasses import dataclass

from astra.deployments import views
from astra.deployments.views import Deployment
from astra.goals import events as goals
from astra.goals.model import read_request
from astra.goals.repair_policy import CATEGORY, SOURCE, TASK, repair_key
from astra.trusted.changes.views import Book
from astra.trusted.kernel.errors import DuplicateKey
from astra.trusted.kernel.ids import id_from_content
from astra.trusted.kernel.text import one_line, quote_text
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

_LONGEST_REASON = 600


@dataclass(frozen=True)
class Repairs:
    ledger: Ledger

    def propose(self, deployment_id: str) -> None:
        """Record the goal that mends what a rollback took out of service."""
        deployment = views.deployment(self.ledger, deployment_id)
        if deployment is None:
            return
        request = read_request(
            {"text": self._describe(deployment), "task": TASK, "category": CATEGORY}
        )
        identifier = id_from_content("goal", repair_key(deployment.id), digits=16)
        fields = goals.fill_goal_event(
            identifier,
            {**request, "source": SOURCE, "deployment": deployment.id},
            actor=goals.DAEMON,
            correlation=deployment.correlation,
        )
        event = Event(type=goals.CREATED, key=repair_key(deployment.id), **fields)
        with suppress(DuplicateKey):  # it was made before the daemon ended
            self.ledger.append([event])

    def _describe(self, deployment: Deployment) -> str:
        if deployment.kind == "rollback":
            release, why = deployment.replaced or "", "the operator went back to an older release"
        else:
            release, why = deployment.release, deployment.reason
        failed = views.release(self.ledger, release)
        commit = f", commit {failed.commit_id[:12]}" if failed else ""
        change = Book(self.ledger).find_by_commit(failed.commit_id) if failed else None
        title = quote_text(change.purpose) if change else "a release"
        reason = one_line(why, _LONGEST_REASON)
        return f"{title} was taken back: {reason} (release {release}{commit}, {deployment.id})"
