"""Deployments, releases and quarantined commits, read from tables that the ledger fills."""

from dataclasses import dataclass
from typing import Any

from astra.trusted.ledger.ports import Ledger

OPEN = ("requested", "built", "rolling_out", "switched", "rolling_back")
_DEPLOYMENT = (
    "id, kind, state, release, commit_id, approved, replaced, backup, reason, rollback_to,"
    " requested_by, requested_at, changed_at, correlation, output, cut, keep_state"
)
_RELEASE = "id, commit_id, digest, state, good, live, built_at, files, size, settings"
_QUARANTINED = "state = 'failed' AND commit_id IN (SELECT commit_id FROM quarantine)"


@dataclass(frozen=True, kw_only=True)
class Deployment:
    id: str
    kind: str
    state: str
    release: str
    commit_id: str
    approved: str
    replaced: str | None
    backup: str | None
    reason: str
    rollback_to: str | None
    requested_by: str
    requested_at: str
    changed_at: str
    correlation: str
    output: str
    """The end of what a failed app printed, masked and escaped."""
    cut: int
    """Requests without an answer that were cut when what it replaced had to end."""
    keep_state: bool
    """A rollback that leaves the app's state as later releases made it."""

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    def as_dict(self) -> dict[str, Any]:
        fields = {name: value for name, value in self.__dict__.items() if name != "commit_id"}
        return {**fields, "commit": self.commit_id, "open": self.is_open}


@dataclass(frozen=True, kw_only=True)
class Release:
    id: str
    commit_id: str
    digest: str
    state: str
    good: bool
    live: bool
    built_at: str
    files: int
    size: int
    settings: str
    """The digest of the settings it was sealed with; nothing for one of an older Astra."""
    quarantined: bool = False
    """It failed, and its commit is not deployed again by itself."""

    def as_dict(self) -> dict[str, Any]:
        fields = {name: value for name, value in self.__dict__.items() if name != "commit_id"}
        return {**fields, "commit": self.commit_id}


_ALL = 1 << 40
_RECENT = 20
_BEHIND = "sequence < (SELECT sequence FROM deployment WHERE id = ?)"
_BUILT_BEFORE = "(built_at, id) < (SELECT built_at, id FROM release WHERE id = ?)"


def open_deployment(ledger: Ledger) -> Deployment | None:
    """Give the one deployment that is under way."""
    deployments = _select_deployments(ledger, f"state IN {OPEN!r} ORDER BY sequence LIMIT 1")
    return deployments[0] if deployments else None


def deployment(ledger: Ledger, identifier: str) -> Deployment | None:
    deployments = _select_deployments(ledger, "id = ?", identifier)
    return deployments[0] if deployments else None


def deployments(ledger: Ledger, *, limit: int = 100) -> list[Deployment]:
    return deployment_page(ledger, limit=limit)[0]


def deployment_page(
    ledger: Ledger, *, limit: int, before: str | None = None
) -> tuple[list[Deployment], str | None]:
    """Give deployments, the newest first, and the id behind which the next page starts."""
    where_clause, cursor = ("sequence > 0", []) if before is None else (_BEHIND, [before])
    condition = f"{where_clause} ORDER BY sequence DESC LIMIT ?"
    deployments = _select_deployments(ledger, condition, *cursor, limit + 1)
    return deployments[:limit], deployments[limit - 1].id if len(deployments) > limit else None


def failed_rollback(ledger: Ledger) -> Deployment | None:
    """Give the newest deployment if nothing good could be brought back after it."""
    newest = deployments(ledger, limit=1)
    return newest[0] if newest and newest[0].state == "rollback_failed" else None


def deployments_of(ledger: Ledger, commit: str, *, limit: int = 20) -> list[Deployment]:
    """Give the deployments of one commit, the newest first."""
    condition = "commit_id = ? ORDER BY sequence DESC LIMIT ?"
    return _select_deployments(ledger, condition, commit, limit)


def newest_settled(ledger: Ledger) -> Deployment | None:
    """Give the newest deployment that settled, the one whose commit may be pushed."""
    condition = "state = 'settled' AND kind = 'deploy' ORDER BY sequence DESC LIMIT 1"
    deployments = _select_deployments(ledger, condition)
    return deployments[0] if deployments else None


@dataclass(frozen=True, kw_only=True)
class PushAttempt:
    ok: bool
    code: str
    attempts: int
    time: str


def last_push(ledger: Ledger, deployment: str) -> PushAttempt | None:
    """Give how the newest attempt to push a deployment's commit ended."""
    query = "SELECT ok, code, attempts, time FROM push WHERE deployment = ?"
    for ok, code, attempts, time in ledger.query(query, [deployment]):
        return PushAttempt(ok=bool(ok), code=code, attempts=attempts, time=time)
    return None


def releases(ledger: Ledger, *, every: bool = False) -> list[Release]:
    """Give the kept releases, the newest first; with `every`, also those that were removed."""
    return release_page(ledger, every=every, limit=_ALL)[0]


def release_page(
    ledger: Ledger, *, every: bool, limit: int, before: str | None = None
) -> tuple[list[Release], str | None]:
    """Give some of them, and the id behind which the next page starts."""
    kept_clause = "built_at > ''" if every else "state != 'removed'"
    where_clause, cursor = (
        (kept_clause, []) if before is None else (f"{kept_clause} AND {_BUILT_BEFORE}", [before])
    )
    order = "ORDER BY built_at DESC, id DESC LIMIT ?"
    releases = _select_releases(ledger, f"{where_clause} {order}", *cursor, limit + 1)
    return releases[:limit], releases[limit - 1].id if len(releases) > limit else None


