"""From records about schedules to rows: schedules, what they come after, and firings."""

from collections.abc import Iterator

from astra.schedules import events
from astra.schedules.model import OPEN
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED, bring_back

IS_OPEN = f"state IN ({', '.join(repr(str(state)) for state in OPEN)})"


def _apply_record(record: Record) -> Iterator[Statement]:
    match record.type:
        case events.CREATED | events.MODIFIED:
            yield from _store_definition(record)
        case events.PAUSED | events.RESUMED:
            state = "paused" if record.type == events.PAUSED else "active"
            yield "UPDATE schedule SET state = ? WHERE id = ?", (state, record.subject)
        case record.type if record.type in _OTHERS:
            yield from _OTHERS[record.type](record)
        case events.CLAIMED | events.HELD | events.SKIPPED:
            yield _insert_firing(record)
        case _:
            yield from _update_ended_firing(record)
    if record.type != events.CREATED and record.subject and "next_run" in record.data:
        yield from _set_next_run(record)


def _adjust_cadence(record: Record) -> Iterator[Statement]:
    yield (
        "UPDATE schedule SET factor = ? WHERE id = ?",
        (record.data["factor"], record.subject),
    )


def _clock_accepted(record: Record) -> Iterator[Statement]:
    """Let no firing lie ahead of the clock; those that wait for their next attempt get it now."""
    for column in ("fire_time", "until", "due"):
        yield bring_back(record, "firing", column)


def _store_definition(record: Record) -> Iterator[Statement]:
    """Keep the definition as the record has it; whoever reads it passes over what else is there."""
    data = record.data
    columns = (data["name"], data["target_tool"], data["safety_tier"], record.content)
    if record.type == events.CREATED:
        yield (
            "INSERT INTO schedule VALUES (?, ?, ?, ?, ?, 'active', ?, ?, ?, 0, 1, 0, ?)",
            (
                record.subject,
                *columns,
                data["next_run"],
                data["digest"],
                record.time,
                record.sequence,
            ),
        )
    else:
        yield (
            _MODIFY,
            (*columns, record.subject),
        )
        yield "DELETE FROM schedule_after WHERE schedule = ?", (record.subject,)
    for after in sorted({*data["after"]}):
        yield "INSERT INTO schedule_after VALUES (?, ?)", (record.subject, after)


def _delete_schedule(record: Record) -> Iterator[Statement]:
    """Take a schedule out of service; its row stays for its history, its content is free again."""
    yield (
        "INSERT INTO schedule_deletion SELECT digest, ? FROM schedule WHERE id = ?",
        (record.sequence, record.subject),
    )
    yield (
        "UPDATE schedule SET state = 'deleted', digest = NULL WHERE id = ?",
        (record.subject,),
    )
    yield "DELETE FROM schedule_after WHERE schedule = ?", (record.subject,)


def _set_next_run(record: Record) -> Iterator[Statement]:
    """Set the next run, unless the event has none to say (a retry, a run by hand)."""
    if record.data["next_run"] is not None or record.type in {events.PAUSED, events.DELETED}:
        yield (
            "UPDATE schedule SET next_run = ?, armed = ? WHERE id = ?",
            (record.data["next_run"], record.sequence, record.subject),
        )


def _insert_firing(record: Record) -> Statement:
    data = record.data
    if record.type == events.CLAIMED:
        state, started_at, closed_at = "running", record.time, None
    elif record.type == events.HELD:
        state, started_at, closed_at = data["state"], None, None
    else:
        state, started_at, closed_at = "skipped", None, record.time
    return (
        _BEGIN,
        (
            data["firing"],
            data["schedule"],
            data["fire_time"],
            data["kind"],
            state,
            data["attempt"],
            data.get("due"),
            data.get("reason", ""),
            data.get("detail", ""),
            data["tool"],
            started_at,
            closed_at,
            record.correlation,
            record.sequence,
        ),
    )


def _insert_missed(record: Record) -> Iterator[Statement]:
    data = record.data
    yield (
        _COUNT,
        (
            data["firing"],
            data["schedule"],
            data["first"],
            data["reason"],
            f"{data['count']} firings until {data['last']}",
            data["tool"],
            record.time,
            record.correlation,
            data["count"],
            data["last"],
            record.sequence,
        ),
    )


def _update_ended_firing(record: Record) -> Iterator[Statement]:
    data = record.data
    if record.type == events.RETRIED:
        yield (
            _RETRY,
            (
                data["due"],
                data["reason"],
                data["detail"],
                data["milliseconds"],
                data["firing"],
            ),
        )
        return
    yield (
        _CLOSE,
        (
            data["outcome"],
            data["reason"],
            data["detail"],
            record.time,
            data["milliseconds"],
            data["firing"],
        ),
    )
    if data["outcome"] == "succeeded":
        yield "UPDATE schedule SET failures = 0 WHERE id = ?", (data["schedule"],)
    elif data["outcome"] == "failed":
        yield "UPDATE schedule SET failures = failures + 1 WHERE id = ?", (data["schedule"],)


