"""P6: what is due among a thousand, a hundred thousand and a million schedules.

The value is the executor's own question (the due schedules, read into values), the reference the
same rows by a raw indexed query on the same file; both get ten due rows. Definitions are read once
and remembered, as for any schedule that fires again. The sizes are compared with the thousand.
Then: creating a schedule durably, against one fdatasync of the same size.

The last line is P16's half for schedules: the slowest operation on a hundred of them on the real
ledger, without the disk's own sync (`fdatasync` is taken away).
"""

import itertools
import json
import os
import sqlite3
import statistics
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from astra.bootstrap import PROJECTIONS
from astra.schedules import events, projection, views
from astra.schedules.door import RegistryCatalogue
from astra.schedules.model import Definition
from astra.schedules.service import Timetable
from astra.tools import catalogue as services
from astra.trusted.approvals.desk import Desk
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.file_ledger.sqlite_index import SqliteIndex
from astra.trusted.kernel.clock import format_time
from astra.trusted.ledger.projection import SUBJECTS
from astra.trusted.ledger.record import GENESIS, Record
from measuring import (
    Target,
    at_most_times,
    best_rounds,
    folder,
    is_quick,
    report,
    seconds,
    sizes,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DUE, CALLS = 10, 200
STORY = "cor_0000000000000001"
RAW = """
    SELECT schedule.id, definition, state, next_run, subject.version, created_at, modified, factor,
        failures
    FROM schedule JOIN subject ON subject.id = schedule.id
    WHERE next_run <= ? ORDER BY next_run, schedule.id LIMIT ?
"""


class StandingClock:
    def now(self) -> datetime:
        return NOW


class IndexOnly:
    """As much of a ledger as asking takes: the projections, filled without a chain."""

    def __init__(self, path: Path, count: int) -> None:
        self._index = SqliteIndex(path, [SUBJECTS, projection.PROJECTION])
        self._index.apply(_records(count))
        self._index.query("SELECT 1")  # readers see what a reader had committed
        self.query = self._index.query
        self.raw = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)

    def close(self) -> None:
        self.raw.close()
        self._index.close()


def main() -> None:
    quick = is_quick()
    with folder() as place:
        due(place, sizes(quick=quick), rounds=2 if quick else 9)
    with folder() as place:
        creating(place, rounds=5 if quick else 60)
    with folder() as place:
        every_operation(place, rounds=5 if quick else 51)


def due(place: Path, measured: tuple[int, ...], rounds: int) -> None:
    indexes: dict[int, Any] = {size: IndexOnly(place / f"{size}", size) for size in measured}
    contenders: dict[Any, Callable[[], float]] = {}
    for size, index in indexes.items():
        contenders["ours", size] = lambda index=index: _asked(lambda: _ours(index))
        contenders["raw", size] = lambda index=index: _asked(lambda: _raw(index))
        assert len(_ours(index)) == len(_raw(index)) == DUE
    best = best_rounds(contenders, rounds)
    most = measured[-1]
    for size in measured:
        name = f"P6 due schedules, µs, at {size:,}, against a raw query"
        value, raw = best["ours", size] * 1e6, best["raw", size] * 1e6
        report(name, value, raw, at_most_times(3) if size == most else None)
    first, last = best["ours", measured[0]] * 1e6, best["ours", most] * 1e6
    report(
        f"P6 due schedules, µs, at {most:,}, against {measured[0]:,}", last, first, at_most_times(2)
    )
    for index in indexes.values():
        index.close()


