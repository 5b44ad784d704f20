"""Schedules and firings as rows: what is due is an index range, however many there are."""

import functools
import json
from collections.abc import Sequence
from typing import Any

from astra.schedules.model import DELETED, Definition, Firing, Schedule
from astra.schedules.projection import IS_OPEN
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Record

_SCHEDULE = """
    SELECT schedule.id, definition, state, next_run, subject.version, created_at, modified, factor,
        failures
    FROM schedule JOIN subject ON subject.id = schedule.id
"""
_FIRING = (
    "SELECT id, schedule, fire_time, kind, state, attempt, due, reason, correlation FROM firing"
)
_PAYLOAD = "json_extract(definition, '$.payload')"
_TASK = (
    "id",
    "schedule_id",
    "name",
    "tool",
    "fire_time",
    "kind",
    "outcome",
    "reason",
    "detail",
    "attempt",
    "count",
    "until",
    "next_attempt",
    "started_at",
    "closed_at",
    "milliseconds",
    "trace",
)
_TASKS = """
    SELECT firing.id, firing.schedule, schedule.name, firing.tool, fire_time, kind, firing.state,
        reason, detail, attempt, missed, until, due, started_at, closed_at, milliseconds,
        correlation, firing.sequence
    FROM firing JOIN schedule ON schedule.id = firing.schedule
"""


def schedule(ledger: Ledger, identifier: str) -> Schedule | None:
    rows = ledger.query(f"{_SCHEDULE} WHERE schedule.id = ?", [identifier])
    return _schedule_from_row(rows[0]) if rows else None


def last_change(ledger: Ledger, identifier: str) -> Record:
    """Give the record by which somebody last made it what it is; firings are none."""
    rows = ledger.query("SELECT sequence FROM schedule_change WHERE schedule = ?", [identifier])
    record = ledger.record(rows[0][0])
    assert record is not None  # noqa: S101 - the index names records that are there
    return record


def find_by_digest(ledger: Ledger, digest: str) -> Schedule | None:
    rows = ledger.query(f"{_SCHEDULE} WHERE digest = ?", [digest])
    return _schedule_from_row(rows[0]) if rows else None


def last_deletion(ledger: Ledger, digest: str) -> int:
    """Name the record that last deleted a schedule of this content, 0 where none did."""
    rows = ledger.query("SELECT max(sequence) FROM schedule_deletion WHERE digest = ?", [digest])
    return int(rows[0][0] or 0)


def count_outcomes(ledger: Ledger, schedule_id: str, *, most: int) -> tuple[int, int]:
    """Count how many of the newest firings that ran succeeded, and how many those were."""
    rows = ledger.query(
        "SELECT state FROM firing WHERE schedule = ? AND state IN ('succeeded', 'failed')"
        " ORDER BY sequence DESC LIMIT ?",
        [schedule_id, most],
    )
    return sum(state == "succeeded" for (state,) in rows), len(rows)


def schedules(
    ledger: Ledger,
    *,
    state: str | None = None,
    tier: int | None = None,
    tool: str | None = None,
    text: str | None = None,
    after: str = "",
    limit: int = 100,
) -> list[Schedule]:
    conditions, parameters = ["schedule.id > ?"], list[Any]([after])
    if state is None:
        conditions.append(f"state <> '{DELETED}'")
    for condition, value in (
        ("state = ?", state),
        ("tier = ?", tier),
        ("tool = ?", tool),
        (f"instr(lower(name || ' ' || {_PAYLOAD}), lower(?)) > 0", text),
    ):
        if value is not None:
            conditions.append(condition)
            parameters.append(value)
    filters = " AND ".join(conditions)
    rows = ledger.query(
        f"{_SCHEDULE} WHERE {filters} ORDER BY schedule.id LIMIT ?", [*parameters, limit]
    )
    return [_schedule_from_row(row) for row in rows]


def list_due_schedules(ledger: Ledger, now: str, limit: int) -> list[Schedule]:
    """Give the schedules whose next run has come, the earliest first."""
    rows = ledger.query(
        f"{_SCHEDULE} WHERE next_run <= ? ORDER BY next_run, schedule.id LIMIT ?", [now, limit]
    )
    return [_schedule_from_row(row) for row in rows]


def armed_before(ledger: Ledger, sequence: int, *, now: str, limit: int) -> list[Schedule]:
    """Give the schedules whose next run lies ahead, and was last set before a record."""
    rows = ledger.query(
        f"{_SCHEDULE} WHERE armed < ? AND next_run > ? ORDER BY armed LIMIT ?",
        [sequence, now, limit],
    )
    return [_schedule_from_row(row) for row in rows]


def due_firings(ledger: Ledger, now: str, limit: int) -> list[Firing]:
    """Give the firings whose next attempt, or whose patience, has come."""
    return _query_firings(ledger, "WHERE due <= ? ORDER BY due, id LIMIT ?", now, limit)


def next_due(ledger: Ledger) -> str | None:
    """Say when the executor has to look again."""
    rows = ledger.query(
        "SELECT min(moment) FROM (SELECT min(next_run) AS moment FROM schedule"
        " WHERE next_run IS NOT NULL UNION ALL"
        " SELECT min(due) FROM firing WHERE due IS NOT NULL)"
    )
    return rows[0][0]


