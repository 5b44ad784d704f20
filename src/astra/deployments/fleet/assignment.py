"""Which release an instance is to have now: what the chain records for it, and nothing else.

| while                              | it is to have                                        |
|------------------------------------|------------------------------------------------------|
| a rollout ordered it               | the new release                                      |
| a rollout it was ordered goes back | the recorded release, proven anew                    |
| anything else                      | the recorded release: also when it was away and back |
"""

from dataclasses import dataclass

from astra.deployments.fleet.rollout import Phase, Rollout
from astra.deployments.fleet.views import InstanceRow


@dataclass(frozen=True, kw_only=True)
class Assignment:
    release: str | None
    """None where it is to run nothing: no release was ever recorded."""
    deployment: str = ""
    """The rollout that waits for its proof, if one does."""
    attempt: int = 0
    """The try that was ordered, from 1; 0 where it follows the recorded release."""

    @property
    def is_ordered(self) -> bool:
        return self.attempt > 0

    def is_proven_by(self, row: InstanceRow | None, epoch: int) -> bool:
        """Tell whether this worker proved it already, in this term."""
        return (
            row is not None
            and (row.state, row.release, row.epoch) == ("released", self.release, epoch)
            and (not self.deployment or self._is_answered_by(row))
        )

    def is_failed_in(self, row: InstanceRow | None) -> bool:
        """Tell whether this very try failed: the daemon decides what comes next."""
        return (
            row is not None
            and self.is_ordered
            and row.state == "failed"
            and self._is_answered_by(row)
        )

    def _is_answered_by(self, row: InstanceRow) -> bool:
        return (row.deployment, row.attempt) == (self.deployment, self.attempt)


def choose_assignment(label: str, rollout: Rollout | None, live: str | None) -> Assignment:
    """Give what an instance is to have, from the open rollout and the recorded release."""
    progress = rollout.instances.get(label) if rollout else None
    if rollout is None or progress is None or not progress.is_touched:
        return Assignment(release=live)
    if rollout.phase is Phase.ROLLING_BACK:
        recorded = rollout.recorded.release if rollout.recorded else None
        return Assignment(release=recorded, deployment=rollout.deployment)
    return Assignment(
        release=rollout.new.release, deployment=rollout.deployment, attempt=progress.attempt
    )
