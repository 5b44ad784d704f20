"""What each record of a deployment does to the tables that `views` reads."""

from collections.abc import Callable, Iterator

from astra.deployments import events
from astra.deployments.fleet import events as fleet_events
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record

_INSERT_DEPLOYMENT = (
    "INSERT INTO deployment VALUES"
    " (?, ?, ?, ?, ?, ?, NULL, NULL, '', NULL, ?, ?, ?, ?, ?, '', 0, ?)"
)

_LEAVE_BEHIND = (
    "DELETE FROM lineage WHERE sequence > (SELECT sequence FROM lineage WHERE release = ?)"
    " AND NOT EXISTS (SELECT 1 FROM deployment WHERE id = ? AND keep_state)"
)

_COUNT_PUSH = (
    "INSERT INTO push VALUES (?, ?, ?, 1, ?) ON CONFLICT (deployment) DO UPDATE SET"
    " ok = excluded.ok, code = excluded.code, attempts = attempts + 1, time = excluded.time"
)


def _apply_request(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        _INSERT_DEPLOYMENT,
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
            int(data.get("keep_state", False)),
        ),
    )
    for commit in data.get("contains", ()):
        yield "INSERT INTO deployment_contains VALUES (?, ?)", (data["deployment"], commit)


def _apply_build(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        "INSERT INTO release VALUES (?, ?, ?, 'built', 0, 0, 0, ?, ?, ?, ?)",
        (
            data["release"],
            data["commit"],
            data["digest"],
            record.time,
            data["files"],
            data["size"],
            data.get("settings", ""),
        ),
    )
    yield _set_deployment_state(record, "built")


def _apply_rollout(record: Record) -> Iterator[Statement]:
    yield _set_deployment_state(record, "rolling_out")


def _apply_switch(record: Record) -> Iterator[Statement]:
    data = record.data
    yield from _set_live_release(record, data["release"])
    yield _LEAVE_BEHIND, (data["release"], data["deployment"])
    yield "INSERT OR IGNORE INTO lineage VALUES (?, ?)", (data["release"], record.sequence)
    yield (
        "UPDATE deployment SET replaced = ?, backup = ? WHERE id = ?",
        (data["replaced"], data["backup"], data["deployment"]),
    )
    yield _set_deployment_state(record, "switched")


def _apply_settlement(record: Record) -> Iterator[Statement]:
    yield "UPDATE release SET good = 1 WHERE id = ?", (record.data["release"],)
    yield _set_deployment_state(record, "settled")


def _apply_failure(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        "UPDATE release SET state = 'failed', good = 0 WHERE id = ? AND ?",
        (
            data["release"],
            data["blamed"],
        ),
    )
    yield (
        "UPDATE deployment SET reason = ?, rollback_to = ?, output = ? WHERE id = ?",
        (data["reason"], data["rollback_to"], data.get("said", ""), data["deployment"]),
    )
    yield _set_deployment_state(record, "rolling_back" if data["rolls_back"] else "failed")


def _apply_rollback(record: Record) -> Iterator[Statement]:
    release, deployment = record.data["release"], record.data["deployment"]
    yield from _set_live_release(record, release)
    yield _LEAVE_BEHIND, (release, "")
    yield "UPDATE release SET state = 'failed' WHERE id = ?", (record.data["from"],)
    yield "UPDATE deployment SET rollback_to = ? WHERE id = ?", (release, deployment)
    yield _set_deployment_state(record, "rolled_back")


def _apply_rollback_failure(record: Record) -> Iterator[Statement]:
    yield _set_deployment_state(record, "rollback_failed")


def _apply_quarantine(record: Record) -> Iterator[Statement]:
    yield (
        "INSERT OR REPLACE INTO quarantine VALUES (?, ?, ?)",
        (record.data["commit"], record.data["reason"], record.sequence),
    )


def _apply_retirement(record: Record) -> Iterator[Statement]:
    """Count what was cut; records of before, and of restarts, count nothing."""
    requests_cut = record.data.get("cut", 0) + record.data.get("lost", 0)
    yield (
        "UPDATE deployment SET cut = cut + ? WHERE id = ?",
        (requests_cut, record.data.get("deployment", "")),
    )


def _apply_order(record: Record) -> Iterator[Statement]:
    if record.data["force"]:
        yield "DELETE FROM quarantine WHERE commit_id = ?", (record.data["commit"],)


def _apply_removal(record: Record) -> Iterator[Statement]:
    yield "UPDATE release SET state = 'removed' WHERE id = ?", (record.data["release"],)


def _apply_migration(record: Record) -> Iterator[Statement]:
    if record.data.get("instance"):
        return  # noted on the machine of that instance, whose state it is
    state = "begun"
    if record.type == events.BEFORE_START_FINISHED:
        state = "finished" if record.data["ok"] else "failed"
    yield (
        "INSERT OR REPLACE INTO migration VALUES (?, ?, ?)",
        (record.data["release"], state, record.sequence),
    )


