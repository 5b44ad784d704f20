"""The duty of one instance: bring its app to the release that the chain records for it, prove it.

It works under the lease of its instance: what it appends carries the epoch, and a worker that lost
the lease can prove nothing. Every step may be done again after a crash: a folder is built once and
checked by its digest, a release that serves is not started twice, and a proof is appended only
after the app stayed healthy for its watch, in this term.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from astra.deployments import views as deployment_views
from astra.deployments.failing import MOST_TEXT
from astra.deployments.fleet import events, views
from astra.deployments.fleet.assignment import Assignment, choose_assignment
from astra.deployments.fleet.folders import provide_folder
from astra.deployments.fleet.own_state import OwnState, choose_story
from astra.deployments.ports import Running
from astra.deployments.stage import Stage
from astra.deployments.views import Release
from astra.deployments.watching import (
    MOST_CRASHES,
    BrokenOff,
    HolderGone,
    Tally,
    Trouble,
)
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.fencing import find_fence
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.settings.fleet_settings import Fleet

_OUTPUT = 2000


@dataclass(kw_only=True)
class InstanceDuty:
    label: str
    machine: str
    stage: Stage
    fleet: Callable[[], Fleet]
    state: OwnState
    sweep: Callable[[], None]
    """Takes away the folders of releases that were removed."""
    _current: Assignment | None = field(default=None, init=False)
    _started: Assignment | None = field(default=None, init=False)
    """What this worker started itself."""
    _tally: Tally = field(default_factory=lambda: Tally(name="health"), init=False)

    def __post_init__(self) -> None:
        is_stopped = self.stage.stopped
        self.stage = replace(self.stage, stopped=lambda: is_stopped() or self._is_outdated())
        self._is_stopped = is_stopped

    def run_once(self) -> None:
        """Do what is due for this instance now; one that the fleet does not name does nothing."""
        if self._is_stopped() or self.label not in self.fleet().instances:
            return
        assignment = self.find_assignment()
        if assignment != self._current:
            self._current, self._tally = assignment, Tally(name="health")
        row = views.find_instance(self._ledger, self.label)
        if assignment.is_failed_in(row):
            return
        if assignment.release is None:
            self._end_app()
            return
        release = deployment_views.release(self._ledger, assignment.release)
        assert release is not None  # noqa: S101 - what is ordered or live was built
        try:
            if assignment.is_proven_by(row, _read_epoch()):
                self._look_after(assignment, release)
            else:
                self._bring_to(assignment, release)
        except (BrokenOff, HolderGone):
            return

    def find_assignment(self) -> Assignment:
        live = deployment_views.live_release(self._ledger)
        rollout = views.find_open_rollout(self._ledger)
        return choose_assignment(self.label, rollout, live.id if live else None)

    def _is_outdated(self) -> bool:
        """Tell that something else is to be done by now: what waits for the app breaks off."""
        return self.find_assignment() != self._current

    def _bring_to(self, assignment: Assignment, release: Release) -> None:
        try:
            trouble = self._serve(assignment, release)
        except AstraError as error:
            trouble = Trouble(reason=error.detail, blamed=False)
        if trouble:
            self._record_failure(assignment, release, trouble)
            return
        self._record_proof(assignment, release)
        self.sweep()

    def _serve(self, assignment: Assignment, release: Release) -> Trouble | None:
        """See that it serves and stays healthy for its watch; gives what went wrong."""
        deployment = deployment_views.deployment(self._ledger, assignment.deployment)
        serving = self._find_serving()
        if serving is None or self._is_start_due(serving, assignment, release):
            anew = assignment.attempt != 1
            story = choose_story(deployment)
            provide_folder(self.stage, release, correlation=story, anew=anew)
            instance = self.state.prepare(assignment, release)
            instance = instance or self.stage.bring_up(release, deployment)
            if isinstance(instance, Trouble):
                return instance
        else:
            instance = serving.instance
        # Also where it serves already: a crash may have left what it replaced running.
        self.stage.switch(deployment, instance, release)
        self._started = assignment
        return self.stage.make_watch(release).for_window(instance)

    def _is_start_due(self, serving: Running, assignment: Assignment, release: Release) -> bool:
        """Tell whether it has to be started: a replacement try begins with a new process."""
        is_replacement = assignment.attempt > 1 and self._started != assignment
        return serving.release != release.id or serving.is_over or is_replacement

    def _look_after(self, assignment: Assignment, release: Release) -> None:
        """Watch what was proven: in a rollout trouble is told, else it is started again."""
        serving = self._find_serving()
        is_serving = serving is not None and serving.release == release.id and not serving.is_over
        if not assignment.is_ordered:
            if not is_serving:
                self._bring_to(assignment, release)
            return
        trouble = self._check_health(serving, release) if is_serving and serving else None
        if not is_serving:
            reason = serving.reason if serving else "its holder or its machine was restarted"
            trouble = Trouble(reason=f"it ended: {reason}", blamed=serving is not None)
        if trouble:
            self._record_failure(assignment, release, trouble)

    def _check_health(self, serving: Running, release: Release) -> Trouble | None:
        plan = self.stage.plan_for(release)
        if serving.crashes >= MOST_CRASHES:
            return Trouble(reason=f"it crashed {serving.crashes} times: {serving.reason}")
        if not plan.health_path:
            return None
        checked = self.stage.holder.check(
            serving.instance, plan.health_path, seconds=plan.health_seconds
        )
        return self._tally.count(checked)

    def _end_app(self) -> None:
        if self._find_serving() is not None:
            self.stage.stop_app()

    def _find_serving(self) -> Running | None:
        state = self.stage.holder.state()
        return state.serving if state else None

    def _record_proof(self, assignment: Assignment, release: Release) -> None:
        plan = self.stage.plan_for(release)
        health = f"healthy for {plan.watch_seconds:g} s: {plan.protection}"
        proof = {"digest": release.digest, "health": health, "machine": self.machine}
        self._append(events.INSTANCE_RELEASED, assignment, release, proof)

    def _record_failure(self, assignment: Assignment, release: Release, trouble: Trouble) -> None:
        """Tell it once for each reason; outside a try it is tried again, ever more rarely."""
        row, reason = views.find_instance(self._ledger, self.label), trouble.reason[:MOST_TEXT]
        is_told = row is not None and row.state == "failed" and row.reason == reason
        if assignment.is_ordered or not is_told:
            output = self.stage.holder.read_output()[-_OUTPUT:]
            failure = {"reason": reason, "blamed": trouble.blamed, "said": output}
            self._append(events.INSTANCE_FAILED, assignment, release, failure)
        if not assignment.is_ordered:
            raise AstraError(f"{release.id} does not serve: {reason}", next_step="astra releases")

    def _append(
        self, type_: str, assignment: Assignment, release: Release, facts: Mapping[str, Any]
    ) -> None:
        data = {
            "instance": self.label,
            "release": release.id,
            "deployment": assignment.deployment,
            "attempt": assignment.attempt,
            "epoch": _read_epoch(),
            **facts,
        }
        actor, subject = f"instance:{self.label}", assignment.deployment or None
        self._ledger.append([Event(type=type_, actor=actor, data=data, subject=subject)])

    @property
    def _ledger(self) -> Ledger:
        return self.stage.ledger


def _read_epoch() -> int:
    """Give the epoch of the lease that this thread works under."""
    fence = find_fence()
    return fence.epoch if fence else 0
