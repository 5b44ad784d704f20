"""Deployments, releases and quarantined commits as tables, derived from the ledger."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from astra.deployments import events
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record

OPEN = ("requested", "built", "switched", "rolling_back")
_DEPLOYMENT = (
    "id, kind, state, release, commit_id, approved, replaced, backup, reason, rollback_to,"
    " requested_by, requested_at, changed_at, correlation"
)
_RELEASE = "id, commit_id, digest, state, good, live, built_at, files, size"


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

    @property
    def open(self) -> bool:
        return self.state in OPEN

    def as_dict(self) -> dict[str, Any]:
        fields = {name: value for name, value in self.__dict__.items() if name != "commit_id"}
        return {**fields, "commit": self.commit_id, "open": self.open}


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

    def as_dict(self) -> dict[str, Any]:
        fields = {name: value for name, value in self.__dict__.items() if name != "commit_id"}
        return {**fields, "commit": self.commit_id}


_ALL = 1 << 40
_BEHIND = "sequence < (SELECT sequence FROM deployment WHERE id = ?)"
_BUILT_BEFORE = "(built_at, id) < (SELECT built_at, id FROM release WHERE id = ?)"


def open_deployment(ledger: Ledger) -> Deployment | None:
    """Give the one deployment that is under way."""
    deployments = _deployments(ledger, f"state IN {OPEN!r} ORDER BY sequence LIMIT 1")
    return deployments[0] if deployments else None


def deployment(ledger: Ledger, identifier: str) -> Deployment | None:
    deployments = _deployments(ledger, "id = ?", identifier)
    return deployments[0] if deployments else None


def deployments(ledger: Ledger, *, limit: int = 100) -> list[Deployment]:
    return deployment_page(ledger, limit=limit)[0]


def deployment_page(
    ledger: Ledger, *, limit: int, before: str | None = None
) -> tuple[list[Deployment], str | None]:
    """Give deployments, the newest first, and the id behind which the next page starts."""
    where, cursor = ("sequence > 0", []) if before is None else (_BEHIND, [before])
    condition = f"{where} ORDER BY sequence DESC LIMIT ?"
    deployments = _deployments(ledger, condition, *cursor, limit + 1)
    return deployments[:limit], deployments[limit - 1].id if len(deployments) > limit else None


def unpushed(ledger: Ledger) -> Deployment | None:
    """Give the newest deployment that settled, unless somebody tried to push it already."""
    condition = "state = 'settled' AND kind = 'deploy' ORDER BY sequence DESC LIMIT 1"
    deployments = _deployments(ledger, condition)
    push_rows = (
        ledger.query("SELECT 1 FROM push WHERE deployment = ?", [deployments[0].id])
        if deployments
        else []
    )
    return deployments[0] if deployments and not push_rows else None


def releases(ledger: Ledger, *, every: bool = False) -> list[Release]:
    """Give the kept releases, the newest first; with `every`, also those that were removed."""
    return release_page(ledger, every=every, limit=_ALL)[0]


def release_page(
    ledger: Ledger, *, every: bool, limit: int, before: str | None = None
) -> tuple[list[Release], str | None]:
    """Give some of them, and the id behind which the next page starts."""
    kept = "built_at > ''" if every else "state != 'removed'"
    where, cursor = (kept, []) if before is None else (f"{kept} AND {_BUILT_BEFORE}", [before])
    order = "ORDER BY built_at DESC, id DESC LIMIT ?"
    releases = _releases(ledger, f"{where} {order}", *cursor, limit + 1)
    return releases[:limit], releases[limit - 1].id if len(releases) > limit else None


def release(ledger: Ledger, identifier: str) -> Release | None:
    releases = _releases(ledger, "id = ?", identifier)
    return releases[0] if releases else None


def live(ledger: Ledger) -> Release | None:
    """Give the release that is to serve, as the ledger says."""
    releases = _releases(ledger, "live = 1")
    return releases[0] if releases else None


def good(ledger: Ledger, *, besides: str) -> list[Release]:
    """Give what a rollback may go back to: proven releases, the last one that served first."""
    return _releases(
        ledger, "good = 1 AND state != 'removed' AND id != ? ORDER BY last_live DESC", besides
    )


def quarantined_commits(ledger: Ledger) -> tuple[str, ...]:
    """List every commit that failed in service and was not insisted on since."""
    return tuple(row[0] for row in ledger.query("SELECT commit_id FROM quarantine"))


def quarantined(ledger: Ledger, commit: str) -> str:
    """Say why a commit is in quarantine; nothing when it is not."""
    rows = ledger.query("SELECT reason FROM quarantine WHERE commit_id = ?", [commit])
    return str(rows[0][0]) if rows else ""


def _deployments(ledger: Ledger, condition: str, *parameters: Any) -> list[Deployment]:
    rows = ledger.query(f"SELECT {_DEPLOYMENT} FROM deployment WHERE {condition}", parameters)  # noqa: S608 - fixed text
    names = [name.strip() for name in _DEPLOYMENT.split(",")]
    return [Deployment(**dict(zip(names, row, strict=True))) for row in rows]


def _releases(ledger: Ledger, condition: str, *parameters: Any) -> list[Release]:
    rows = ledger.query(f"SELECT {_RELEASE} FROM release WHERE {condition}", parameters)  # noqa: S608 - fixed text
    names = [name.strip() for name in _RELEASE.split(",")]
    documents: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows]
    for row in documents:
        row.update(good=bool(row["good"]), live=bool(row["live"]))
    return [Release(**row) for row in documents]


def _requested(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        "INSERT INTO deployment VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, '', NULL, ?, ?, ?, ?, ?)",
        (
            data["deployment"],
            data["kind"],
            "built" if data["kind"] == "rollback" else "requested",
            data["release"],
            data["commit"],
            data["digest"],
            record.actor,
            record.time,
            record.time,
            record.correlation,
            record.sequence,
        ),
    )


def _built(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        "INSERT INTO release VALUES (?, ?, ?, 'built', 0, 0, 0, ?, ?, ?)",
        (
            data["release"],
            data["commit"],
            data["digest"],
            record.time,
            data["files"],
            data["size"],
        ),
    )
    yield _moved(record, "built")


def _switched(record: Record) -> Iterator[Statement]:
    data = record.data
    yield from _live(record, data["release"])
    yield (
        "UPDATE deployment SET replaced = ?, backup = ? WHERE id = ?",
        (data["replaced"], data["backup"], data["deployment"]),
    )
    yield _moved(record, "switched")


def _settled(record: Record) -> Iterator[Statement]:
    yield "UPDATE release SET good = 1 WHERE id = ?", (record.data["release"],)
    yield _moved(record, "settled")


def _failed(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        "UPDATE release SET state = 'failed', good = 0 WHERE id = ? AND ?",
        (
            data["release"],
            data["blamed"],
        ),
    )
    yield (
        "UPDATE deployment SET reason = ?, rollback_to = ? WHERE id = ?",
        (data["reason"], data["rollback_to"], data["deployment"]),
    )
    yield _moved(record, "rolling_back" if data["rolls_back"] else "failed")


def _rolled_back(record: Record) -> Iterator[Statement]:
    yield from _live(record, record.data["release"])
    yield _moved(record, "rolled_back")


def _rollback_failed(record: Record) -> Iterator[Statement]:
    yield _moved(record, "rollback_failed")


def _quarantined(record: Record) -> Iterator[Statement]:
    yield (
        "INSERT OR REPLACE INTO quarantine VALUES (?, ?, ?)",
        (record.data["commit"], record.data["reason"], record.sequence),
    )


def _ordered(record: Record) -> Iterator[Statement]:
    if record.data["force"]:
        yield "DELETE FROM quarantine WHERE commit_id = ?", (record.data["commit"],)


def _removed(record: Record) -> Iterator[Statement]:
    yield "UPDATE release SET state = 'removed' WHERE id = ?", (record.data["release"],)


def _pushed(record: Record) -> Iterator[Statement]:
    ok = record.type == events.PUSHED
    yield "INSERT OR REPLACE INTO push VALUES (?, ?)", (record.data["deployment"], int(ok))


def _live(record: Record, release: str) -> Iterator[Statement]:
    yield "UPDATE release SET live = 0, state = 'replaced' WHERE live = 1", ()
    yield (
        "UPDATE release SET live = 1, state = 'live', last_live = ? WHERE id = ?",
        (record.sequence, release),
    )


def _moved(record: Record, state: str) -> Statement:
    return (
        "UPDATE deployment SET state = ?, changed_at = ? WHERE id = ?",
        (state, record.time, record.data["deployment"]),
    )


_EFFECTS: dict[str, Callable[[Record], Iterator[Statement]]] = {
    events.REQUESTED: _requested,
    events.ORDERED: _ordered,
    events.BUILT: _built,
    events.SWITCHED: _switched,
    events.SETTLED: _settled,
    events.FAILED: _failed,
    events.ROLLED_BACK: _rolled_back,
    events.ROLLBACK_FAILED: _rollback_failed,
    events.QUARANTINED: _quarantined,
    events.REMOVED: _removed,
    events.PUSHED: _pushed,
    events.PUSH_FAILED: _pushed,
}


def _apply(record: Record) -> Iterator[Statement]:
    yield from _EFFECTS[record.type](record)


PROJECTION = Projection(
    "deployments",
    (
        """CREATE TABLE deployment (
            id TEXT PRIMARY KEY, kind TEXT, state TEXT, release TEXT, commit_id TEXT,
            approved TEXT, replaced TEXT, backup TEXT, reason TEXT, rollback_to TEXT,
            requested_by TEXT, requested_at TEXT, changed_at TEXT, correlation TEXT,
            sequence INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX deployment_state ON deployment (state, sequence)",
        "CREATE INDEX deployment_order ON deployment (sequence)",
        "CREATE INDEX deployment_release ON deployment (release)",
        """CREATE TABLE release (
            id TEXT PRIMARY KEY, commit_id TEXT, digest TEXT, state TEXT, good INTEGER,
            live INTEGER, last_live INTEGER, built_at TEXT, files INTEGER, size INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX release_built ON release (built_at, id)",
        "CREATE INDEX release_kept ON release (built_at, id) WHERE state != 'removed'",
        "CREATE INDEX release_live ON release (live) WHERE live = 1",
        "CREATE INDEX release_good ON release (last_live) WHERE good = 1 AND state != 'removed'",
        "CREATE TABLE push (deployment TEXT PRIMARY KEY, ok INTEGER)",
        "CREATE TABLE quarantine (commit_id TEXT PRIMARY KEY, reason TEXT, sequence INTEGER)",
    ),
    _apply,
    types=frozenset(_EFFECTS),
)
