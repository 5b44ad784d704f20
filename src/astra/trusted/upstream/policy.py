"""Commits that come in without a signature: off unless the operator signed a policy for them.

Only a plain fast-forward, until the policy's end, in which nothing was found and neither tests,
dependencies nor protected paths are touched. Authors are what commits say of themselves; signatures
are checked against the keys in the signed configuration.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from astra.trusted.changes.policy import is_in_force
from astra.trusted.settings.configuration import SyncPolicy
from astra.trusted.upstream.incoming import FAST_FORWARD, Incoming

Verify = Callable[[Sequence[str], Sequence[str]], bool]


def find_objection(incoming: Incoming, policy: SyncPolicy, *, verify: Verify, now: datetime) -> str:
    """Say why the signed policy does not bring these commits in, or nothing."""
    if policy.accept == "ask":
        return "there is no policy"
    if not is_in_force(policy.until, now):
        return "the policy has no end, or is over"
    return _find_in_content(incoming) or _find_in_commits(incoming, policy, verify)


def _find_in_content(incoming: Incoming) -> str:
    if incoming.how != FAST_FORWARD:
        return "the histories diverged"
    for name in ("protected", "tests", "dependencies"):
        if getattr(incoming, name):
            return f"it touches {name}"
    return "there are findings" if incoming.findings else ""


def _find_in_commits(incoming: Incoming, policy: SyncPolicy, verify: Verify) -> str:
    if len(incoming.commits) < incoming.total:
        return f"{incoming.total} commits are too many to look at each"
    if policy.accept == "authors":
        strangers = [c.email for c in incoming.commits if c.email not in policy.authors]
        return f"{strangers[0]} is not among the authors" if strangers else ""
    commits = [commit.id for commit in incoming.commits]
    return "" if verify(commits, policy.signers) else "not every commit carries a known signature"
