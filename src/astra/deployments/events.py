"""What can happen to a deployment, a release and the app that runs from it."""

from collections.abc import Sequence
from typing import Any

from astra.trusted.changes.quarantine import TERM

ORDERED = "deployment_ordered"
ROLLBACK_ORDERED = "rollback_ordered"
REQUESTED = "deployment_requested"
DECLINED = "deployment_declined"
BUILT = "release_built"
REHEARSED = "release_rehearsed"
STATE_SAVED = "app_state_saved"
BEFORE_START_BEGUN = "before_start_begun"
BEFORE_START_FINISHED = "before_start_finished"
STATE_RESTORED = "app_state_restored"
RELOAD_BEGUN = "release_reload_begun"
SWITCHED = "release_switched"
RETIRED = "release_retired"
SETTLED = "deployment_settled"
FAILED = "deployment_failed"
ROLLED_BACK = "deployment_rolled_back"
ROLLBACK_FAILED = "rollback_failed"
QUARANTINED = "commit_quarantined"
RESTARTED = "app_restarted"
NOT_SERVING = "app_not_serving"
REMOVED = "release_removed"
CHANGES_SEEN = "live_changes_recorded"
PUSHED = "release_pushed"
PUSH_FAILED = "release_push_failed"

QUEUE = "deployments"
"""The subject that every request advances, so that two at once cannot both be the next."""


def order_content(
    *, commit: str, digest: str, force: bool, despite: Sequence[str] = ()
) -> dict[str, Any]:
    """Give what an operator signs to have a commit deployed, quarantined ones below it named."""
    quarantine_terms = {TERM: sorted(set(despite))} if despite else {}
    return {"commit": commit, "digest": digest, "force": force, **quarantine_terms}


def rollback_content(*, release: str, serving: str, keep_state: bool = False) -> dict[str, Any]:
    """Give what an operator signs to put another release into service.

    With `keep_state` what later releases did to the app's state stays as it is.
    """
    return {"release": release, "serving": serving, **({"keep_state": True} if keep_state else {})}
