"""P1: durable append by one caller, index applied: each round ends with a question to the index,
which has to fold what was appended first.

References: a raw write and fdatasync of the same bytes, and the `eventsourcing` library saving one
event at a time on SQLite, as durable as it comes. Its manual gets an aggregate before it triggers
an event; keeping the aggregate in memory instead is faster and is shown beside.
"""

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import sample
from astra.bootstrap import PROJECTIONS
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.kernel.signatures import KeyPair
from measuring import at_least, best_rounds, folder, is_quick, report, seconds

Contenders = dict[str, Callable[[], float]]


def main() -> None:
    count, rounds = (20, 2) if is_quick() else (20, 150)
    with folder() as place:
        astra = Astra(place / "astra", count)
        raw = Raw(place / "raw.bin", astra)
        contenders: Contenders = {"astra": astra.append, "raw": raw.write} | peers(place, count)
        best = best_rounds(contenders, rounds)
        astra.ledger.close()
    rate = {name: count / spent for name, spent in best.items()}
    report("P1 append, records/s, to write + fdatasync", rate["astra"], rate["raw"], at_least(0.8))
    for name, target in (("get and save", at_least(1.5)), ("save what is kept", None)):
        if name in rate:
            title = f"P1 append, records/s, to eventsourcing ({name})"
            report(title, rate["astra"], rate[name], target)


def peers(place: Path, count: int) -> Contenders:
    if not find_spec("eventsourcing"):
        print("eventsourcing is not installed: `make bench` does that", file=sys.stderr)
        return {}
    from peer_eventsourcing import Peer

    return {
        "get and save": Peer(place / "peer-1.sqlite3", count, kept=False).append,
        "save what is kept": Peer(place / "peer-2.sqlite3", count, kept=True).append,
    }


class Astra:
    """The ledger as the daemon opens it; it remembers the lines of the last round."""

    def __init__(self, var: Path, count: int) -> None:
        self.ledger = FileLedger(var, projections=PROJECTIONS, key=KeyPair.generate())
        self.lines: list[bytes] = []
        self._events = sample.events()
        self._count = count

    def append(self) -> float:
        events = list(islice(self._events, self._count))
        records = []

        def append_and_ask() -> None:
            records.extend(self.ledger.append([event])[0] for event in events)
            asked = self.ledger.query("SELECT max(sequence) FROM record")
            assert asked == [(records[-1].sequence,)], "the index does not know the last record"

        spent = seconds(append_and_ask)
        self.lines = [f"{record.line}\n".encode() for record in records]
        return spent


class Raw:
    def __init__(self, path: Path, astra: Astra) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._astra = astra

    def write(self) -> float:
        return seconds(lambda: [self._write_one(line) for line in self._astra.lines])

    def _write_one(self, line: bytes) -> None:
        os.write(self._descriptor, line)
        os.fdatasync(self._descriptor)


if __name__ == "__main__":
    main()