def _apply_restoration(record: Record) -> Iterator[Statement]:
    data = record.data
    if data.get("instance"):
        return
    for state, names in (("undone", data["undone"]), ("finished", data["redone"])):
        for release in names:
            yield "UPDATE migration SET state = ? WHERE release = ?", (state, release)
    yield (
        "INSERT OR REPLACE INTO restoration VALUES (?, ?, ?)",
        (data["deployment"], data["release"], " ".join(data["undone"])),
    )


def _apply_push(record: Record) -> Iterator[Statement]:
    ok = record.type == events.PUSHED
    yield (
        _COUNT_PUSH,
        (record.data["deployment"], int(ok), record.data.get("code", ""), record.time),
    )


def _set_live_release(record: Record, release: str) -> Iterator[Statement]:
    yield "UPDATE release SET live = 0, state = 'replaced' WHERE live = 1", ()
    yield (
        "UPDATE release SET live = 1, state = 'live', last_live = ? WHERE id = ?",
        (record.sequence, release),
    )


def _set_deployment_state(record: Record, state: str) -> Statement:
    return (
        "UPDATE deployment SET state = ?, changed_at = ? WHERE id = ?",
        (state, record.time, record.data["deployment"]),
    )


_EFFECTS: dict[str, Callable[[Record], Iterator[Statement]]] = {
    events.REQUESTED: _apply_request,
    events.ORDERED: _apply_order,
    events.BUILT: _apply_build,
    fleet_events.ROLLOUT_BEGUN: _apply_rollout,
    events.SWITCHED: _apply_switch,
    events.SETTLED: _apply_settlement,
    events.FAILED: _apply_failure,
    events.ROLLED_BACK: _apply_rollback,
    events.ROLLBACK_FAILED: _apply_rollback_failure,
    events.QUARANTINED: _apply_quarantine,
    events.REMOVED: _apply_removal,
    events.RETIRED: _apply_retirement,
    events.BEFORE_START_BEGUN: _apply_migration,
    events.BEFORE_START_FINISHED: _apply_migration,
    events.STATE_RESTORED: _apply_restoration,
    events.PUSHED: _apply_push,
    events.PUSH_FAILED: _apply_push,
}


def _apply_record(record: Record) -> Iterator[Statement]:
    yield from _EFFECTS[record.type](record)


PROJECTION = Projection(
    "deployments",
    (
        """CREATE TABLE deployment (
            id TEXT PRIMARY KEY, kind TEXT, state TEXT, release TEXT, commit_id TEXT,
            approved TEXT, replaced TEXT, backup TEXT, reason TEXT, rollback_to TEXT,
            requested_by TEXT, requested_at TEXT, changed_at TEXT, correlation TEXT,
            sequence INTEGER, output TEXT, cut INTEGER, keep_state INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX deployment_state ON deployment (state, sequence)",
        "CREATE INDEX deployment_order ON deployment (sequence)",
        "CREATE INDEX deployment_by_hand ON deployment (replaced) WHERE kind = 'rollback'",
        "CREATE INDEX deployment_release ON deployment (release)",
        "CREATE INDEX deployment_commit ON deployment (commit_id, sequence)",
        """CREATE TABLE release (
            id TEXT PRIMARY KEY, commit_id TEXT, digest TEXT, state TEXT, good INTEGER,
            live INTEGER, last_live INTEGER, built_at TEXT, files INTEGER, size INTEGER,
            settings TEXT
        ) WITHOUT ROWID""",
        "CREATE INDEX release_built ON release (built_at, id)",
        "CREATE INDEX release_kept ON release (built_at, id) WHERE state != 'removed'",
        "CREATE INDEX release_live ON release (live) WHERE live = 1",
        "CREATE INDEX release_good ON release (last_live) WHERE good = 1 AND state != 'removed'",
        """CREATE TABLE deployment_contains (
            deployment TEXT, commit_id TEXT, PRIMARY KEY (deployment, commit_id)
        ) WITHOUT ROWID""",
        """CREATE TABLE migration (
            release TEXT PRIMARY KEY, state TEXT, sequence INTEGER
        ) WITHOUT ROWID""",
        """CREATE TABLE restoration (
            deployment TEXT PRIMARY KEY, release TEXT, undone TEXT
        ) WITHOUT ROWID""",
        "CREATE INDEX migration_order ON migration (sequence)",
        "CREATE TABLE lineage (release TEXT PRIMARY KEY, sequence INTEGER)",
        "CREATE INDEX lineage_order ON lineage (sequence)",
        """CREATE TABLE push (
            deployment TEXT PRIMARY KEY, ok INTEGER, code TEXT, attempts INTEGER, time TEXT
        ) WITHOUT ROWID""",
        "CREATE TABLE quarantine (commit_id TEXT PRIMARY KEY, reason TEXT, sequence INTEGER)",
    ),
    _apply_record,
    types=frozenset(_EFFECTS),
)
