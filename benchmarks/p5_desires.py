"""P5: the top ten desires among a thousand, a hundred thousand and a million.

Each size is listed after an hour, a month and a year, and its slowest of the three counts: decay
costs nothing, so they are alike. The reference decays and sorts the same million in memory, and
must name the same ten. The sizes are then compared with the thousand.

The last line is P16's half for desires: the slowest of all operations on a thousand of them on the
real ledger, without the disk's own sync (`fdatasync` is taken away).
"""

import itertools
import json
import os
import random
import statistics
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from astra.bootstrap import PROJECTIONS
from astra.desires import views
from astra.desires.book import Desires
from astra.desires.idle import IdlePolicy
from astra.desires.model import Filter
from astra.goals.promotion import Promotions
from astra.trusted.approvals.desk import Desk
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.file_ledger.sqlite_index import SqliteIndex
from astra.trusted.kernel.clock import format_time
from astra.trusted.ledger.record import GENESIS, Head, Record
from measuring import Target, at_least, best_rounds, folder, is_quick, report, seconds, sizes

START, YEAR = datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=365)
PASSED = (timedelta(hours=1), timedelta(days=30), YEAR)
HALF_LIFE = 14 * 86_400.0
CALLS = 200
STORY = "cor_0000000000000001"


class StandingClock:
    def __init__(self) -> None:
        self.moment = START

    def now(self) -> datetime:
        return self.moment


class IndexOnly:
    """As much of a ledger as listing takes: the projection, filled without a chain."""

    def __init__(self, path: Path, count: int) -> None:
        self.rows: list[tuple[str, float, float]] = []
        self._index = SqliteIndex(path, [views.PROJECTION])
        self._index.apply(self._records(count))
        self.query = self._index.query

    def head(self) -> Head:
        return Head(1, GENESIS, format_time(START))

    def close(self) -> None:
        self._index.close()

    def _records(self, count: int) -> Iterator[Record]:
        """A year of desires of any strength, evenly spread."""
        chance = random.Random(5)
        yield made_record(1, START, views.HALF_LIFE_SET, None, {"days": 14.0})
        for number in range(count):
            moment, strength = START + YEAR * (number / count), chance.random()
            identifier = f"des_{number:08x}"
            data = {"text": f"wish {number}", "tags": [], "context": None, "strength": strength}
            self.rows.append((identifier, strength, moment.timestamp()))
            yield made_record(number + 2, moment, views.RECORDED, identifier, data)


def main() -> None:
    quick = is_quick()
    with folder() as place:
        top_ten(place, sizes(quick=quick), rounds=2 if quick else 7)
    with folder() as place:
        every_operation(place, rounds=5 if quick else 101)


def top_ten(place: Path, measured: tuple[int, ...], rounds: int) -> None:
    clock = StandingClock()
    indexes: dict[int, Any] = {size: IndexOnly(place / f"{size}", size) for size in measured}
    books = {size: Desires(ledger=index, clock=clock) for size, index in indexes.items()}
    contenders = {
        (size, passed): lambda book=book, passed=passed: listing(book, clock, passed)
        for size, book in books.items()
        for passed in PASSED
    }
    best = best_rounds(contenders, rounds)
    slowest = {size: max(best[size, passed] for passed in PASSED) for size in measured}
    least, most = measured[0], measured[-1]
    sorting = agreed_sorting(indexes[most], books[most], clock)
    for size in measured:
        target = at_most_times(2) if size == most else None
        report(
            f"P5 top-10 desires, µs, at {size:,}", slowest[size] * 1e6, slowest[least] * 1e6, target
        )
    report(
        f"P5 top-10 of {most:,} a second, against decay-and-sort",
        1 / slowest[most],
        1 / sorting,
        at_least(1_000),
    )
    for index in indexes.values():
        index.close()


