"""Bringing releases up and down: what every step of a deployment, and the upkeep, is made of."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from astra.deployments import events
from astra.deployments.ports import (
    AppHolder,
    AppSpec,
    Checked,
    HealthCommand,
    Pace,
    Releases,
    Running,
)
from astra.deployments.views import Deployment, Release
from astra.deployments.watching import REHEARSAL_SECONDS, BrokenOff, Plan, Trouble, Watch
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

    def bring_up(self, release: Release) -> str | Trouble:
        """Start a release and wait for its health; gives the instance, or what went wrong."""
        if not self.releases.intact(release.id, release.digest):
            why = f"{release.id} is not what was built and approved: somebody wrote to it"
            return Trouble(reason=why, blamed=False)
        state = self.holder.state()
        for running in state.instances if state else ():
            if running is not (state and state.serving) or running.over:
                self.holder.end(running.instance)
        instance = self.holder.launch(self.spec(release))
        try:
            trouble = self.look(release).until_healthy(instance)
        except BrokenOff:
            self.holder.end(instance)
            raise
        if trouble:
            self.holder.end(instance)
        return trouble or instance

    def rehearse(self, release: Release) -> Trouble | None:
        """Run a release apart from everything first: another port, another state, no traffic."""
        plan = self.plan()
        plan = replace(plan, watch_seconds=min(plan.watch_seconds, REHEARSAL_SECONDS))
        spec = self.spec(release)
        spec = replace(spec, port=0, state=f"{spec.state}-staging", reload=False)
        watch = Watch(holder=self.rehearsal, pace=self.pace, plan=plan, stopped=self.stopped)
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

    def look(self, release: Release) -> Watch:
        plan, folder = self.plan(), self.releases.folder(release.id)

        def command(running: Running) -> Checked:
            return self.health.run(release.id, folder, running)

        return Watch(
            holder=self.holder,
            pace=self.pace,
            plan=plan,
            stopped=self.stopped,
            command=command if plan.health_command else None,
        )

    def make_serve(self, deployment: Deployment, release: Release) -> str | Trouble:
        """Make the recorded switch true, in case that a crash came between."""
        state = self.holder.state()
        for running in state.instances if state else ():
            if running.release == release.id and not running.over:
                self.switch(deployment, running.instance, release)
                return running.instance
        instance = self.bring_up(release)
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
                self.ledger.append([_retired(data, deployment)])
        with contextlib.suppress(OSError):  # on a full disk; the next export points it there
            self.releases.point_to(release.id)

    def spec(self, release: Release) -> AppSpec:
        return self.plan().spec(
            release=release.id, digest=release.digest, folder=self.releases.folder(release.id)
        )


def _retired(data: dict[str, Any], deployment: Deployment | None) -> Event:
    if deployment is None:
        return Event(type=events.RETIRED, actor="daemon", data=data)
    return Event(
        type=events.RETIRED,
        actor="daemon",
        data={"deployment": deployment.id, **data},
        correlation=deployment.correlation,
        subject=deployment.id,
    )
