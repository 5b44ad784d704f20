"""The target's files in the index: by blob, in passages of forty lines, added as commits need them.

A blob is indexed once, however many commits and paths have it; what a question may see is decided
by the snapshot of its commit, in which secrets are not. So a blob that is in the index, and whose
path is secret by a rule signed later, is not found any more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from astra.adapters.search_index.database import SearchDatabase
from astra.adapters.search_index.matching import (
    choose_rarest,
    quote_terms,
    split_text,
    widen_phrases,
)
from astra.adapters.source_view.listing import find_language
from astra.adapters.source_view.view import SourceView
from astra.research.gathering import LINES_OF_PASSAGE
from astra.research.ports import MOST_COUNTED, Hit, SearchAnswer
from astra.trusted.git.snapshot import Entry, Snapshot

_PASSAGES_BITS = 16
_BLOBS_AT_ONCE = 256
_FETCHED, _OF_ONE_FILE = 200, 2
_DOCUMENTS = frozenset({"Markdown", "reStructuredText", "Text", "HTML"})


def is_document(path: str) -> bool:
    return find_language(path) in _DOCUMENTS


@dataclass(frozen=True)
class SearchedFile:
    path: str
    folded_path: str
    lines: int
    document: bool


@dataclass
class SearchedCommit:
    """What is in the index of one commit, as one view shows it: files by the number of a blob."""

    view: SourceView
    snapshot: Snapshot
    generation: int
    files: dict[int, SearchedFile] = field(default_factory=dict[int, SearchedFile])
    skipped: int = 0
    documents: int = 0

    def add_file(self, number: int, path: str, lines: int) -> None:
        if number in self.files:
            return
        file = SearchedFile(path, path.lower(), lines, is_document(path))
        self.files[number] = file
        self.documents += file.document

    def count_files(self, *, documents: bool) -> int:
        return self.documents if documents else len(self.files) - self.documents


class FileIndex:
    def __init__(self, database: SearchDatabase) -> None:
        self._database = database
        self._commit: SearchedCommit | None = None

    def search(
        self, view: SourceView, terms: Sequence[str], *, commit: str, documents: bool, limit: int
    ) -> SearchAnswer:
        """Search passages that have every term, then other forms of them, then the rarest ones."""
        searched = self.refresh(view, commit)
        phrases = quote_terms(terms)
        rows = self._match(" AND ".join(phrases)) if phrases else []
        hits = self._choose_hits(rows, searched, terms, documents=documents, limit=limit)
        if len(hits) < limit and phrases:
            widened = widen_phrases(self._database, phrases, "passage_word")
            rows = [*rows, *self._match(" AND ".join(widened))] if widened != phrases else rows
            hits = self._choose_hits(rows, searched, terms, documents=documents, limit=limit)
        if len(hits) < limit and len(phrases) > 1:
            rarest = choose_rarest(self._database, phrases, "passage_word")
            rows = [*rows, *self._match(" OR ".join(rarest))] if rarest else rows
            hits = self._choose_hits(rows, searched, terms, documents=documents, limit=limit)
        count = searched.count_files(documents=documents)
        return SearchAnswer(hits=tuple(hits), files=count, skipped=searched.skipped)

    def find_blobs(self, searched: SearchedCommit, match: str, limit: int) -> list[int]:
        """Give the numbers of blobs of a commit that match, the best first."""
        blobs = (rowid >> _PASSAGES_BITS for rowid, _ in self._match(match))
        return [blob for blob in dict.fromkeys(blobs) if blob in searched.files][:limit]

    def count_matches(self, match: str) -> int:
        """Count passages that match, up to a number at which it does not matter any more."""
        rows = self._database.query(
            "SELECT count(*) FROM (SELECT rowid FROM passage WHERE passage MATCH ? LIMIT ?)",
            (match, MOST_COUNTED),
        )
        return int(rows[0][0])

    def refresh(self, view: SourceView, commit: str) -> SearchedCommit:
        """Bring the index up to a commit: blobs that it lacks are read and added."""
        with self._database.use():
            searched = self._commit
            if searched is None or not self._is_current(searched, view, commit):
                searched = self._index_snapshot(view, view.find_snapshot(commit))
                self._commit = searched
            return searched

    def _is_current(self, searched: SearchedCommit, view: SourceView, commit: str) -> bool:
        return (
            searched.view is view
            and searched.snapshot.commit == commit
            and searched.generation == self._database.generation
        )

    def _index_snapshot(self, view: SourceView, snapshot: Snapshot) -> SearchedCommit:
        numbers = self._read_numbers()
        new_entries = {e.oid: e for e in snapshot.entries if e.oid not in numbers}
        entries = list(new_entries.values())
        for start in range(0, len(entries), _BLOBS_AT_ONCE):
            self._add_blobs(view, entries[start : start + _BLOBS_AT_ONCE])
        if new_entries:
            numbers = self._read_numbers()
        searched = SearchedCommit(view, snapshot, self._database.generation)
        for entry in snapshot.entries:
            number, lines = numbers.get(entry.oid, (0, -1))
            if lines < 0:
                searched.skipped += 1
            else:
                searched.add_file(number, entry.path, lines)
        return searched

    def _read_numbers(self) -> dict[str, tuple[int, int]]:
        rows = self._database.query("SELECT oid, id, lines FROM blob")
        return {oid: (number, lines) for oid, number, lines in rows}

    def _add_blobs(self, view: SourceView, entries: Sequence[Entry]) -> None:
        """Add a batch, all of it or nothing: a crash leaves no blob half indexed."""
        with self._database.use() as connection:
            texts = view.read_texts(entries)
            for entry, text in zip(entries, texts, strict=True):
                lines = -1 if text is None else text.count("\n") + 1
                cursor = connection.execute(
                    "INSERT INTO blob (oid, lines, parsed) VALUES (?, ?, 0)", (entry.oid, lines)
                )
                if text is not None and cursor.lastrowid is not None:
                    connection.executemany(
                        "INSERT INTO passage (rowid, text) VALUES (?, ?)",
                        _cut_passages(cursor.lastrowid, text),
                    )
            connection.commit()

    def _match(self, match: str) -> list[tuple[int, float]]:
        rows = self._database.query(
            "SELECT rowid, rank FROM passage WHERE passage MATCH ? ORDER BY rank LIMIT ?",
            (match, _FETCHED),
        )
        return [(int(rowid), float(rank)) for rowid, rank in rows]

    def _choose_hits(
        self,
        rows: Sequence[tuple[int, float]],
        searched: SearchedCommit,
        terms: Sequence[str],
        *,
        documents: bool,
        limit: int,
    ) -> list[Hit]:
        """Take the best of what the commit has; a path that names a term counts for more."""
        names = [term.lower() for term in terms]
        hits: dict[int, Hit] = {}
        for rowid, rank in rows:
            file = searched.files.get(rowid >> _PASSAGES_BITS)
            if file is None or file.document != documents or rowid in hits:
                continue
            start = (rowid & ((1 << _PASSAGES_BITS) - 1)) * LINES_OF_PASSAGE + 1
            name_count = sum(name in file.folded_path for name in names)
            end = min(start + LINES_OF_PASSAGE - 1, file.lines)
            hits[rowid] = Hit(path=file.path, start=start, end=end, score=2.0 * name_count - rank)
        best = sorted(hits.values(), key=lambda hit: (-hit.score, hit.path, hit.start))
        return list(_spread(best, limit))


def _spread(hits: Sequence[Hit], limit: int) -> Iterator[Hit]:
    """Take no more than a few of one file, so that others are seen as well."""
    counts: dict[str, int] = {}
    number = 0
    for hit in hits:
        counts[hit.path] = counts.get(hit.path, 0) + 1
        if counts[hit.path] <= _OF_ONE_FILE:
            yield hit
            number += 1
        if number == limit:
            return


def _cut_passages(number: int, text: str) -> Iterator[tuple[int, str]]:
    lines = split_text(text).split("\n")
    most = 1 << _PASSAGES_BITS
    for place, start in enumerate(range(0, len(lines), LINES_OF_PASSAGE)):
        if place == most:
            return
        passage = "\n".join(lines[start : start + LINES_OF_PASSAGE])
        yield number << _PASSAGES_BITS | place, passage
