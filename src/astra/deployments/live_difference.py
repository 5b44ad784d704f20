"""What is live against what would be live: the text a deployment is decided on.

Commits are walked by their first parents, as merges make them; a live commit that is not below the
new one (after a rollback to another line) still has a difference, and `is_ahead` says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from astra.changes.service import Changes
from astra.deployments import events, views
from astra.deployments.views import Deployment
from astra.trusted.changes import quarantine
from astra.trusted.ledger.ports import Ledger

MOST_COMMITS = 50
LONGEST_DIFF = 2 * 2**20


@dataclass(frozen=True, kw_only=True)
class LiveDifference:
    changes: Changes
    ledger: Ledger

    def describe(self, commit: str) -> dict[str, Any]:
        """Describe what putting a commit into service would change there."""
        live = views.live_release(self.ledger)
        text = self._read_diff(live.commit_id, commit) if live else b""
        inside = quarantine.find_contained(
            self.changes.bench.repo, commit, views.quarantined_commits(self.ledger)
        )
        return {
            "live": {"release": live.id, "commit": live.commit_id} if live else None,
            "commit": commit,
            "diff": text[:LONGEST_DIFF].decode(errors="backslashreplace"),
            "truncated": len(text) > LONGEST_DIFF,
            **self.list_commits(live.commit_id if live else "", commit),
            "quarantined": views.quarantine_reason(self.ledger, commit),
            "contains": [
                {"commit": failed, "reason": views.quarantine_reason(self.ledger, failed)}
                for failed in inside
            ],
            "history": [
                self._describe_attempt(attempt)
                for attempt in views.deployments_of(self.ledger, commit)
            ],
        }

    def list_commits(self, live: str, commit: str) -> dict[str, Any]:
        """Name what is in a commit and not live yet, the newest first, and who brought it."""
        repo = self.changes.bench.repo
        is_ahead = bool(live) and repo.is_ancestor(live, commit)
        new_commits = list(self._walk(commit, live)) if is_ahead else []
        return {
            "is_ahead": is_ahead,
            "commits": [self._describe_commit(new_commit) for new_commit in new_commits],
            "more": len(new_commits) == MOST_COMMITS,
        }

    def _walk(self, commit: str, until: str) -> Iterator[str]:
        current: str | None = commit
        for _ in range(MOST_COMMITS):
            if current is None or current == until:
                return
            yield current
            current = self.changes.bench.repo.parent(current)

    def _read_diff(self, old: str, new: str) -> bytes:
        return b"" if old == new else self.changes.bench.repo.diff(old, new)

    def _describe_commit(self, commit: str) -> dict[str, Any]:
        change = self.changes.book.find_by_commit(commit)
        return {
            "commit": commit,
            "change": change.id if change else None,
            "reason": change.purpose if change else "",
            "tests": change.tests["verdict"] if change and change.tests else None,
        }

    def _describe_attempt(self, attempt: Deployment) -> dict[str, Any]:
        """Say how an earlier deployment of the same commit went, in staging and in service."""
        rehearsals = self.ledger.records_of(attempt.id, events.REHEARSED)
        return {
            "deployment": attempt.id,
            "kind": attempt.kind,
            "state": attempt.state,
            "reason": attempt.reason,
            "requested_at": attempt.requested_at,
            "rehearsed_at": rehearsals[-1].time if rehearsals else None,
            "correlation": attempt.correlation,
        }
