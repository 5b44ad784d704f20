"""Between deployments: keep what is to serve serving, remove what is too much, export the state."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from astra.deployments import events, views
from astra.deployments.migrating import Snapshots
from astra.deployments.stage import Stage
from astra.deployments.views import Release
from astra.deployments.watching import BrokenOff, HolderGone, Trouble
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

_SAID = 2000


@dataclass(frozen=True)
class Upkeep:
    stage: Stage
    snapshots: Snapshots

    def keep_serving(self) -> str:
        """See that the release which is to serve does; gives what keeps it from it."""
        release = views.live_release(self._ledger)
        if release is None or self.stage.stopped():
            return ""
        state = self.stage.holder.state()
        serving = state.serving if state else None
        if serving and serving.release == release.id and not serving.is_over:
            return ""
        why = serving.reason if serving else "nothing was running"
        try:
            instance = self.stage.bring_up(release)
            if isinstance(instance, Trouble):
                return self._not_serving(release, instance.reason)
            self.stage.switch(None, instance, release)
        except AstraError as error:
            return self._not_serving(release, error.detail)
        except (BrokenOff, HolderGone):
            return "it is being started"
        data = {"release": release.id, "reason": why[:_SAID]}
        self._ledger.append([Event(type=events.RESTARTED, actor="daemon", data=data)])
        return ""

    def tidy(self) -> None:
        """Remove what is kept beyond the limit: never what serves, nor the last good one."""
        releases = views.releases(self._ledger)
        serving = views.live_release(self._ledger)
        good_releases = _drop_twins(views.good_releases(self._ledger, besides=""))
        safe = {release.id for release in good_releases[:2]}
        safe |= {serving.id} if serving else set()
        newest_ids = {
            release.id for release in _drop_twins(releases)[: max(1, self.stage.plan().keep)]
        }
        for release in releases:
            if release.id not in safe | newest_ids:
                data = {"release": release.id}
                self._ledger.append([Event(type=events.REMOVED, actor="daemon", data=data)])
        self.sweep()

    def sweep(self) -> None:
        """Take away the folders of removed releases; a crash may have left some."""
        for release in views.releases(self._ledger, every=True):
            if release.state == "removed":
                self.stage.releases.remove(release.id)
                self.snapshots.remove(release.id)

    def export(self) -> None:
        """Write `status.json` as of one sequence of the ledger, and point `current` to the release.

        Both only repeat what the ledger says: a full disk keeps no deployment from going on.
        """
        while True:
            head = self._ledger.head()
            serving, latest = (
                views.live_release(self._ledger),
                views.deployments(self._ledger, limit=1),
            )
            releases = [release.as_dict() for release in views.releases(self._ledger)]
            if self._ledger.head().sequence == head.sequence:
                break
        document = {
            "sequence": head.sequence,
            "hash": head.hash,
            "time": head.time,
            "live": serving.as_dict() if serving else None,
            "deployment": latest[0].as_dict() if latest else None,
            "releases": releases,
        }
        with contextlib.suppress(OSError):
            if serving:
                self.stage.releases.point_to(serving.id)
            self.stage.releases.write_status(document)

    def _not_serving(self, release: Release, trouble: str) -> str:
        """Say it once for each reason; the daemon goes on trying."""
        last = self._ledger.newest(events.NOT_SERVING, events.RESTARTED, events.SWITCHED)
        if last is None or last.type != events.NOT_SERVING:
            data = {"release": release.id, "reason": trouble[:_SAID]}
            self._ledger.append([Event(type=events.NOT_SERVING, actor="daemon", data=data)])
        return trouble

    @property
    def _ledger(self) -> Ledger:
        return self.stage.ledger


def _drop_twins(releases: Sequence[Release]) -> list[Release]:
    """Leave out what has the content of one before it in the list."""
    by_digest: dict[str, Release] = {}
    for release in releases:
        by_digest.setdefault(release.digest, release)
    return list(by_digest.values())
