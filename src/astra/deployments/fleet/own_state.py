"""The app's state on one instance: what `before_start` did to it, and what a release is to find.

Every machine has a state folder of its own. What ran on it is noted beside it, so that the note
travels with a copy of the folder; what it is to hold is in the chain (`views.list_lineage`).

| the instance is to have                 | its state is to hold the work of                      |
|-----------------------------------------|-------------------------------------------------------|
| the new release of a rollout            | the recorded releases, and the new one                |
| the release that an operator went back to | the recorded releases up to that one                |
| the recorded release                    | the recorded releases                                 |

What ran here and is not among them, or did not end, is undone by the snapshot from before it. Then
`before_start` of the release itself runs, if it did not run here: releases that went by while the
instance was away are not made up for. An operator's way back that fails puts back what it undid.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from astra.deployments import events
from astra.deployments import views as deployment_views
from astra.deployments.fleet.assignment import Assignment
from astra.deployments.migrating import BeforeStart, Snapshots, explain_too_large
from astra.deployments.stage import Stage
from astra.deployments.views import Deployment, Release
from astra.deployments.watching import Trouble
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

Wanted = Callable[[str], bool]
_SAID = 2000


@dataclass(frozen=True, kw_only=True)
class StateNote:
    """What was done to a state folder, in order."""

    applied: tuple[str, ...] = ()
    """The releases whose `before_start` ran to its end."""
    begun: str = ""
    """The release whose `before_start` began and did not end well."""
    undone: tuple[str, ...] = ()
    """What the last snapshot that was put back undid."""
    undone_for: str = ""
    """The deployment that it was put back for."""


class NotedSnapshots(Snapshots, Protocol):
    """Snapshots of a state folder, with a note of what was done to it."""

    def list_saved(self) -> Sequence[str]:
        """Name the releases that there are snapshots for."""
        ...

    def read_note(self) -> StateNote | None:
        """Give the note; None where this folder was never that of an instance."""
        ...

    def write_note(self, note: StateNote) -> None: ...


@dataclass(frozen=True, kw_only=True)
class OwnState:
    label: str
    stage: Stage
    snapshots: NotedSnapshots
    command: BeforeStart

    def prepare(self, assignment: Assignment, release: Release) -> Trouble | None:
        """Bring the state to what a release is to find; gives what went wrong."""
        ledger = self.stage.ledger
        deployment = deployment_views.deployment(ledger, assignment.deployment)
        lineage = choose_wanted(ledger, assignment, deployment, release.id)
        note = self._take_forward(self.read_note(), lineage, deployment)
        note = self._undo_unwanted(note, lineage, release.id, deployment)
        if not self.stage.plan_for(release).before_start or release.id in note.applied:
            return None
        return self._migrate(note, release, deployment)

    def read_note(self) -> StateNote:
        """Give the note of this folder, or what the chain says of the time without a fleet."""
        if note := self.snapshots.read_note():
            return note
        ledger = self.stage.ledger
        rows = [
            (deployment_views.find_migration(ledger, release), release)
            for release in self.snapshots.list_saved()
        ]
        return StateNote(
            applied=tuple(name for (_place, state), name in sorted(rows) if state == "finished"),
            begun=next((name for (_place, state), name in rows if state == "begun"), ""),
        )

    def _take_forward(
        self, note: StateNote, wanted: Wanted, deployment: Deployment | None
    ) -> StateNote:
        """Put back what an operator's way back undid, if that did not come about."""
        if not note.undone or not all(map(wanted, note.undone)):
            return note
        cause = deployment_views.deployment(self.stage.ledger, note.undone_for)
        if cause is None or cause.state == "settled":
            return note
        first = note.undone[0]
        self.stage.stop_app(deployment)
        self.snapshots.undo_restore(first, self._find_folder(first))
        redone = {"release": first, "undone": [], "redone": list(note.undone)}
        self._append(events.STATE_RESTORED, deployment, redone)
        return self._write(StateNote(applied=note.applied + note.undone))

    def _undo_unwanted(
        self,
        note: StateNote,
        wanted: Wanted,
        target: str,
        deployment: Deployment | None,
    ) -> StateNote:
        count = _count_kept(note.applied, wanted)
        undone = [*note.applied[count:], *([note.begun] if note.begun else [])]
        if not undone or undone == [target]:  # what began for this very release begins again
            return note
        self.stage.stop_app(deployment)
        self.snapshots.restore(undone[0], self._find_folder(undone[0]))
        restored = {"release": undone[0], "undone": undone, "redone": []}
        self._append(events.STATE_RESTORED, deployment, restored)
        return self._write(
            StateNote(
                applied=note.applied[:count],
                undone=tuple(undone),
                undone_for=deployment.id if deployment else "",
            )
        )

    def _migrate(
        self, note: StateNote, release: Release, deployment: Deployment | None
    ) -> Trouble | None:
        plan = self.stage.plan_for(release)
        if reason := explain_too_large(self.snapshots, plan):
            return Trouble(reason=reason, blamed=False)
        self.stage.stop_app(deployment)
        note = self._save(note, release, plan.state_folder, deployment)
        self._append(events.BEFORE_START_BEGUN, deployment, {"release": release.id})
        folder = self.stage.releases.folder(release.id)
        correlation = choose_story(deployment)
        checked = self.command.run(plan, folder, release.id, correlation=correlation)
        outcome = {"release": release.id, "ok": checked.ok, "reason": checked.detail[:_SAID]}
        self._append(events.BEFORE_START_FINISHED, deployment, outcome)
        if not checked.ok:
            return Trouble(reason=f"before_start: {checked.detail}", blamed=not checked.foreign)
        saved = set(self.snapshots.list_saved())  # what has no snapshot any more is never undone
        still_saved = tuple(name for name in note.applied if name in saved)
        self._write(replace(note, applied=(*still_saved, release.id), begun=""))
        return None

    def _save(
        self, note: StateNote, release: Release, folder: str, deployment: Deployment | None
    ) -> StateNote:
        if note.begun == release.id:
            self.snapshots.restore(release.id, folder)
            self.snapshots.drop_set_aside(release.id)  # half of a migration is of no use
            return note
        size = self.snapshots.take(release.id, folder)
        self._append(events.STATE_SAVED, deployment, {"release": release.id, "bytes": size})
        return self._write(StateNote(applied=note.applied, begun=release.id))

    def _write(self, note: StateNote) -> StateNote:
        self.snapshots.write_note(note)
        return note

    def _find_folder(self, name: str) -> str:
        release = deployment_views.release(self.stage.ledger, name)
        return (self.stage.plan_for(release) if release else self.stage.plan()).state_folder

    def _append(self, type_: str, deployment: Deployment | None, data: Mapping[str, Any]) -> None:
        facts: dict[str, Any] = {"instance": self.label, **data}
        if deployment is not None:
            facts |= {"deployment": deployment.id, "kind": deployment.kind}
        event = Event(
            type=type_,
            actor=f"instance:{self.label}",
            data=facts,
            correlation=choose_story(deployment),
            subject=deployment.id if deployment else None,
        )
        self.stage.ledger.append([event])


def choose_story(deployment: Deployment | None) -> str:
    """Give the story that a step belongs to: one of its own where no rollout waits for it."""
    return deployment.correlation if deployment else random_id("cor")


def choose_wanted(
    ledger: Ledger, assignment: Assignment, deployment: Deployment | None, release: str
) -> Wanted:
    """Say which releases' work the state of an instance is to hold."""
    most = deployment_views.find_lineage_place(ledger, release)
    if not assignment.is_ordered or deployment is None or deployment.keep_state:
        most = 0

    def is_wanted(name: str) -> bool:
        place = deployment_views.find_lineage_place(ledger, name)
        is_recorded = place > 0 and (most == 0 or place <= most)
        return is_recorded or (assignment.is_ordered and name == release)

    return is_wanted


def _count_kept(applied: tuple[str, ...], wanted: Wanted) -> int:
    """Count the first releases whose work stays: up to one that is not wanted."""
    unwanted = (place for place, release in enumerate(applied) if not wanted(release))
    return next(unwanted, len(applied))
