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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from astra.deployments import events, views
from astra.deployments.ports import AppHolder, AppSpec, Pace, Releases
from astra.deployments.views import Deployment, Release
from astra.deployments.watching import BrokenOff, HolderGone, Plan, Trouble, Watch
from astra.kernel.errors import AstraError
from astra.ledger.ports import Ledger
from astra.ledger.record import Event

_SAID = 2000
_ATTEMPTS = 3


@dataclass(frozen=True, kw_only=True)
class Work:
    ledger: Ledger
    releases: Releases
    holder: AppHolder
    pace: Pace
    plan: Callable[[], Plan]
    stopped: Callable[[], bool]

    def advance(self) -> bool:
        """Do the next step of the deployment under way; tells whether there was one to do."""
        found = views.open_deployment(self.ledger)
        if found is None or self.stopped():
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
                    return steps[found.state](found)
            trouble = Trouble(reason="the holder of the app ended again and again", blamed=False)
            return self._failed(found, "holder", trouble)
        except BrokenOff:
            return False
        finally:
            self.export()

    def build(self, deployment: Deployment) -> bool:
        try:
            built = self.releases.build(
                deployment.release, deployment.commit_id, correlation=deployment.correlation
            )
        except AstraError as error:
            return self._failed(deployment, "build", _not_blamed(error))
        data = {"release": deployment.release, "commit": deployment.commit_id}
        data |= {"digest": built.digest, "files": built.files, "size": built.size}
        return self._append(_about(events.BUILT, deployment, data))

    def start(self, deployment: Deployment) -> bool:
        """Bring the release up beside the one that serves; the switch is recorded, then made."""
        release = self._release(deployment.release)
        try:
            instance = self._bring_up(release)
            if isinstance(instance, Trouble):
                return self._failed(deployment, "start", instance)
            serving = views.live(self.ledger)
            backup = self._back_up(serving)
        except AstraError as error:
            return self._failed(deployment, "start", _not_blamed(error))
        replaced = serving.id if serving else None
        data = {"release": release.id, "replaced": replaced, "backup": backup}
        self._append(_about(events.SWITCHED, deployment, data))
        self._switch(deployment, instance, release)
        return True

    def watch(self, deployment: Deployment) -> bool:
        """See that the release serves, then look at it until the window is over."""
        release = self._release(deployment.release)
        try:
            instance = self._serving(deployment, release)
        except AstraError as error:
            instance = _not_blamed(error)
        if isinstance(instance, Trouble):
            return self._failed(deployment, "switch", instance)
        if trouble := self._look().for_window(instance):
            return self._failed(deployment, "watch", trouble)
        self._append(_about(events.SETTLED, deployment, {"release": release.id}))
        self.tidy()
        return True

    def go_back(self, deployment: Deployment) -> bool:
        """Try the good releases, the last one first; when none comes up, say so loudly."""
        troubles: list[str] = []
        for release in views.good(self.ledger, besides=deployment.release):
            try:
                instance = self._bring_up(release)
            except AstraError as error:
                instance = _not_blamed(error)
            if isinstance(instance, Trouble):
                troubles.append(f"{release.id}: {instance.reason}")
                continue
            data = {"release": release.id, "from": deployment.release}
            self._append(_about(events.ROLLED_BACK, deployment, data))
            self._switch(deployment, instance, release)
            return True
        why = "; ".join(troubles) or "there is no proven release to go back to"
        return self._append(_about(events.ROLLBACK_FAILED, deployment, {"reason": why[:_SAID]}))

    def keep_serving(self) -> str:
        """See that the release which is to serve does; gives what keeps it from it."""
        release = views.live(self.ledger)
        if release is None or self.stopped():
            return ""
        state = self.holder.state()
        serving = state.serving if state else None
        if serving and serving.release == release.id and not serving.over:
            return ""
        why = serving.reason if serving else "nothing was running"
        try:
            instance = self._bring_up(release)
            if isinstance(instance, Trouble):
                return self._not_serving(release, instance.reason)
            self._switch(None, instance, release)
        except AstraError as error:
            return self._not_serving(release, error.detail)
        except (BrokenOff, HolderGone):
            return "it is being started"
        data = {"release": release.id, "reason": why[:_SAID]}
        self.ledger.append([Event(type=events.RESTARTED, actor="daemon", data=data)])
        return ""

    def tidy(self) -> None:
        """Remove what is kept beyond the limit: never what serves, nor the last good one."""
        kept = views.releases(self.ledger)
        serving = views.live(self.ledger)
        safe = {release.id for release in views.good(self.ledger, besides="")[:2]}
        safe |= {serving.id} if serving else set()
        for release in kept[max(1, self.plan().keep) :]:
            if release.id not in safe:
                data = {"release": release.id}
                self.ledger.append([Event(type=events.REMOVED, actor="daemon", data=data)])
        self.sweep()

    def sweep(self) -> None:
        """Take away the folders of removed releases; a crash may have left some."""
        for release in views.releases(self.ledger, every=True):
            if release.state == "removed":
                self.releases.remove(release.id)

    def export(self) -> None:
        """Write `status.json` as of one sequence of the ledger."""
        while True:
            head = self.ledger.head()
            serving, latest = views.live(self.ledger), views.deployments(self.ledger, limit=1)
            listed = [release.as_dict() for release in views.releases(self.ledger)]
            if self.ledger.head().sequence == head.sequence:
                break
        document = {
            "sequence": head.sequence,
            "hash": head.hash,
            "time": head.time,
            "live": serving.as_dict() if serving else None,
            "deployment": latest[0].as_dict() if latest else None,
            "releases": listed,
        }
        self.releases.write_status(document)

    def _bring_up(self, release: Release) -> str | Trouble:
        """Start a release and wait for its health; gives the instance, or what went wrong."""
        if not self.releases.intact(release.id, release.digest):
            why = f"{release.id} is not what was built and approved: somebody wrote to it"
            return Trouble(reason=why, blamed=False)
        state = self.holder.state()
        for found in state.instances if state else ():
            if found is not (state and state.serving) or found.over:
                self.holder.end(found.instance)
        instance = self.holder.launch(self._spec(release))
        try:
            trouble = self._look().until_healthy(instance)
        except BrokenOff:
            self.holder.end(instance)
            raise
        if trouble:
            self.holder.end(instance)
        return trouble or instance

    def _look(self) -> Watch:
        return Watch(holder=self.holder, pace=self.pace, plan=self.plan(), stopped=self.stopped)

    def _serving(self, deployment: Deployment, release: Release) -> str | Trouble:
        """Make the recorded switch true, in case that a crash came between."""
        state = self.holder.state()
        for found in state.instances if state else ():
            if found.release == release.id and not found.over:
                self._switch(deployment, found.instance, release)
                return found.instance
        instance = self._bring_up(release)
        if not isinstance(instance, Trouble):
            self._switch(deployment, instance, release)
        return instance

    def _switch(self, deployment: Deployment | None, instance: str, release: Release) -> None:
        self.holder.switch(instance)
        self.releases.point_to(release.id)
        state = self.holder.state()
        for found in state.instances if state else ():
            if found.instance != instance:
                report = self.holder.retire(found.instance)
                data = {"release": found.release, **dict(report)}
                self._append(_about(events.RETIRED, deployment, data))

    def _back_up(self, serving: Release | None) -> str | None:
        if serving is None or not self.releases.intact(serving.id, serving.digest):
            return None
        return self.releases.back_up(serving.id, serving.id)

    def _failed(self, deployment: Deployment, stage: str, trouble: Trouble) -> bool:
        """Record a failure; after the switch it makes a rollback due, and the commit is blamed."""
        rolls_back = deployment.state == "switched"
        target = views.good(self.ledger, besides=deployment.release)[:1] if rolls_back else []
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
            "said": self.holder.said()[-_SAID:] if stage != "build" else "",
        }
        batch = [_about(events.FAILED, deployment, data)]
        if trouble.blamed and deployment.kind == "deploy":
            why = f"{stage}: {trouble.reason}"[:_SAID]
            blame = {"commit": deployment.commit_id, "reason": why}
            batch.append(_about(events.QUARANTINED, deployment, blame))
        self.ledger.append(batch)
        return True

    def _not_serving(self, release: Release, trouble: str) -> str:
        """Say it once for each reason; the daemon goes on trying."""
        last = self.ledger.query(
            "SELECT type FROM record WHERE type IN (?, ?, ?) ORDER BY sequence DESC LIMIT 1",
            [events.NOT_SERVING, events.RESTARTED, events.SWITCHED],
        )
        if not last or last[0][0] != events.NOT_SERVING:
            data = {"release": release.id, "reason": trouble[:_SAID]}
            self.ledger.append([Event(type=events.NOT_SERVING, actor="daemon", data=data)])
        return trouble

    def _append(self, event: Event) -> bool:
        self.ledger.append([event])
        return True

    def _release(self, identifier: str) -> Release:
        found = views.release(self.ledger, identifier)
        assert found is not None  # noqa: S101 - a deployment past its build has one
        return found

    def _spec(self, release: Release) -> AppSpec:
        return self.plan().spec(
            release=release.id, digest=release.digest, folder=self.releases.folder(release.id)
        )


def _not_blamed(error: AstraError) -> Trouble:
    return Trouble(reason=error.detail, blamed=False)


def _about(type_: str, deployment: Deployment | None, data: Mapping[str, Any]) -> Event:
    """Give an event of a deployment's own story, or of the app's when there is none."""
    if deployment is None:
        return Event(type=type_, actor="daemon", data=dict(data))
    return Event(
        type=type_,
        actor="daemon",
        data={"deployment": deployment.id, **data},
        correlation=deployment.correlation,
        subject=deployment.id,
    )