def release(ledger: Ledger, identifier: str) -> Release | None:
    releases = _select_releases(ledger, "id = ?", identifier)
    return releases[0] if releases else None


def live_release(ledger: Ledger) -> Release | None:
    """Give the release that is to serve, as the ledger says."""
    releases = _select_releases(ledger, "live = 1")
    return releases[0] if releases else None


def good_releases(ledger: Ledger, *, besides: str) -> list[Release]:
    """Give what a rollback may go back to: proven releases, the last one that served first.

    Never the same content again under another name.
    """
    return _select_releases(
        ledger,
        "good = 1 AND state != 'removed' AND id != ?"
        " AND digest IS NOT (SELECT digest FROM release WHERE id = ?) ORDER BY last_live DESC",
        besides,
        besides,
    )


def is_proven(ledger: Ledger, commit: str) -> bool:
    """Tell whether a commit stayed healthy before, perhaps with other settings."""
    condition = "commit_id = ? AND good = 1 AND state != 'removed'"
    return bool(_select_releases(ledger, condition, commit))


def went_back_by_itself(ledger: Ledger) -> bool:
    """Tell whether the newest way back was a release that failed, and no operator's order."""
    for attempt in deployments(ledger, limit=_RECENT):
        if attempt.state == "rolled_back":
            return True
        if attempt.kind == "rollback" and attempt.replaced:
            return False
    return False


def count_rollbacks_by_hand(ledger: Ledger) -> int:
    """Count the rollbacks that an operator ordered and that were switched to."""
    rows = ledger.query(
        "SELECT count(*) FROM deployment WHERE kind = 'rollback' AND replaced IS NOT NULL"
    )
    return int(rows[0][0])


def migration_state(ledger: Ledger, release: str) -> str:
    """Say how far `before_start` of a release is: begun, finished, failed, or nothing."""
    rows = ledger.query("SELECT state FROM migration WHERE release = ?", [release])
    return str(rows[0][0]) if rows else ""


def migrations_since(ledger: Ledger, release: str | None) -> list[str]:
    """List the releases whose `before_start` ran after this one became live, the first one first.

    All of them without a release; none for one that was never live.
    """
    since = "0" if release is None else "(SELECT last_live FROM release WHERE id = ?)"
    condition = f"sequence > {since}" + ("" if release is None else f" AND {since} > 0")
    condition += " AND state != 'undone'"
    rows = ledger.query(
        f"SELECT release FROM migration WHERE {condition} ORDER BY sequence",  # noqa: S608 - fixed
        [] if release is None else [release, release],
    )
    return [str(row[0]) for row in rows]


def find_migration(ledger: Ledger, release: str) -> tuple[int, str]:
    """Say when `before_start` of a release was last heard of on one machine, and how far it is."""
    row = ledger.query_row("SELECT sequence, state FROM migration WHERE release = ?", [release])
    return (int(row[0]), str(row[1])) if row else (0, "")


def find_lineage_place(ledger: Ledger, release: str) -> int:
    """Say since when the recorded state of the app holds the work of a release; 0 if it does not.

    Each release that became live is in that lineage until a way back leaves it behind.
    """
    row = ledger.query_row("SELECT sequence FROM lineage WHERE release = ?", [release])
    return int(row[0]) if row else 0


def restoration(ledger: Ledger, deployment: str) -> tuple[str, list[str]] | None:
    """Give the snapshot that a deployment put back, and the releases which that undid."""
    rows = ledger.query(
        "SELECT release, undone FROM restoration WHERE deployment = ? AND undone != ''",
        [deployment],
    )
    return (str(rows[0][0]), str(rows[0][1]).split()) if rows else None


def quarantined_commits(ledger: Ledger) -> tuple[str, ...]:
    """List every commit that failed in service and was not insisted on since."""
    return tuple(row[0] for row in ledger.query("SELECT commit_id FROM quarantine"))


def quarantine_reason(ledger: Ledger, commit: str) -> str:
    """Say why a commit is in quarantine; nothing when it is not."""
    rows = ledger.query("SELECT reason FROM quarantine WHERE commit_id = ?", [commit])
    return str(rows[0][0]) if rows else ""


def failed_commits_inside(ledger: Ledger, deployment: str) -> tuple[str, ...]:
    """List the commits that had failed in service before and were deployed again with this."""
    query = "SELECT commit_id FROM deployment_contains WHERE deployment = ? ORDER BY commit_id"
    return tuple(row[0] for row in ledger.query(query, [deployment]))


def _select_deployments(ledger: Ledger, condition: str, *parameters: Any) -> list[Deployment]:
    rows = ledger.query(f"SELECT {_DEPLOYMENT} FROM deployment WHERE {condition}", parameters)  # noqa: S608 - fixed text
    names = [name.strip() for name in _DEPLOYMENT.split(",")]
    documents: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows]
    for row in documents:
        row.update(keep_state=bool(row["keep_state"]))
    return [Deployment(**row) for row in documents]


def _select_releases(ledger: Ledger, condition: str, *parameters: Any) -> list[Release]:
    columns = f"{_RELEASE}, {_QUARANTINED}"
    rows = ledger.query(f"SELECT {columns} FROM release WHERE {condition}", parameters)  # noqa: S608 - fixed text
    names = [*(name.strip() for name in _RELEASE.split(",")), "quarantined"]
    documents: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows]
    for row in documents:
        row.update({name: bool(row[name]) for name in ("good", "live", "quarantined")})
    return [Release(**row) for row in documents]
