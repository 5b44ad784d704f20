"""P23: reading beliefs that stand on a thousand, a hundred thousand and a million records.

The evidence is that of eight schedules over as many days as their daily caps ask for, so that
larger sizes mean a longer past. A read is the newest page of beliefs, or one belief with its
bands, its conflicts and a hundred records. Each size is compared with the thousand; both have the
same number of days on the page, so what grows is only what lies behind.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from astra.beliefs.book import Beliefs
from astra.beliefs.projection import MOST_A_DAY, PROJECTION
from astra.beliefs.views import BeliefViews
from astra.trusted.file_ledger.sqlite_index import SqliteIndex
from astra.trusted.kernel.clock import format_time
from astra.trusted.ledger.projection import RECORDS
from astra.trusted.ledger.record import GENESIS, Head, Record
from astra.trusted.ledger.verbs import LedgerVerbs
from measuring import at_most_times, best_rounds, folder, is_quick, report, seconds, sizes

SCHEDULES = 8
END = datetime(2026, 6, 1, tzinfo=UTC)
CALLS = 20


class StandingClock:
    def now(self) -> datetime:
        return END


class IndexOnly(LedgerVerbs):
    """As much of a ledger as reading beliefs takes: the projection, filled without a chain."""

    def __init__(self, path: Path, count: int) -> None:
        self._index = SqliteIndex(path, [RECORDS, PROJECTION])
        self._index.apply(make_records(count))
        self._index.commit()

    def query(self, sql: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        return self._index.query(sql, parameters)

    def position(self) -> int:
        return self._index.position()[0]

    def head(self) -> Head:
        return Head(1, GENESIS, format_time(END - timedelta(days=1)))

    def close(self) -> None:
        self._index.close()


def main() -> None:
    quick = is_quick()
    measured = sizes(quick=quick)
    with folder() as place:
        ledgers: dict[int, Any] = {size: IndexOnly(place / f"{size}", size) for size in measured}
        views = {
            size: BeliefViews(Beliefs(ledger=ledger, clock=StandingClock()))
            for size, ledger in ledgers.items()
        }
        for size, ledger in ledgers.items():
            counted = ledger.query("SELECT sum(count) FROM belief_sum WHERE kind LIKE 'firing%'")
            assert counted[0][0] == size, (size, counted)
        for name, read in (("list", read_page), ("show", read_belief)):
            contenders = {size: lambda view=views[size], read=read: read(view) for size in measured}
            best = best_rounds(contenders, 2 if quick else 9)
            for size in measured:
                target = at_most_times(2) if size == measured[-1] else None
                reference = best[measured[0]] * 1e6
                report(f"P23 {name} beliefs, µs, at {size:,}", best[size] * 1e6, reference, target)
        for ledger in ledgers.values():
            ledger.close()


def read_page(views: BeliefViews) -> float:
    return seconds(lambda: [views.list_page(limit=20) for _ in range(CALLS)]) / CALLS


def read_belief(views: BeliefViews) -> float:
    (belief, *_), _cursor = views.book.list_beliefs(limit=1)
    return seconds(lambda: [views.describe(belief.id, days=1) for _ in range(CALLS)]) / CALLS


def make_records(count: int) -> Iterator[Record]:
    """Give firings by day, no more a day than count, the newest a day before the end."""
    a_day = SCHEDULES * MOST_A_DAY["firing_failure"]
    first = END - timedelta(days=count // a_day + 2)
    for number in range(count):
        moment = first + timedelta(days=number // a_day, seconds=number % a_day)
        schedule = f"sch_{number % SCHEDULES:08x}"
        data = {
            "schedule": schedule,
            "firing": f"fir_{number:016x}",
            "outcome": "failed",
            "fire_time": f"{moment:%Y-%m-%d}T12:00:00.000000Z",
        }
        yield make_record(number + 1, moment, data)


def make_record(sequence: int, moment: datetime, data: dict[str, Any]) -> Record:
    content = json.dumps(data)
    line = {
        "sequence": sequence,
        "time": format_time(moment),
        "type": "schedule_firing_closed",
        "actor": "daemon",
        "correlation": "cor_0000000000000001",
        "subject": None,
        "key": None,
        "schema": 1,
        "batch": [sequence, 1],
        "data": data,
        "previous": GENESIS,
        "hash": GENESIS,
    }
    return Record(
        sequence=sequence,
        time=format_time(moment),
        type="schedule_firing_closed",
        actor="daemon",
        correlation="cor_0000000000000001",
        subject=None,
        key=None,
        schema=1,
        batch=(sequence, 1),
        content=content,
        previous=GENESIS,
        hash=GENESIS,
        line=json.dumps(line, separators=(",", ":")),
    )


if __name__ == "__main__":
    main()