_OTHERS = {
    events.DELETED: _delete_schedule,
    events.ADJUSTED: _adjust_cadence,
    events.MISSED: _insert_missed,
    CLOCK_ACCEPTED: _clock_accepted,
}
_BEGIN = """
    INSERT INTO firing VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 1, NULL, ?)
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, attempt = excluded.attempt,
        due = excluded.due, reason = excluded.reason, detail = excluded.detail,
        started_at = excluded.started_at, closed_at = excluded.closed_at
"""

_COUNT = """
    INSERT INTO firing
    VALUES (?, ?, ?, 'cron', 'missed', 0, NULL, ?, ?, ?, NULL, ?, 0, ?, ?, ?, ?)
"""
_RETRY = """
    UPDATE firing SET state = 'retrying', due = ?, reason = ?, detail = ?,
        milliseconds = milliseconds + ? WHERE id = ?
"""
_CLOSE = """
    UPDATE firing SET state = ?, due = NULL, reason = ?, detail = ?, closed_at = ?,
        milliseconds = milliseconds + ? WHERE id = ?
"""
_MODIFY = """
    UPDATE schedule SET name = ?, tool = ?, tier = ?, definition = ?, modified = 1 WHERE id = ?
"""

PROJECTION = Projection(
    "schedules",
    (
        """CREATE TABLE schedule (
            id TEXT PRIMARY KEY, name TEXT, tool TEXT, tier INTEGER, definition TEXT, state TEXT,
            next_run TEXT, digest TEXT, created_at TEXT, modified INTEGER, factor INTEGER,
            failures INTEGER, armed INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX schedule_armed ON schedule (armed) WHERE next_run IS NOT NULL",
        "CREATE INDEX schedule_due ON schedule (next_run) WHERE next_run IS NOT NULL",
        "CREATE UNIQUE INDEX schedule_digest ON schedule (digest)",
        """CREATE TABLE schedule_after (
            schedule TEXT, after TEXT, PRIMARY KEY (schedule, after)
        ) WITHOUT ROWID""",
        "CREATE INDEX schedule_after_of ON schedule_after (after)",
        """CREATE TABLE schedule_deletion (
            digest TEXT, sequence INTEGER, PRIMARY KEY (digest, sequence)
        ) WITHOUT ROWID""",
        """CREATE TABLE firing (
            id TEXT PRIMARY KEY, schedule TEXT, fire_time TEXT, kind TEXT, state TEXT,
            attempt INTEGER, due TEXT, reason TEXT, detail TEXT, tool TEXT, started_at TEXT,
            closed_at TEXT, milliseconds REAL, correlation TEXT, missed INTEGER, until TEXT,
            sequence INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX firing_of ON firing (schedule, sequence)",
        "CREATE INDEX firing_time ON firing (schedule, fire_time)",
        "CREATE INDEX firing_due ON firing (due) WHERE due IS NOT NULL",
        f"CREATE INDEX firing_open ON firing (schedule) WHERE {IS_OPEN}",
        "CREATE INDEX firing_state ON firing (state, sequence)",
        "CREATE INDEX firing_trace ON firing (correlation)",
        "CREATE INDEX firing_order ON firing (sequence)",
    ),
    _apply_record,
    types=frozenset(
        {
            events.CREATED,
            events.MODIFIED,
            events.PAUSED,
            events.RESUMED,
            events.DELETED,
            events.CLAIMED,
            events.HELD,
            events.SKIPPED,
            events.MISSED,
            events.RETRIED,
            events.CLOSED,
            events.ADJUSTED,
            CLOCK_ACCEPTED,
        }
    ),
    version=4,
)

_CHANGING = frozenset(
    {
        events.CREATED,
        events.MODIFIED,
        events.PAUSED,
        events.RESUMED,
        events.DELETED,
        events.GAVE_UP,
    }
)


def _store_last_change(record: Record) -> Iterator[Statement]:
    """Keep which record made a schedule what it is; its firings, however many, did not."""
    schedule = record.subject or record.data["schedule"]
    yield "INSERT OR REPLACE INTO schedule_change VALUES (?, ?)", (schedule, record.sequence)


CHANGES = Projection(
    "schedule changes",
    ("CREATE TABLE schedule_change (schedule TEXT PRIMARY KEY, sequence INTEGER) WITHOUT ROWID",),
    _store_last_change,
    types=_CHANGING,
)
