"""Carrying a deployment out: build, start beside, ask for health, switch, watch, or go back.

Every step is derived from the state in the ledger and may be run again after a crash: a build makes
the same folder, a release that already serves is not started twice, and the switch is what the
ledger says, made true. Windows are measured by a clock that only goes forward.

| state        | step                                                                       |
|--------------|----------------------------------------------------------------------------|
| requested    | build the release                                                          |
| built        | start it beside the old one, ask for its health, record the switch, switch |
| switched     | see that it serves, watch it; settled when the window is over              |
| rolling_back | put the last good release into service again                               |
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from astra.deployments import events, reloading, views
from astra.deployments.stage import Stage
from astra.deployments.upkeep import Upkeep
from astra.deployments.views import Deployment, Release
from astra.deployments.watching import BrokenOff, HolderGone, Trouble
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

_MOST_WITHHELD = 200
_SAID = 2000
_ATTEMPTS = 3


@dataclass(frozen=True, kw_only=True)
class Work:
    stage: Stage
    upkeep: Upkeep

    def advance(self) -> bool:
        """Do the next step of the deployment under way; tells whether there was one to do."""
        deployment = views.open_deployment(self._ledger)
        if deployment is None or self.stage.stopped():
            return False
        steps = {
            "requested": self.build,
            "built": self.start,
            "switched": self.watch,
            "rolling_back": self.go_back,
        }
        try:
            for _attempt in range(_ATTEMPTS):
                with contextlib.suppress(HolderGone):
                    return steps[deployment.state](deployment)
            trouble = Trouble(reason="the holder of the app ended again and again", blamed=False)
            return self._failed(deployment, "holder", trouble)
        except BrokenOff:
            return False
        finally:
            self.upkeep.export()

    def build(self, deployment: Deployment) -> bool:
        try:
            built = self.stage.releases.build(
                deployment.release, deployment.commit_id, correlation=deployment.correlation
            )
        except AstraError as error:
            return self._failed(deployment, "build", _not_blamed(error))
        data = {"release": deployment.release, "commit": deployment.commit_id}
        data |= {"digest": built.digest, "files": built.files, "size": built.size}
        data |= {"withheld": list(built.withheld[:_MOST_WITHHELD])}
        return self._append(_about(events.BUILT, deployment, data))

    def start(self, deployment: Deployment) -> bool:
        """Bring the release up beside the one that serves; the switch is recorded, then made."""
        release, serving = self._release(deployment.release), views.live(self._ledger)
        try:
            if trouble := self._rehearsed(deployment, release):
                return self._failed(deployment, "staging", trouble)
            instance, how = self._reloaded(deployment, serving, release)
            instance = instance or self.stage.bring_up(release)
            if isinstance(instance, Trouble):
                return self._failed(deployment, "start", instance)
            backup = self._back_up(serving, deployment.kind)
        except AstraError as error:
            return self._failed(deployment, "start", _not_blamed(error))
        replaced = serving.id if serving else None
        data = {"release": release.id, "replaced": replaced, "backup": backup, "how": how}
        self._append(_about(events.SWITCHED, deployment, data))
        self.stage.switch(deployment, instance, release)
        return True

    def watch(self, deployment: Deployment) -> bool:
        """See that the release serves, then look at it until the window is over."""
        release = self._release(deployment.release)
        try:
            instance = self.stage.make_serve(deployment, release)
        except AstraError as error:
            instance = _not_blamed(error)
        if isinstance(instance, Trouble):
            return self._failed(deployment, "switch", instance)
        if trouble := self.stage.look(release).for_window(instance):
            return self._failed(deployment, "watch", trouble)
        self._append(_about(events.SETTLED, deployment, {"release": release.id}))
        self.upkeep.tidy()
        return True

    def go_back(self, deployment: Deployment) -> bool:
        """Try the good releases, the last one first; when none comes up, say so loudly."""
        troubles: list[str] = []
        for release in views.good(self._ledger, besides=deployment.release):
            try:
                instance = self.stage.bring_up(release)
            except AstraError as error:
                instance = _not_blamed(error)
            if isinstance(instance, Trouble):
                troubles.append(f"{release.id}: {instance.reason}")
                continue
            data = {"release": release.id, "from": deployment.release}
            self._append(_about(events.ROLLED_BACK, deployment, data))
            self.stage.switch(deployment, instance, release)
            return True
        why = "; ".join(troubles) or "there is no proven release to go back to"
        return self._append(_about(events.ROLLBACK_FAILED, deployment, {"reason": why[:_SAID]}))

    def _rehearsed(self, deployment: Deployment, release: Release) -> Trouble | None:
        if not self.stage.plan().staging or deployment.kind == "rollback":
            return None
        trouble = self.stage.rehearse(release)
        if trouble is None:
            self._append(_about(events.REHEARSED, deployment, {"release": release.id}))
        return trouble

    def _reloaded(
        self, deployment: Deployment, serving: Release | None, release: Release
    ) -> tuple[str | None, str]:
        """Have the running app take the new code over, where that is safe; else say why not."""
        state, plan = self.stage.holder.state(), self.stage.plan()
        running = state.serving if state else None
        if not plan.reload or serving is None or running is None or running.release != serving.id:
            return None, "started"
        changes = self.stage.releases.differences(serving.id, release.id)
        if reason := reloading.why_not(changes, ignored=plan.ignored):
            return None, f"started: {reason}"[:_SAID]
        data = {"release": release.id, "from": serving.id}
        self._append(_about(events.RELOAD_BEGUN, deployment, data))
        changed = reloading.modules(changes, ignored=plan.ignored)
        outcome = self.stage.holder.reload(running.instance, self.stage.spec(release), changed)
        if not outcome.ok:
            return None, f"started: it was not reloaded, {outcome.detail}"[:_SAID]
        return running.instance, "reloaded"

    def _back_up(self, serving: Release | None, kind: str) -> str | None:
        if serving is None or not self.stage.releases.intact(serving.id, serving.digest):
            return None
        try:
            return self.stage.releases.back_up(serving.id, serving.id)
        except AstraError:
            if kind == "rollback":  # a full disk keeps nobody from going back
                return None
            raise

    def _failed(self, deployment: Deployment, stage: str, trouble: Trouble) -> bool:
        """Record a failure; after the switch it makes a rollback due, and the commit is blamed."""
        rolls_back = deployment.state == "switched"
        target = views.good(self._ledger, besides=deployment.release)[:1] if rolls_back else []
        if deployment.state == "rolling_back":
            data = {"reason": trouble.reason[:_SAID]}
            return self._append(_about(events.ROLLBACK_FAILED, deployment, data))
        data = {
            "release": deployment.release,
            "stage": stage,
            "reason": trouble.reason[:_SAID],
            "blamed": trouble.blamed,
            "rolls_back": rolls_back,
            "rollback_to": target[0].id if target else None,
            "said": self._said(stage),
        }
        batch = [_about(events.FAILED, deployment, data)]
        if trouble.blamed and deployment.kind == "deploy":
            why = f"{stage}: {trouble.reason}"[:_SAID]
            blame = {"commit": deployment.commit_id, "reason": why}
            batch.append(_about(events.QUARANTINED, deployment, blame))
        self._ledger.append(batch)
        return True

    def _said(self, stage: str) -> str:
        """Give the end of what the failing app printed."""
        speaker = self.stage.rehearsal if stage == "staging" else self.stage.holder
        return "" if stage == "build" else speaker.said()[-_SAID:]

    def _append(self, event: Event) -> bool:
        self._ledger.append([event])
        return True

    @property
    def _ledger(self) -> Ledger:
        return self.stage.ledger

    def _release(self, identifier: str) -> Release:
        release = views.release(self._ledger, identifier)
        assert release is not None  # noqa: S101 - a deployment past its build has one
        return release


def _not_blamed(error: AstraError) -> Trouble:
    return Trouble(reason=error.detail, blamed=False)


def _about(type_: str, deployment: Deployment, data: Mapping[str, Any]) -> Event:
    """Give an event of a deployment's own story."""
    return Event(
        type=type_,
        actor="daemon",
        data={"deployment": deployment.id, "kind": deployment.kind, **data},
        correlation=deployment.correlation,
        subject=deployment.id,
    )