def listing(book: Desires, clock: StandingClock, passed: timedelta) -> float:
    clock.moment = START + YEAR + passed
    return seconds(lambda: [top(book) for _ in range(CALLS)]) / CALLS


def top(book: Desires) -> list[str]:
    """After a year nothing is above the threshold, so the faded count too."""
    return [desire.id for desire in book.list_desires(Filter(faded=True), limit=10).items]


def agreed_sorting(index: IndexOnly, book: Desires, clock: StandingClock) -> float:
    spent = []
    for passed in PASSED:
        clock.moment = START + YEAR + passed
        found: list[str] = []
        spent.append(seconds(lambda found=found: found.extend(decayed_and_sorted(index, clock))))
        assert found == top(book)
    return min(spent)


def decayed_and_sorted(index: IndexOnly, clock: StandingClock) -> list[str]:
    now = clock.moment.timestamp()
    faded = [
        (strength * 0.5 ** ((now - moment) / HALF_LIFE), identifier)
        for identifier, strength, moment in index.rows
    ]
    faded.sort(reverse=True)
    return [identifier for _, identifier in faded[:10]]


def every_operation(place: Path, rounds: int) -> None:
    os.fdatasync = lambda _descriptor: None
    clock = StandingClock()
    ledger = FileLedger(place, projections=PROJECTIONS, clock=clock)
    try:
        took = {
            name: statistics.median(seconds(work) for _ in range(rounds))
            for name, work in operations(ledger, clock).items()
        }
    finally:
        ledger.close()
    name = max(took, key=lambda name: took[name])
    limit = Target("< 1 ms", lambda value, _reference: value < 1)
    report(
        f"P16 slowest of {len(took)} operations on 1,000 desires ({name}), ms",
        took[name] * 1e3,
        None,
        limit,
    )


def operations(ledger: FileLedger, clock: StandingClock) -> dict[str, Callable[[], Any]]:
    book = Desires(ledger=ledger, clock=clock)
    promotions = Promotions(desires=book, desk=Desk(ledger, clock))
    numbers = itertools.count()

    def record() -> str:
        number = next(numbers)
        clock.moment += timedelta(minutes=1)
        strength = 0.2 + number % 80 / 100
        tags = [f"tag{number % 10}"]
        made = book.record(
            f"wish {number}", strength=strength, tags=tags, actor="agent", correlation=STORY
        )
        return made.id

    def survey() -> None:
        clock.moment += timedelta(hours=1)
        IdlePolicy(book).survey()

    def prune() -> None:
        clock.moment += timedelta(minutes=1)
        book.record("weak", strength=0.05, actor="agent", correlation=STORY)
        book.prune(actor="agent", correlation=STORY)

    made = [record() for _ in range(1_000)]
    chosen = itertools.cycle(made)
    return {
        "record": record,
        "reinforce": lambda: book.reinforce(next(chosen), actor="agent"),
        "list": book.list_desires,
        "list by tag": lambda: book.list_desires(Filter(tag="tag3")),
        "search": lambda: book.list_desires(Filter(search="wish 12")),
        "search in vain": lambda: book.list_desires(Filter(search="nowhere")),
        "show": lambda: book.get(next(chosen)),
        "ask for a promotion": lambda: promotions.request(made[0], actor="agent"),
        "survey": survey,
        "record and prune": prune,
    }


def at_most_times(ratio: float) -> Target:
    return Target(f"≤ {ratio:g} x", lambda value, reference: value <= ratio * reference)


def made_record(
    sequence: int, moment: datetime, kind: str, subject: str | None, data: dict[str, Any]
) -> Record:
    return Record(
        sequence=sequence,
        time=format_time(moment),
        type=kind,
        actor="agent",
        correlation=STORY,
        subject=subject,
        key=None,
        schema=1,
        batch=(sequence, 1),
        content=json.dumps(data),
        previous=GENESIS,
        hash=GENESIS,
        line="",
    )


if __name__ == "__main__":
    main()
