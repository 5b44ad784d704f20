"""What doors ask of deployments, and what is due of them now.

Deployments are carried out by a lane of the background (`flow.lanes`), one step at a time.
"""

import contextlib
import threading
import time
from typing import Any

from astra.deployments import views
from astra.deployments.asking import AgentRequests, Obstacle
from astra.deployments.ports import Egress, HolderState
from astra.deployments.pushing import Pushing
from astra.deployments.views import Deployment, Release
from astra.deployments.work import Work
from astra.trusted.kernel.errors import AstraError, NotFound, Refused
from astra.trusted.policy.authority import Signed

PORTS_RULED = "binds the granted ports only, by Landlock"
PORTS_NOT_RULED = "may bind any free port: this kernel has no Landlock rules for ports (Linux 6.7)"
UNSEEN = "not seen: the app has the host's network (app.permissions.network)"
_UNDER_WAY = ("requested", "built", "rolling_out")
_SERVES = frozenset({"switched", "settled"})
_ALREADY_LIVE = {
    "success": True,
    "human_approval_required": False,
    "deployed": True,
    "backup_location": None,
}


class Leaving:
    """Time that only goes forward, and an end to waiting when the daemon leaves."""

    def __init__(self) -> None:
        self._leaving = threading.Event()

    def monotonic(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float) -> bool:
        return self._leaving.wait(seconds)

    def leave_now(self) -> None:
        self._leaving.set()