def creating(place: Path, rounds: int) -> None:
    ledger = FileLedger(place / "var", projections=PROJECTIONS)
    timetable, numbers = _timetable(ledger), itertools.count()
    descriptor = os.open(place / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    line = b"x" * 900

    def sync() -> None:
        os.write(descriptor, line)
        os.fdatasync(descriptor)

    def create() -> None:
        timetable.create(_definition(next(numbers)), actor="agent")

    create()
    both = {"create": lambda: seconds(create), "sync": lambda: seconds(sync)}
    took: dict[str, list[float]] = {name: [] for name in both}
    for _ in range(rounds):
        for name, run in both.items():
            took[name].append(run())
    value, reference = (statistics.median(took[name]) * 1e6 for name in ("create", "sync"))
    report("P6 durable create, µs, against one fdatasync", value, reference, at_most_times(1.5))
    ledger.close()
    os.close(descriptor)


def every_operation(place: Path, rounds: int) -> None:
    os.fdatasync = lambda _descriptor: None
    ledger = FileLedger(place, projections=PROJECTIONS)
    took = {
        name: statistics.median(seconds(work) for _ in range(rounds))
        for name, work in _operations(_timetable(ledger)).items()
    }
    ledger.close()
    name = max(took, key=lambda name: took[name])
    limit = Target("< 1 ms", lambda value, _reference: value < 1)
    report(
        f"P16 slowest of {len(took)} operations on 100 schedules ({name}), ms",
        took[name] * 1e3,
        None,
        limit,
    )


def _operations(timetable: Timetable) -> dict[str, Callable[[], Any]]:
    numbers = itertools.count()
    made = [timetable.create(_definition(next(numbers)), actor="agent")[0].id for _ in range(100)]
    chosen = itertools.cycle(made)
    budgets = itertools.cycle(range(1, 50))
    return {
        "create": lambda: timetable.create(_definition(next(numbers)), actor="agent"),
        "create again": lambda: timetable.create(_definition(5), actor="agent"),
        "modify": lambda: timetable.modify(
            next(chosen), {"per_day_budget": next(budgets)}, actor="agent"
        ),
        "pause and resume": lambda: _pause_and_resume(timetable, next(chosen)),
        "show": lambda: timetable.describe_schedule(timetable.get(next(chosen))),
        "list ten": lambda: timetable.list_schedules(limit=10),
        "search": lambda: views.schedules(timetable.ledger, text="s42", limit=10),
        "due": lambda: views.list_due_schedules(timetable.ledger, format_time(NOW), 64),
        "next due": lambda: views.next_due(timetable.ledger),
        "history": lambda: timetable.history(schedule_id=made[0]),
    }


def _pause_and_resume(timetable: Timetable, identifier: str) -> None:
    timetable.pause(identifier, actor="agent")
    timetable.resume(identifier, actor="agent")


def _timetable(ledger: FileLedger) -> Timetable:
    clock = StandingClock()
    catalogue = RegistryCatalogue(services.make_registry())
    return Timetable(ledger, clock, catalogue, Desk(ledger, clock))


def _asked(question: Callable[[], object]) -> float:
    return seconds(lambda: [question() for _ in range(CALLS)]) / CALLS


def _ours(index: Any) -> list[Any]:
    return views.list_due_schedules(index, format_time(NOW), DUE)


def _raw(index: IndexOnly) -> list[Any]:
    return index.raw.execute(RAW, (format_time(NOW), DUE)).fetchall()


def _definition(number: int) -> Definition:
    return Definition(
        name=f"s{number}",
        cron_expression="0 9 * * MON",
        timezone="Europe/Berlin",
        target_tool="astra.health",
    )


def _records(count: int) -> Iterator[Record]:
    """Make schedules that are due later, and a few that are due now."""
    for number in range(count):
        moment = (
            NOW if number % (count // DUE) == 0 else NOW + timedelta(minutes=1 + number % 9_000)
        )
        event = events.created(
            f"sch_{number:08x}", _definition(number), format_time(moment), actor="agent"
        )
        yield Record(
            sequence=number + 1,
            time=format_time(NOW),
            type=event.type,
            actor=event.actor,
            correlation=STORY,
            subject=event.subject,
            key=event.key,
            schema=1,
            batch=(number + 1, 1),
            content=json.dumps(event.data),
            previous=GENESIS,
            hash=GENESIS,
            line="",
        )


if __name__ == "__main__":
    main()
