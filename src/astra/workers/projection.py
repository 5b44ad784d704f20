"""Workers and jobs as rows: who joined, what is offered, and who has it."""

import json
from collections.abc import Iterator

from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record
from astra.workers import events
from astra.workers.model import JobState, WorkerState

WORKER_COLUMNS = "id, name, kinds, labels, instance, jobs, version, epoch, state, problems, since"
JOB_COLUMNS = (
    "id, kind, work, label, labels, seconds, repeatable, correlation, state, worker, epoch, moves,"
    " slow_worker, ended_at"
)


def _apply_record(record: Record) -> Iterator[Statement]:
    yield from (_apply_job if record.type in _JOBS else _apply_worker)(record)


def _apply_worker(record: Record) -> Iterator[Statement]:
    data = record.data
    if record.type == events.JOINED:
        yield (
            "INSERT OR REPLACE INTO worker VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(data["worker"], data["name"], json.dumps(data["kinds"])),
                *(json.dumps(data["labels"]), data["instance"], data["jobs"], data["version"]),
                *(data["epoch"], _judge_state(data["problems"]), json.dumps(data["problems"])),
                record.time,
            ),
        )
    elif record.type == events.CHECKED:
        yield (
            "UPDATE worker SET state = ?, problems = ? WHERE id = ?",
            (_judge_state(data["problems"]), json.dumps(data["problems"]), data["worker"]),
        )
    else:
        state = WorkerState.DRAINING if record.type == events.DRAINING else WorkerState.LEFT
        yield "UPDATE worker SET state = ? WHERE id = ?", (str(state), data["worker"])


def _apply_job(record: Record) -> Iterator[Statement]:
    data, job = record.data, record.subject
    if record.type == events.OFFERED:
        yield (
            "INSERT INTO job VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, 0, '', 0)",
            (
                *(record.sequence, job, data["kind"], json.dumps(data["work"]), data["label"]),
                *(json.dumps(data["labels"]), data["seconds"], data["repeatable"]),
                *(record.correlation, str(JobState.OFFERED)),
            ),
        )
    elif record.type == events.CLAIMED:
        yield (
            "UPDATE job SET state = ?, worker = ?, epoch = ? WHERE id = ?",
            (str(JobState.CLAIMED), data["worker"], data["epoch"], job),
        )
    elif record.type == events.MOVED:
        slow_worker = data["worker"] if data["slow"] else ""
        yield (
            "UPDATE job SET state = ?, moves = moves + 1, slow_worker = ? WHERE id = ?",
            (str(JobState.OFFERED), slow_worker, job),
        )
    else:
        state = JobState.ENDED if record.type == events.ENDED else JobState.WITHDRAWN
        yield (
            "UPDATE job SET state = ?, ended_at = ? WHERE id = ?",
            (str(state), record.sequence, job),
        )


def _judge_state(problems: list[str]) -> str:
    return str(WorkerState.UNFIT if problems else WorkerState.READY)


_WORKERS = frozenset({events.JOINED, events.CHECKED, events.DRAINING, events.LEFT})
_JOBS = frozenset({events.OFFERED, events.CLAIMED, events.MOVED, events.ENDED, events.WITHDRAWN})
PROJECTION = Projection(
    "workers",
    (
        """CREATE TABLE worker (
            id TEXT PRIMARY KEY, name TEXT, kinds TEXT, labels TEXT, instance TEXT, jobs INTEGER,
            version TEXT, epoch INTEGER, state TEXT, problems TEXT, since TEXT
        ) WITHOUT ROWID""",
        """CREATE TABLE job (
            sequence INTEGER PRIMARY KEY, id TEXT UNIQUE, kind TEXT, work TEXT, label TEXT,
            labels TEXT, seconds REAL, repeatable INTEGER, correlation TEXT, state TEXT,
            worker TEXT, epoch INTEGER,
            moves INTEGER, slow_worker TEXT, ended_at INTEGER
        )""",
        "CREATE INDEX job_state ON job (state, sequence)",
        "CREATE INDEX worker_state ON worker (state)",
        "CREATE INDEX job_label ON job (label, state)",
    ),
    _apply_record,
    types=_WORKERS | _JOBS,
)