def open_firings(ledger: Ledger, schedule_id: str) -> list[Firing]:
    return _query_firings(
        ledger, f"WHERE schedule = ? AND {IS_OPEN} ORDER BY fire_time", schedule_id
    )


def find_busy_schedules(ledger: Ledger, schedule_ids: Sequence[str]) -> set[str]:
    """Name those of which a firing is open, in one question for all of them."""
    rows = ledger.query(
        f"SELECT DISTINCT schedule FROM firing WHERE {IS_OPEN}"  # noqa: S608 - fixed text
        " AND schedule IN (SELECT value FROM json_each(?))",
        [json.dumps(schedule_ids)],
    )
    return {identifier for (identifier,) in rows}


def find_with_dependents(ledger: Ledger, schedule_ids: Sequence[str]) -> set[str]:
    """Name those that others come after."""
    rows = ledger.query(
        "SELECT DISTINCT after FROM schedule_after WHERE after IN (SELECT value FROM json_each(?))",
        [json.dumps(schedule_ids)],
    )
    return {identifier for (identifier,) in rows}


def every_open_firing(ledger: Ledger, state: str) -> list[Firing]:
    return _query_firings(ledger, f"WHERE {IS_OPEN} AND state = ? ORDER BY fire_time", state)


def firing(ledger: Ledger, identifier: str) -> Firing | None:
    firings = _query_firings(ledger, "WHERE id = ?", identifier)
    return firings[0] if firings else None


def list_firings_between(ledger: Ledger, schedule_id: str, start: str, end: str) -> list[Firing]:
    return _query_firings(
        ledger, "WHERE schedule = ? AND fire_time > ? AND fire_time <= ?", schedule_id, start, end
    )


def last_fired(ledger: Ledger, schedule_id: str) -> str:
    """Give the last instant of a schedule that was dealt with, or nothing."""
    rows = ledger.query(
        "SELECT max(coalesce(until, fire_time)) FROM firing"
        " WHERE schedule = ? AND kind IN ('cron', 'catch_up')",
        [schedule_id],
    )
    return rows[0][0] or ""


def dependents(ledger: Ledger, schedule_id: str) -> list[str]:
    rows = ledger.query("SELECT schedule FROM schedule_after WHERE after = ?", [schedule_id])
    return [identifier for (identifier,) in rows]


def dependencies(ledger: Ledger) -> dict[str, tuple[str, ...]]:
    graph: dict[str, tuple[str, ...]] = {}
    for identifier, after in ledger.query("SELECT schedule, after FROM schedule_after"):
        graph[identifier] = (*graph.get(identifier, ()), after)
    return graph


def counts(ledger: Ledger) -> dict[str, int]:
    """Count schedules by state, and firings that are open."""
    states = dict(ledger.query("SELECT state, count(*) FROM schedule GROUP BY state"))
    ((running,),) = ledger.query(f"SELECT count(*) FROM firing WHERE {IS_OPEN}")  # noqa: S608 - fixed text
    return {"active": states.get("active", 0), "paused": states.get("paused", 0), "open": running}


def count_active(ledger: Ledger, *, most: int) -> int:
    """Count active schedules, up to a number."""
    rows = ledger.query(
        "SELECT count(*) FROM (SELECT 1 FROM schedule WHERE state = 'active' LIMIT ?)", [most]
    )
    return int(rows[0][0])


def tasks(
    ledger: Ledger,
    *,
    schedule_id: str | None = None,
    outcome: str | None = None,
    trace: str | None = None,
    before: int | None = None,
    limit: int = 100,
) -> tuple[list[dict[str, Any]], int | None]:
    """Give firings, the newest first, and the cursor of the next page."""
    conditions, parameters = ["1"], list[Any]()
    for condition, value in (
        ("firing.schedule = ?", schedule_id),
        ("firing.state = ?", outcome),
        ("correlation = ?", trace),
        ("firing.sequence < ?", before),
    ):
        if value is not None:
            conditions.append(condition)
            parameters.append(value)
    rows = ledger.query(
        f"{_TASKS} WHERE {' AND '.join(conditions)} ORDER BY firing.sequence DESC LIMIT ?",
        [*parameters, limit + 1],
    )
    items: list[dict[str, Any]] = [
        {name: row[place] for place, name in enumerate(_TASK)} for row in rows[:limit]
    ]
    return items, (rows[limit - 1][-1] if len(rows) > limit else None)


def _query_firings(ledger: Ledger, where: str, *parameters: Any) -> list[Firing]:
    rows = ledger.query(f"{_FIRING} {where}", parameters)
    names = ("id", "schedule", "fire_time", "kind", "state", "attempt", "due", "reason")
    return [Firing(**dict(zip((*names, "correlation"), row, strict=True))) for row in rows]


@functools.lru_cache(maxsize=4096)
def _parse_definition(text: str) -> Definition:
    """Read a definition; what fires often is read once."""
    return Definition.read(json.loads(text))


def _schedule_from_row(row: Sequence[Any]) -> Schedule:
    identifier, definition, state, next_run, version, created_at, modified, factor, failures = row
    return Schedule(
        id=identifier,
        definition=_parse_definition(definition),
        state=state,
        next_run=next_run,
        version=version,
        created_at=created_at,
        modified=bool(modified),
        factor=factor,
        failures=failures,
    )
