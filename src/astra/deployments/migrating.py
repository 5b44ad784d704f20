"""The app's state when code changes: saved, changed once by `before_start`, and put back.

While it is saved, changed or put back, nothing of the app runs: the old release is drained first.
So a snapshot is whole, and no write of anybody is lost between it and the command.

`before_start` is a stranger's program that may not be run twice on the same state. Its beginning is
recorded before it runs and its end after; whoever finds a beginning without an end puts the
snapshot back and runs it again. What a snapshot replaced is set aside, not deleted. On a fleet
every instance does this for the state of its machine (`fleet.own_state`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from astra.deployments import events, views
from astra.deployments.plan import Plan
from astra.deployments.ports import Checked
from astra.deployments.stage import Stage
from astra.deployments.views import Deployment, Release
from astra.deployments.watching import Trouble
from astra.trusted.ledger.record import Event

_SAID = 2000


class Snapshots(Protocol):
    """Copies of the app's state folder, one for each release that changed it."""

    def measure(self, folder: str) -> int:
        """Count the bytes of a state folder."""
        ...

    def take(self, release: str, folder: str) -> int:
        """Save the folder as it was before a release; gives the bytes. Again replaces it."""
        ...

    def restore(self, release: str, folder: str) -> None:
        """Put the folder back; a second time is as good as once while nobody writes to it."""
        ...

    def undo_restore(self, release: str, folder: str) -> None:
        """Put back what the snapshot took the place of; does nothing when that is done."""
        ...

    def drop_set_aside(self, release: str) -> None:
        """Remove what the snapshot took the place of."""
        ...

    def remove(self, release: str) -> None: ...


class BeforeStart(Protocol):
    def run(self, plan: Plan, folder: str, release: str, *, correlation: str) -> Checked:
        """Run the command in the app's box; `foreign` when it could not be executed."""
        ...


@dataclass(frozen=True, kw_only=True)
class Migrations:
    stage: Stage
    snapshots: Snapshots
    command: BeforeStart

    def is_due(self, release: Release) -> bool:
        """Tell whether `before_start` has to run before this release may start."""
        state = views.migration_state(self.stage.ledger, release.id)
        return bool(self.stage.plan_for(release).before_start) and state != "finished"

    def migrate(self, deployment: Deployment, release: Release) -> Trouble | None:
        """Run `before_start` of a release, once; gives what went wrong."""
        plan = self.stage.plan_for(release)
        if reason := explain_too_large(self.snapshots, plan):
            return Trouble(reason=reason, blamed=False)
        self.stage.stop_app(deployment)
        self._save_state(deployment, release, plan)
        self._append(events.BEFORE_START_BEGUN, deployment, {"release": release.id})
        folder = self.stage.releases.folder(release.id)
        checked = self.command.run(plan, folder, release.id, correlation=deployment.correlation)
        outcome = {"release": release.id, "ok": checked.ok, "reason": checked.detail[:_SAID]}
        self._append(events.BEFORE_START_FINISHED, deployment, outcome)
        if checked.ok:
            return None
        return Trouble(reason=f"before_start: {checked.detail}", blamed=not checked.foreign)

    def put_back(self, deployment: Deployment, target: Release | None) -> None:
        """Undo what was done to the state since a release became live; nothing may run then."""
        migrated = views.migrations_since(self.stage.ledger, target.id if target else None)
        if not migrated:
            return
        self.stage.stop_app(deployment)
        first = migrated[0]
        self.snapshots.restore(first, self._find_state_folder(first))
        restored = {"release": first, "undone": migrated, "redone": []}
        self._append(events.STATE_RESTORED, deployment, restored)

    def take_forward(self, deployment: Deployment) -> None:
        """Undo what a deployment put back: it failed, and what served before serves again."""
        restoration = views.restoration(self.stage.ledger, deployment.id)
        if restoration is None:
            return
        self.stage.stop_app(deployment)
        first, undone = restoration
        self.snapshots.undo_restore(first, self._find_state_folder(first))
        taken_forward = {"release": first, "undone": [], "redone": undone}
        self._append(events.STATE_RESTORED, deployment, taken_forward)

    def _save_state(self, deployment: Deployment, release: Release, plan: Plan) -> None:
        if views.migration_state(self.stage.ledger, release.id) in {"begun", "failed"}:
            self.snapshots.restore(release.id, plan.state_folder)
            self.snapshots.drop_set_aside(release.id)  # half of a migration is of no use
            return
        size = self.snapshots.take(release.id, plan.state_folder)
        saved = {"release": release.id, "bytes": size}
        self._append(events.STATE_SAVED, deployment, saved)

    def _find_state_folder(self, name: str) -> str:
        release = views.release(self.stage.ledger, name)
        return (self.stage.plan_for(release) if release else self.stage.plan()).state_folder

    def _append(self, type_: str, deployment: Deployment, data: Mapping[str, Any]) -> None:
        event = Event(
            type=type_,
            actor="daemon",
            data={"deployment": deployment.id, "kind": deployment.kind, **data},
            correlation=deployment.correlation,
            subject=deployment.id,
        )
        self.stage.ledger.append([event])


def explain_too_large(snapshots: Snapshots, plan: Plan) -> str:
    """Say why a state folder is not saved before `before_start`, or nothing."""
    size = snapshots.measure(plan.state_folder)
    if size <= plan.snapshot_bytes:
        return ""
    return (
        f"the state folder holds {size >> 20:,} MiB, and {plan.snapshot_bytes >> 20:,} MiB"
        " are saved at most before before_start: raise [app] snapshot_mb, or make room"
    )
