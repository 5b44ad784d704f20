"""Pushing the commit of a settled release to the operator's remote, once their checks agree.

It comes after success and decides nothing about it: whatever fails here is told, and the deployment
stands. A push that a crash interrupted is made again, which changes nothing when it had arrived.

| `[deploy] push` | where the commit goes                                                   |
|-----------------|-------------------------------------------------------------------------|
| fast-forward    | the branch of the same name                                             |
| branch          | `astra/CHANGE`, the branch of the change that is deployed               |
| pull-request    | the same, and a pull request from there into the branch is asked for    |

A remote that cannot be reached is tried again, ever more rarely. One that refuses because people
committed to the branch is not: `astra sync` brings their commits in, and the next release goes out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from astra.deployments import events, views
from astra.deployments.ports import Checked
from astra.deployments.stage import Stage
from astra.deployments.views import Deployment
from astra.trusted.kernel.clock import Clock, parse_time
from astra.trusted.ledger.record import Event

FAST_FORWARD, BRANCH, PULL_REQUEST = "fast-forward", "branch", "pull-request"
CHECKS, BEHIND, REFUSED, DENIED, UNREACHABLE = (
    "checks",
    "behind",
    "refused",
    "denied",
    "unreachable",
)
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 480))
"""How long after each failed attempt an unreachable remote is tried again."""
_SAID = 1000


@dataclass(frozen=True, kw_only=True)
class PushOrder:
    """What is to go out: one commit, to one branch, perhaps as a pull request into another."""

    commit: str
    branch: str
    into: str = ""
    title: str = ""
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class PushOutcome:
    ok: bool
    detail: str
    code: str = ""
    next_step: str = ""
    pull_request: str = ""


@dataclass(frozen=True, kw_only=True)
class ChangeNote:
    """What people at the remote read about the change that is deployed."""

    id: str
    title: str
    text: str


class Remote(Protocol):
    """The operator's remote repository, and their own checks before it."""

    def check(self, folder: str, *, correlation: str) -> Checked:
        """Run the operator's commit checks in a box, on the files of a release."""
        ...

    def push(self, order: PushOrder) -> PushOutcome:
        """Push a commit and ask for its pull request; doing it again changes nothing."""
        ...


@dataclass(frozen=True, kw_only=True)
class Pushing:
    stage: Stage
    remote: Remote
    clock: Clock
    branch: str
    describe_commit: Callable[[str], ChangeNote | None]
    """Describes the change that brought a commit; a person's own commit has none."""

    def find_candidate(self) -> Deployment | None:
        """Give the newest settled deployment, unless its push is over or tried again later."""
        settled = views.newest_settled(self.stage.ledger)
        return settled if settled and self._is_due(settled) else None

    def due_deployment(self) -> Deployment | None:
        """Give the deployment whose commit is to be pushed now."""
        candidate = self.find_candidate()
        if candidate is None or self.stage.stopped() or not self.stage.plan().push_remote:
            return None
        return candidate

    def advance(self) -> bool:
        """Push what is due; tells whether there was something."""
        due = self.due_deployment()
        if due is None:
            return False
        order = self._make_order(due.commit_id)
        outcome = self._run_checks(due) or self.remote.push(order)
        self.stage.ledger.append([_make_outcome_event(due, order, outcome)])
        return True

    def _is_due(self, settled: Deployment) -> bool:
        attempt = views.last_push(self.stage.ledger, settled.id)
        if attempt is None:
            return True
        if attempt.code != UNREACHABLE or attempt.attempts > len(PAUSES):
            return False
        return self.clock.now() >= parse_time(attempt.time) + PAUSES[attempt.attempts - 1]

    def _make_order(self, commit: str) -> PushOrder:
        mode = self.stage.plan().push
        if mode == FAST_FORWARD:
            return PushOrder(commit=commit, branch=self.branch)
        note = self.describe_commit(commit)
        branch = f"astra/{note.id if note else commit[:12]}"
        if mode == BRANCH:
            return PushOrder(commit=commit, branch=branch)
        return PushOrder(
            commit=commit,
            branch=branch,
            into=self.branch,
            title=note.title if note else f"Commit {commit[:12]} is in service",
            text=note.text if note else "It was deployed by the operator and stayed healthy.",
        )

    def _run_checks(self, due: Deployment) -> PushOutcome | None:
        """Run the operator's checks; gives what they object to."""
        if not self.stage.plan().commit_checks:
            return None
        folder = self.stage.releases.folder(due.release)
        checked = self.remote.check(folder, correlation=due.correlation)
        if checked.ok:
            return None
        next_step = "propose a change that mends it; its release is checked and pushed in turn"
        return PushOutcome(ok=False, detail=checked.detail, code=CHECKS, next_step=next_step)


def _make_outcome_event(due: Deployment, order: PushOrder, outcome: PushOutcome) -> Event:
    data = {"deployment": due.id, "commit": due.commit_id, "branch": order.branch}
    data |= {"reason": outcome.detail[:_SAID]}
    if outcome.ok:
        data |= {"pull_request": outcome.pull_request}
        return Event(type=events.PUSHED, actor="daemon", data=data, correlation=due.correlation)
    data |= {"code": outcome.code, "next_step": outcome.next_step}
    return Event(type=events.PUSH_FAILED, actor="daemon", data=data, correlation=due.correlation)
