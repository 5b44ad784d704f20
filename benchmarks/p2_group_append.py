"""P2: durable append of many records at once, index applied, on a ledger that grows.

References: a minimal chained writer (encode, sha-256, one write and sync for 64, no index), one
thread instead of 64, and the naive shape that rewrites an `index.json` for every record.
"""

import gzip
import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import sample
from astra.bootstrap import PROJECTIONS
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import GENESIS, Event
from measuring import at_least, best_rounds, folder, is_quick, report, seconds, sizes

GROUP = 64


def main() -> None:
    quick = is_quick()
    rounds = 2 if quick else 30
    with folder() as place:
        ledger = FileLedger(place / "astra", projections=PROJECTIONS, key=KeyPair.generate())
        events = sample.events()
        for size in sizes(quick=quick):
            grow(ledger, events, size)
            measure_group(ledger, events, Minimal(place / f"minimal-{size}"), rounds)
            if size == sizes(quick=quick)[0]:
                measure_naive(ledger, events, Naive(place / "naive", events, size), rounds)
        measure_threads(ledger, events, rounds=2 if quick else 10)
        ledger.close()


def grow(ledger: FileLedger, events: Iterator[Event], size: int) -> None:
    while (missing := size - ledger.head().sequence) > 0:
        ledger.append(list(islice(events, min(missing, 1_000))))


def measure_group(
    ledger: FileLedger, events: Iterator[Event], minimal: "Minimal", rounds: int
) -> None:
    size = ledger.head().sequence

    def groups() -> list[list[Event]]:
        return [list(islice(events, GROUP)) for _ in range(5)]

    best = best_rounds(
        {
            "astra": lambda: timed(ledger.append, groups(), then=lambda: ask_last(ledger)),
            "minimal": lambda: timed(minimal.append, groups()),
        },
        rounds,
    )
    rate = {name: GROUP * 5 / spent for name, spent in best.items()}
    name = f"P2 append of {GROUP}, records/s, at {size:,}"
    report(name, rate["astra"], rate["minimal"], at_least(0.6))


def measure_naive(ledger: FileLedger, events: Iterator[Event], naive: "Naive", rounds: int) -> None:
    best = best_rounds(
        {
            "astra": lambda: (
                timed(ledger.append, [list(islice(events, GROUP))], then=lambda: ask_last(ledger))
                / GROUP
            ),
            "naive": lambda: timed(naive.append, [next(events)]),
            "never synced": lambda: timed(naive.append_hopefully, [next(events)]),
        },
        rounds,
    )
    name = f"P2 append of {GROUP}, records/s, to the naive shape with 1,000 rows"
    report(name, 1 / best["astra"], 1 / best["naive"], at_least(50))
    name = f"{name}, never synced"
    report(name, 1 / best["astra"], 1 / best["never synced"])


def measure_threads(ledger: FileLedger, events: Iterator[Event], rounds: int) -> None:
    each = 10
    best = best_rounds(
        {
            "many": lambda: many_threads(ledger, list(islice(events, GROUP * each))),
            "one": lambda: timed(ledger.append, [[event] for event in islice(events, GROUP)]),
        },
        rounds,
    )
    many, one = GROUP * each / best["many"], GROUP / best["one"]
    report(f"P2 append by {GROUP} threads, records/s, to one thread", many, one, at_least(3))


def many_threads(ledger: FileLedger, events: list[Event]) -> float:
    """Let 64 threads that are already there append one record after the other."""
    begin = threading.Barrier(GROUP + 1)

    def work(own: list[Event]) -> None:
        begin.wait()
        for event in own:
            ledger.append([event])

    threads = [
        threading.Thread(target=work, args=(events[number::GROUP],)) for number in range(GROUP)
    ]
    for thread in threads:
        thread.start()
    begin.wait()
    return seconds(lambda: [thread.join() for thread in threads])


def timed(
    append: Callable[[Any], object], things: list[Any], then: Callable[[], object] = lambda: None
) -> float:
    return seconds(lambda: [*[append(thing) for thing in things], then()])


def ask_last(ledger: FileLedger) -> None:
    """Have the index fold what was appended: it is part of what is measured."""
    ledger.query("SELECT max(sequence) FROM record")


class Minimal:
    """The least that makes a durable chain."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._sequence, self._previous = 0, GENESIS

    def append(self, events: list[Event]) -> None:
        lines = b"".join([self._line(event) for event in events])
        os.write(self._descriptor, lines)
        os.fdatasync(self._descriptor)

    def _line(self, event: Event) -> bytes:
        self._sequence += 1
        members = {
            "sequence": self._sequence,
            "time": datetime.now(UTC).isoformat(),
            "type": event.type,
            "actor": event.actor,
            "correlation": event.correlation,
            "subject": event.subject,
            "key": event.key,
            "schema": 1,
            "batch": [self._sequence, 1],
            "data": event.data,
            "previous": self._previous,
        }
        body = json.dumps(members, separators=(",", ":"))[:-1]
        self._previous = sha256(body.encode()).hexdigest()
        return f'{body},"hash":"{self._previous}"}}\n'.encode()


class Naive:
    """Append a gzip member, and write the whole `index.json` again."""

    def __init__(self, place: Path, events: Iterator[Event], rows: int) -> None:
        place.mkdir()
        self._log, self._index = place / "log.ndjson.gz", place / "index.json"
        self._rows = [self._row(event) for event in islice(events, rows)]

    def append(self, event: Event) -> None:
        """Durable, as everything measured here: both files are synced before it returns."""
        self.append_hopefully(event)
        for path in (self._log, self._index):
            descriptor = os.open(path, os.O_RDWR)
            os.fdatasync(descriptor)
            os.close(descriptor)

    def append_hopefully(self, event: Event) -> None:
        with gzip.open(self._log, "ab") as file:
            file.write(f"{json.dumps(asdict(event))}\n".encode())
        self._index.write_text(json.dumps([*self._rows, self._row(event)]))

    def _row(self, event: Event) -> dict[str, str | None]:
        return {"type": event.type, "subject": event.subject, "correlation": event.correlation}


if __name__ == "__main__":
    main()
