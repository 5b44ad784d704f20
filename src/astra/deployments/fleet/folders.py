"""The folder of a release on a machine that did not build it first: the same bytes, or none."""

import hashlib

from astra.deployments.fleet import views
from astra.deployments.stage import Stage
from astra.deployments.views import Release
from astra.trusted.kernel.errors import Refused


def provide_folder(stage: Stage, release: Release, *, correlation: str, anew: bool = False) -> None:
    """Build a release here from its commit, and refuse anything but what was recorded.

    Something else in its place is refused, and with `anew` replaced.
    """
    if stage.releases.is_intact(release.id, release.digest):
        return
    if anew:
        stage.releases.remove(release.id)
    built = stage.releases.build(
        release.id,
        release.commit_id,
        correlation=correlation,
        settings=_find_settings(stage, release),
    )
    if built.digest != release.digest:
        raise Refused(
            f"{release.id} is {built.digest[:12]} here and {release.digest[:12]} where it was"
            " recorded: its folder was written to, or its build is not the same everywhere",
            code="other_digest",
            next_step="make the build the same on every machine, then deploy again",
        )


def _find_settings(stage: Stage, release: Release) -> bytes:
    """Give the settings it was sealed with: those in force, or what its rollout recorded."""
    in_force = stage.plan().seal()
    if not release.settings or hashlib.sha256(in_force).hexdigest() == release.settings:
        return in_force
    return views.find_sealed_settings(stage.ledger, release.id).encode() or in_force
