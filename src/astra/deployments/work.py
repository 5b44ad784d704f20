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
| rolling_out  | on a fleet: the next step of its waves                                     |
"""

import contextlib
from dataclasses import dataclass, replace

from astra.deployments import events, reloading, views
from astra.deployments.failing import MOST_TEXT, make_event, make_failure_batch
from astra.deployments.fleet.folders import provide_folder
from astra.deployments.fleet.work import FleetWork
from astra.deployments.migrating import Migrations
from astra.deployments.stage import Stage
from astra.deployments.upkeep import Upkeep
from astra.deployments.views import Deployment, Release
from astra.deployments.watching import BrokenOff, HolderGone, Trouble
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

_MOST_WITHHELD = 200
_ATTEMPTS = 3


@dataclass(frozen=True, kw_only=True)
class Work:
    stage: Stage
    upkeep: Upkeep
    migrations: Migrations
    fleet: FleetWork

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
            "rolling_out": self.roll_out,
        }
        try:
            for _attempt in range(_ATTEMPTS):
                with contextlib.suppress(HolderGone):
                    return steps[deployment.state](deployment)
            trouble = Trouble(reason="the holder of the app ended again and again", blamed=False)
            return self._record_failure(deployment, "holder", trouble)
        except BrokenOff:
            return False
        finally:
            self.upkeep.export()

    def build(self, deployment: Deployment) -> bool:
        try:
            built = self.stage.releases.build(
                deployment.release,
                deployment.commit_id,
                correlation=deployment.correlation,
                settings=self.stage.plan().seal(),
            )
        except AstraError as error:
            return self._record_failure(deployment, "build", _not_blamed(error))
        data = {"release": deployment.release, "commit": deployment.commit_id}
        data |= {"digest": built.digest, "files": built.files, "size": built.size}
        data |= {"settings": built.settings}
        data |= {"withheld": list(built.withheld[:_MOST_WITHHELD])}
        return self._append_event(make_event(events.BUILT, deployment, data))

    def start(self, deployment: Deployment) -> bool:
        """Bring the release up beside the one that serves; the switch is recorded, then made."""
        release = self._require_release(deployment.release)
        serving = views.live_release(self._ledger)
        try:
            if self.fleet.is_on():
                provide_folder(self.stage, release, correlation=deployment.correlation)
            if trouble := self._rehearse_release(deployment, release):
                return self._record_failure(deployment, "staging", trouble)
            if self.fleet.is_on():
                return self.fleet.begin(deployment, release, self.stage.read_sealed(release))
            if trouble := self._prepare_state(deployment, release):
                return self._give_up(deployment, "before_start", trouble, serving)
            instance, how = self._try_reload(deployment, serving, release)
            instance = instance or self.stage.bring_up(release, deployment)
            if isinstance(instance, Trouble):
                return self._give_up(deployment, "start", instance, serving)
            backup = self._back_up(serving, deployment.kind)
        except AstraError as error:
            return self._give_up(deployment, "start", _not_blamed(error), serving)
        replaced = serving.id if serving else None
        data = {"release": release.id, "replaced": replaced, "backup": backup, "how": how}
        self._append_event(make_event(events.SWITCHED, deployment, data))
        self.stage.switch(deployment, instance, release)
        return True

    def _prepare_state(self, deployment: Deployment, release: Release) -> Trouble | None:
        """Bring the app's state to what a release expects: later changes undone, its own made."""
        if deployment.kind == "rollback" and not deployment.keep_state:
            self.migrations.put_back(deployment, release)
        return self._migrate_if_due(deployment, release)

    def _migrate_if_due(self, deployment: Deployment, release: Release) -> Trouble | None:
        due = self.migrations.is_due(release)
        return self.migrations.migrate(deployment, release) if due else None

    def _give_up(
        self, deployment: Deployment, stage: str, trouble: Trouble, serving: Release | None
    ) -> bool:
        """Put the state back before the failure is recorded, so that a crash between is harmless.

        What serves was ended where the two could not run beside each other: it is started again.
        """
        output = self._read_app_output(stage)
        try:
            if deployment.kind == "deploy":
                self.migrations.put_back(deployment, serving)
            else:
                self.migrations.take_forward(deployment)
        except AstraError as error:
            trouble = replace(trouble, reason=f"{trouble.reason}; {error.detail}")
        self._record_failure(deployment, stage, trouble, output)
        self.upkeep.keep_serving()
        return True

    def watch(self, deployment: Deployment) -> bool:
        """See that the release serves, then look at it until the window is over."""
        release = self._require_release(deployment.release)
        try:
            instance = self.stage.make_serve(deployment, release)
            watch = self.stage.make_watch(release)
        except AstraError as error:
            return self._record_failure(deployment, "switch", _not_blamed(error))
        if isinstance(instance, Trouble):
            return self._record_failure(deployment, "switch", instance)
        if trouble := watch.for_window(instance):
            return self._record_failure(deployment, "watch", trouble)
        self._append_event(make_event(events.SETTLED, deployment, {"release": release.id}))
        self.upkeep.tidy()
        return True

    def roll_out(self, deployment: Deployment) -> bool:
        """Do the next step of a fleet's waves; a release that settled makes others too many."""
        has_moved = self.fleet.advance(deployment)
        if views.newest_settled(self._ledger) == views.deployment(self._ledger, deployment.id):
            self.upkeep.tidy()
        return has_moved

    def go_back(self, deployment: Deployment) -> bool:
        """Try the good releases, the last one first; when none comes up, say so loudly."""
        if self.fleet.has_rollout(deployment.id):
            return self.fleet.advance(deployment)
        troubles = self._try_good_releases(deployment)
        if troubles is None:
            return True
        why = "; ".join(troubles) or "there is no proven release to go back to"
        return self._append_event(
            make_event(events.ROLLBACK_FAILED, deployment, {"reason": why[:MOST_TEXT]})
        )

    def retry_rollback(self) -> str:
        """Try again where no good release came up; gives what still keeps them from it."""
        deployment = views.failed_rollback(self._ledger)
        if deployment is None or self.stage.stopped() or self.fleet.has_rollout(deployment.id):
            return ""
        try:
            troubles = self._try_good_releases(deployment)
        except (BrokenOff, HolderGone):
            return "a good release is being started"
        if troubles is None:
            self.upkeep.export()
            return ""
        why = "; ".join(troubles) or "there is no proven release to go back to"
        return f"{deployment.release} failed and nothing good could be brought back: {why}"[
            :MOST_TEXT
        ]

    def _try_good_releases(self, deployment: Deployment) -> list[str] | None:
        """Put the first good release that comes up into service; gives what was wrong with all."""
        troubles: list[str] = []
        for release in views.good_releases(self._ledger, besides=deployment.release):
            try:
                self.migrations.put_back(deployment, release)
                trouble = self._migrate_if_due(deployment, release)
                instance = trouble or self.stage.bring_up(release, deployment)
            except AstraError as error:
                instance = _not_blamed(error)
            if isinstance(instance, Trouble):
                troubles.append(f"{release.id}: {instance.reason}")
                continue
            data = {"release": release.id, "from": deployment.release}
            self._append_event(make_event(events.ROLLED_BACK, deployment, data))
            self.stage.switch(deployment, instance, release)
            return None
        return troubles

    def _rehearse_release(self, deployment: Deployment, release: Release) -> Trouble | None:
        if not self.stage.plan().staging or deployment.kind == "rollback":
            return None
        trouble = self.stage.rehearse(release)
        if trouble is None:
            self._append_event(make_event(events.REHEARSED, deployment, {"release": release.id}))
        return trouble

    def _try_reload(
        self, deployment: Deployment, serving: Release | None, release: Release
    ) -> tuple[str | None, str]:
        """Have the running app take the new code over, where that is safe; else say why not."""
        state, plan = self.stage.holder.state(), self.stage.plan_for(release)
        running = state.serving if state else None
        if not plan.reload or serving is None or running is None or running.release != serving.id:
            return None, "started"
        if serving.settings != release.settings:
            return None, "started: its settings are others"
        changes = self.stage.releases.differences(serving.id, release.id)
        if reason := reloading.explain_restart(changes, ignored=plan.ignored):
            return None, f"started: {reason}"[:MOST_TEXT]
        data = {"release": release.id, "from": serving.id}
        self._append_event(make_event(events.RELOAD_BEGUN, deployment, data))
        changed = reloading.modules(changes, ignored=plan.ignored)
        outcome = self.stage.holder.reload(running.instance, self.stage.spec(release), changed)
        if not outcome.ok:
            return None, f"started: it was not reloaded, {outcome.detail}"[:MOST_TEXT]
        return running.instance, "reloaded"

    def _back_up(self, serving: Release | None, kind: str) -> str | None:
        if serving is None or not self.stage.releases.is_intact(serving.id, serving.digest):
            return None
        try:
            return self.stage.releases.back_up(serving.id, serving.id)
        except AstraError:
            if kind == "rollback":  # a full disk keeps nobody from going back
                return None
            raise

    def _record_failure(
        self, deployment: Deployment, stage: str, trouble: Trouble, output: str | None = None
    ) -> bool:
        """Record a failure; after the switch it makes a rollback due, and the commit is blamed."""
        rolls_back = deployment.state == "switched"
        target = (
            views.good_releases(self._ledger, besides=deployment.release)[:1] if rolls_back else []
        )
        if deployment.state == "rolling_back":
            data = {"reason": trouble.reason[:MOST_TEXT]}
            return self._append_event(make_event(events.ROLLBACK_FAILED, deployment, data))
        batch = make_failure_batch(
            self._ledger,
            deployment,
            trouble,
            stage=stage,
            rolls_back=rolls_back,
            rollback_to=target[0].id if target else None,
            output=self._read_app_output(stage) if output is None else output,
        )
        self._ledger.append(batch)
        return True

    def _read_app_output(self, stage: str) -> str:
        """Give the end of what the failing app printed."""
        speaker = self.stage.rehearsal if stage == "staging" else self.stage.holder
        return "" if stage in {"build", "before_start"} else speaker.read_output()[-MOST_TEXT:]

    def _append_event(self, event: Event) -> bool:
        self._ledger.append([event])
        return True

    @property
    def _ledger(self) -> Ledger:
        return self.stage.ledger

    def _require_release(self, identifier: str) -> Release:
        release = views.release(self._ledger, identifier)
        assert release is not None  # noqa: S101 - a deployment past its build has one
        return release


def _not_blamed(error: AstraError) -> Trouble:
    return Trouble(reason=f"{error.detail}; {error.next_step}", blamed=False)
