"""Bringing releases up and down: what every step of a deployment, and the upkeep, is made of."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from astra.deployments import events, views
from astra.deployments.plan import Plan
from astra.deployments.ports import (
    AppHolder,
    AppSpec,
    Checked,
    Pace,
    Releases,
    Running,
)
from astra.deployments.views import Deployment, Release
from astra.deployments.watching import (
    REHEARSAL_SECONDS,
    BrokenOff,
    HealthCommand,
    Trouble,
    Watch,
)
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event


@dataclass(frozen=True, kw_only=True)
class Stage:
    ledger: Ledger
    releases: Releases
    holder: AppHolder
    rehearsal: AppHolder
    health: HealthCommand
    pace: Pace
    plan: Callable[[], Plan]
    stopped: Callable[[], bool]

    def bring_up(self, release: Release, deployment: Deployment | None = None) -> str | Trouble:
        """Start a release and wait for its health; gives the instance, or what went wrong."""
        if not self.releases.is_intact(release.id, release.digest):
            why = f"{release.id} is not what was built and approved: somebody wrote to it"
            return Trouble(reason=why, blamed=False)
        state = self.holder.state()
        for running in state.instances if state else ():
            if running is not (state and state.serving) or running.is_over:
                self.holder.end(running.instance)
        self._make_room(release, deployment)
        instance = self.holder.launch(self.spec(release))
        try:
            trouble = self.make_watch(release).until_healthy(instance)
        except BrokenOff:
            self.holder.end(instance)
            raise
        if trouble:
            self.holder.end(instance)
        return trouble or instance

    def _make_room(self, release: Release, deployment: Deployment | None) -> None:
        """End what serves first, where a release cannot run beside it."""
        state = self.holder.state()
        serving = state.serving if state else None
        if serving is None:
            return
        before = views.release(self.ledger, serving.release)
        plan = self.plan_for(release)
        if before is None or not plan.runs_beside(self.plan_for(before)):
            self.stop_app(deployment)

    def stop_app(self, deployment: Deployment | None = None) -> None:
        """End everything of the app, draining it; nothing serves from then on."""
        state = self.holder.state()
        if state is None and self.holder.is_expected():
            self.holder.close()  # it answers nobody, and what it started may still run
        for running in state.instances if state else ():
            report = self.holder.stop(running.instance)
            data = {"release": running.release, **dict(report)}
            self.ledger.append([_make_retired_event(data, deployment)])

    def rehearse(self, release: Release) -> Trouble | None:
        """Run a release apart from everything first: another port, another state, no traffic."""
        plan = self.plan_for(release)
        plan = replace(plan, watch_seconds=min(plan.watch_seconds, REHEARSAL_SECONDS))
        plan = replace(plan, port=0, state=f"{plan.state}-staging", reload=False)
        folder = self.releases.folder(release.id)
        spec = plan.spec(release=release.id, digest=release.digest, folder=folder)
        watch = self._make_watch_at(self.rehearsal, plan, folder)
        self.rehearsal.close()
        try:
            instance = self.rehearsal.launch(spec)
            trouble = watch.until_healthy(instance)
            if trouble is None:
                self.rehearsal.switch(instance)
                trouble = watch.for_window(instance)
            return trouble
        finally:
            self.rehearsal.close()

    def make_watch(self, release: Release) -> Watch:
        folder = self.releases.folder(release.id)
        return self._make_watch_at(self.holder, self.plan_for(release), folder)

    def _make_watch_at(self, holder: AppHolder, plan: Plan, folder: str) -> Watch:
        def command(running: Running) -> Checked:
            return self.health.run(plan, folder, running)

        return Watch(
            holder=holder,
            pace=self.pace,
            plan=plan,
            stopped=self.stopped,
            command=command if plan.health_command else None,
        )

    def find_live_twin(self, commit: str) -> Release | None:
        """Give the live release if it is proven and has this very commit with these settings."""
        live = views.live_release(self.ledger)
        if live is None or not (live.good and live.settings) or live.commit_id != commit:
            return None
        sealed_settings = self.releases.read_settings(live.id, live.settings)
        return live if sealed_settings == self.plan().seal() else None

    def make_serve(self, deployment: Deployment, release: Release) -> str | Trouble:
        """Make the recorded switch true, in case that a crash came between."""
        state = self.holder.state()
        for running in state.instances if state else ():
            if running.release == release.id and not running.is_over:
                self.switch(deployment, running.instance, release)
                return running.instance
        instance = self.bring_up(release, deployment)
        if not isinstance(instance, Trouble):
            self.switch(deployment, instance, release)
        return instance

    def switch(self, deployment: Deployment | None, instance: str, release: Release) -> None:
        self.holder.switch(instance)
        state = self.holder.state()
        for running in state.instances if state else ():
            if running.instance != instance:
                report = self.holder.retire(running.instance)
                data = {"release": running.release, **dict(report)}
                self.ledger.append([_make_retired_event(data, deployment)])
        with contextlib.suppress(OSError):  # on a full disk; the next export points it there
            self.releases.point_to(release.id)

    def plan_for(self, release: Release) -> Plan:
        """Give the settings that a release was sealed with; older ones had none of their own."""
        plan = self.plan()
        if not release.settings:
            return replace(plan, before_start=())  # it was written for other code
        return plan.restore(self.releases.read_settings(release.id, release.settings))

    def read_sealed(self, release: Release) -> bytes:
        """Give the settings that a release was sealed with, as they are in its folder."""
        if not release.settings:
            return b""
        return self.releases.read_settings(release.id, release.settings)

    def spec(self, release: Release) -> AppSpec:
        return self.plan_for(release).spec(
            release=release.id, digest=release.digest, folder=self.releases.folder(release.id)
        )


def _make_retired_event(data: dict[str, Any], deployment: Deployment | None) -> Event:
    if deployment is None:
        return Event(type=events.RETIRED, actor="daemon", data=data)
    return Event(
        type=events.RETIRED,
        actor="daemon",
        data={"deployment": deployment.id, **data},
        correlation=deployment.correlation,
        subject=deployment.id,
    )
