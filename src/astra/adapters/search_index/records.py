"""Records of the ledger in the index: those of a closed list of types, added as the chain grows."""

from collections.abc import Sequence

from astra.adapters.search_index.database import SearchDatabase
from astra.adapters.search_index.matching import (
    choose_rarest,
    quote_terms,
    split_text,
    widen_phrases,
)
from astra.research.texts import render_record
from astra.trusted.ledger.ports import Ledger

_AT_ONCE = 500


class RecordIndex:
    def __init__(self, database: SearchDatabase, ledger: Ledger, types: Sequence[str]) -> None:
        self._database = database
        self._ledger = ledger
        self._types = tuple(types)

    def search_records(self, terms: Sequence[str], *, limit: int) -> list[int]:
        """Give records that have every term, then other forms of them, then the rarest ones."""
        self._refresh()
        phrases = quote_terms(terms)
        sequences = self._match(" AND ".join(phrases), limit) if phrases else []
        if len(sequences) < limit and phrases:
            widened = widen_phrases(self._database, phrases, "event_word")
            sequences += self._match(" AND ".join(widened), limit) if widened != phrases else []
        if len(sequences) < limit and len(phrases) > 1:
            rarest = choose_rarest(self._database, phrases, "event_word")
            sequences += self._match(" OR ".join(rarest), limit) if rarest else []
        return list(dict.fromkeys(sequences))[:limit]

    def _match(self, match: str, limit: int) -> list[int]:
        rows = self._database.query(
            "SELECT rowid FROM event WHERE event MATCH ? ORDER BY rank LIMIT ?", (match, limit)
        )
        return [int(row[0]) for row in rows]

    def _refresh(self) -> None:
        with self._database.use():
            after = self._find_place()
            while records := self._ledger.records(*self._types, after=after, limit=_AT_ONCE):
                with self._database.use() as connection:
                    connection.executemany(
                        "INSERT INTO event (rowid, text) VALUES (?, ?)",
                        [(r.sequence, split_text(render_record(r))) for r in records],
                    )
                    last = records[-1]
                    after = last.sequence
                    connection.execute(
                        "INSERT OR REPLACE INTO event_place VALUES (1, ?, ?)", (after, last.hash)
                    )

    def _find_place(self) -> int:
        """Say up to where the index goes; of another history than the ledger's it is emptied."""
        rows = self._database.query("SELECT sequence, hash FROM event_place")
        if not rows:
            return 0
        sequence, hash_ = rows[0]
        record = self._ledger.record(sequence)
        if record is not None and record.hash == hash_:
            return int(sequence)
        with self._database.use() as connection:
            connection.execute("INSERT INTO event (event) VALUES ('delete-all')")
            connection.execute("DELETE FROM event_place")
        return 0
