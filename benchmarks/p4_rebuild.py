"""P4: rebuilding the index from the chain.

Reference: inserting the very rows of that index into the same tables of an empty SQLite file, in
one transaction, with nothing to read, parse or work out. Only the insertions are timed.
"""

import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

import sample
from astra.bootstrap import PROJECTIONS
from astra.trusted.file_ledger import sqlite_index
from astra.trusted.file_ledger.ledger import FileLedger
from measuring import at_least, best_rounds, folder, is_quick, report, seconds, sizes

CHUNK = 50_000


def main() -> None:
    quick = is_quick()
    measured = sizes(quick=quick)
    for size in measured:
        with folder() as place:
            astra, plain = measure(place, size, rounds=2 if quick or size == measured[-1] else 5)
        target = at_least(0.6) if size == measured[-1] else None
        report(f"P4 rebuild, records/s, at {size:,}", size / astra, size / plain, target)


def measure(place: Path, size: int, rounds: int) -> tuple[float, float]:
    sample.write_chain(place / "ledger", size)
    ledger = FileLedger(place, projections=PROJECTIONS)
    try:
        bulk = BulkInsert(place)
        best = best_rounds(
            {"astra": lambda: seconds(ledger.rebuild), "plain": bulk.run}, rounds=rounds
        )
    finally:
        ledger.close()
    return best["astra"], best["plain"]


class BulkInsert:
    def __init__(self, place: Path) -> None:
        self._place = place
        self._names = (f"plain-{number}.sqlite3" for number in count())

    def run(self) -> float:
        built, _ = sqlite_index.find_newest(self._place / "index", PROJECTIONS)
        path = self._place / next(self._names)
        with (
            closing(sqlite3.connect(f"file:{built}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(path, isolation_level=None)) as target,
        ):
            for projection in PROJECTIONS:
                for table in projection.tables:
                    target.execute(table)
            target.execute("BEGIN")
            spent = sum(_copy(name, source, target) for name in _tables(source))
            spent += seconds(lambda: target.execute("COMMIT"))
        path.unlink()
        return spent


def _tables(source: sqlite3.Connection) -> list[str]:
    """Name the tables that the sample fills, each in the order of the chain."""
    rows = source.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    named = [name for (name,) in rows if name != "position"]
    return [name for name in named if source.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone()]


def _copy(table: str, source: sqlite3.Connection, target: sqlite3.Connection) -> float:
    """Insert a table's rows in the order of the chain; reading them is not timed."""
    columns = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
    order = "sequence" if "sequence" in columns else columns[0]
    rows = source.execute(f"SELECT * FROM {table} ORDER BY {order}")
    places = ", ".join("?" for _ in rows.description)
    spent = 0.0
    while chunk := rows.fetchmany(CHUNK):
        insert = f"INSERT INTO {table} VALUES ({places})"
        spent += seconds(lambda chunk=chunk, insert=insert: target.executemany(insert, chunk))
    return spent


if __name__ == "__main__":
    main()