class Deployer:
    """Takes requests, tells what the app is doing, and knows what is to be done next.

    The app is kept up once it was asked for: by `astra up`, by a deployment, or because a holder
    was found running.
    """

    def __init__(
        self,
        asked: AgentRequests,
        work: Work,
        pushing: Pushing,
        leaving: Leaving,
        egress: Egress,
    ) -> None:
        self.egress = egress
        self.asked = asked
        self.requests = asked.requests
        self.work = work
        self.pushing = pushing
        self.stage = work.stage
        self._ledger = work.stage.ledger
        self._leaving = leaving
        self._first = False
        self.keeps_app = False
        self.ends_app = False
        self.settled = False

    def prepare(self, *, app: bool = False) -> None:
        """Say before work begins whether the app is to be started too."""
        self._first = app and self.has_app()
        # A holder that was killed, perhaps together with the daemon, comes back as well.
        self.keeps_app = app or self.stage.holder.is_expected()

    def leave(self) -> None:
        """Break off what waits for the app: it is done again by the next daemon."""
        self._leaving.leave_now()

    def close(self) -> None:
        """Leave for good; the app goes on with its holder unless it is to end too."""
        with contextlib.suppress(AstraError, OSError):
            self.record_egress()
        if self.ends_app:
            self.stage.holder.close()
            self.stage.rehearsal.close()

    def is_busy(self) -> bool:
        return views.open_deployment(self._ledger) is not None

    def deploy(
        self, change: str | None, *, actor: str, correlation: str = "", signed: Signed | None = None
    ) -> Deployment:
        self._require_ready()
        if not (signed and signed.statement.get("content", {}).get("force")):
            self._refuse_live(self.requests.approved.may_deploy(change).commit)
        deployment = self.requests.deploy(
            change, actor=actor, correlation=correlation, signed=signed
        )
        self.keeps_app = True
        return deployment

    def find_live_twin(self, commit: str) -> Release | None:
        """Give the live release if deploying this commit now would build the same again."""
        if not self.has_app() or self.stage.stopped():
            return None
        if self.has_fleet():
            return self.work.fleet.find_live_twin(commit, self.stage.plan().seal())
        twin, state = self.stage.find_live_twin(commit), self.stage.holder.state()
        running = state.serving if state else None
        # One that is to serve and does not is no reason to do nothing.
        return twin if twin and running and running.release == twin.id else None

    def _refuse_live(self, commit: str) -> None:
        if twin := self.find_live_twin(commit):
            raise Refused(
                f"{twin.id} is live already, with this commit and these settings",
                code="already_live",
                next_step="nothing has to be done; `astra deploy --force` builds it anew",
            )

    def name_target(self) -> str:
        """Name what would be deployed; refused where nothing could, before anybody is asked."""
        self._require_ready()
        return self.asked.name_target()

    def describe_target(self) -> str:
        return self.asked.describe_target()

    def deploy_for_agent(
        self, message: str, expected: str, *, actor: str, correlation: str
    ) -> dict[str, Any]:
        """Deploy what is approved and wait for the switch; what still blocks it is an answer."""
        self._require_ready()
        verdict = self.asked.judge_target(expected)
        facts = {"commit_hash": verdict.commit, "tests_passed": verdict.tests_passed}
        blocked = self.asked.find_obstacle(verdict, message, actor=actor, correlation=correlation)
        if blocked is not None:
            return {**facts, **_answer_from_obstacle(blocked)}
        if self.find_live_twin(verdict.commit):
            return {**facts, **_ALREADY_LIVE}
        deployment = self.deploy(None, actor=actor, correlation=correlation)
        deployment = self.await_switch(deployment.id)
        deployed = deployment.state in _SERVES
        return {
            **facts,
            "success": deployed,
            "human_approval_required": False,
            "deployed": deployed,
            "backup_location": deployment.backup,
            **({} if deployed else {"code": deployment.state, "reason": deployment.reason}),
        }

    def roll_back(self, release: str | None, signed: Signed) -> Deployment:
        self._require_ready()
        deployment = self.requests.roll_back(release, signed)
        self.keeps_app = True
        return deployment

    def await_switch(self, identifier: str, *, seconds: float = 1200.0) -> Deployment:
        """Wait until a deployment has been switched or has failed."""
        deadline = time.monotonic() + seconds
        while True:
            head = self._ledger.head().sequence
            deployment = views.deployment(self._ledger, identifier)
            if deployment is None:
                raise NotFound(f"there is no deployment {identifier}", next_step="astra releases")
            if deployment.state not in _UNDER_WAY or time.monotonic() > deadline:
                return deployment
            self._ledger.wait(head, 1.0)

    def state(self) -> dict[str, Any] | None:
        """Say what the app is doing; None when nothing was ever deployed."""
        latest = views.deployments(self._ledger, limit=1)
        if not latest:
            return None
        serving, holder = views.live_release(self._ledger), self.stage.holder.state()
        running = holder.serving if holder else None
        down = "fleet" if self.has_fleet() else "down"
        return {
            "release": serving.id if serving else None,
            "commit": serving.commit_id if serving else None,
            "port": holder.port if holder else None,
            "holder": holder.pid if holder else None,
            "state": running.state if running else down,
            "crashes": running.crashes if running else 0,
            "deployment": {
                "id": latest[0].id,
                "state": latest[0].state,
                "changed_at": latest[0].changed_at,
                "watch_seconds": self.stage.plan().watch_seconds if self.has_app() else None,
            },
            "egress": self._egress_words(),
            "ports": self._port_words(holder),
            "kind": self._describe_protection(serving),
            "trouble": self._describe_trouble(holder),
        }

    def _describe_trouble(self, holder: HolderState | None) -> str:
        if self.has_fleet():
            return self.work.fleet.describe_trouble()
        return holder.trouble if holder else ""

    def _describe_protection(self, serving: Release | None) -> str:
        """Say what kind of program it is, and what is asked about its health."""
        try:
            return (self.stage.plan_for(serving) if serving else self.stage.plan()).protection
        except AstraError as error:
            return error.detail

    def _egress_words(self) -> str:
        """Say whether the app's connections can be seen at all."""
        network = self.stage.plan().network if self.has_app() else ()
        return UNSEEN if network == "host" else "recorded" if network else "none"

    def _port_words(self, holder: HolderState | None) -> str:
        """Say what keeps the app from binding other ports of this machine."""
        if holder is None or not self.has_app() or self.stage.plan().network != "host":
            return ""
        return PORTS_RULED if holder.rules_ports else PORTS_NOT_RULED

    def _require_ready(self) -> None:
        """Refuse at once what could not be begun."""
        self.stage.plan()
        if self.stage.stopped():
            raise Refused(
                "an operator has stopped all work", code="stopped", next_step="astra start"
            )

    def has_app(self) -> bool:
        try:
            return bool(self.stage.plan())
        except AstraError:
            return False

    def has_fleet(self) -> bool:
        """Tell whether instances of a fleet have the app, and this machine only leads them."""
        return self.work.fleet.is_on()

    def record_egress(self) -> None:
        """Record what the app connected to since the last such record."""
        self.egress.record_batches(self._ledger)

    def begin_term(self) -> None:
        """Settle anew: another machine may have deployed meanwhile."""
        self.settled = False

    def settle(self) -> None:
        """Once, at the start: finish removals, export, and bring the first release up."""
        self.settled = True
        self.stage.rehearsal.close()
        self.work.upkeep.sweep()
        self.work.upkeep.export()
        if self._first and views.live_release(self._ledger) is None and not self.is_busy():
            self.requests.deploy(None, actor="daemon")

    def due_push(self) -> Deployment | None:
        """Give the deployment whose commit is to be pushed now."""
        if self.pushing.find_candidate() is None or not self.has_app():
            return None
        return self.pushing.due_deployment()

    def keep_serving(self) -> None:
        """See that the release which is to serve does; what keeps it from it is an error."""
        if self.has_fleet():
            return  # each instance has a worker that keeps it up
        trouble = self.work.retry_rollback()
        trouble = self.work.upkeep.keep_serving() or trouble
        if trouble:
            raise AstraError(trouble, next_step="astra releases")


def _answer_from_obstacle(obstacle: Obstacle) -> dict[str, Any]:
    return {
        "success": False,
        "human_approval_required": obstacle.person,
        "deployed": False,
        "backup_location": None,
        "code": obstacle.code,
        "reason": obstacle.reason,
        "next_step": obstacle.next_step,
        "change_id": obstacle.change or None,
    }
