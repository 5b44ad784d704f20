"""Searching the sources of a task: passages, each a piece of an object that does not change."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from astra.research.model import Citation, Passage, Session, Source, Task
from astra.research.ports import (
    MOST_COUNTED,
    Bodies,
    CodeSearch,
    Notes,
    Pages,
    RecordSearch,
)
from astra.research.quotes import count_terms, find_terms
from astra.research.texts import render_body, render_record
from astra.trusted.kernel.errors import AstraError, LedgerError
from astra.trusted.ledger.ports import Ledger

PASSAGES_OF_TASK, LINES_OF_PASSAGE, CHARACTERS_OF_PASSAGE = 6, 40, 4_000
_DEFINITIONS, _FOLLOWED_NAMES, _NOTES = 2, 2, 3
_LINES_OF_DEFINITION = 12


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """What a task found; `names` are definitions worth another look."""

    passages: tuple[Passage, ...] = ()
    searched: str = ""
    names: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Gathering:
    ledger: Ledger
    code: CodeSearch
    records: RecordSearch
    notes: Notes
    bodies: Bodies
    pages: Pages

    def gather(self, task: Task, session: Session) -> Gathered:
        """Search every source of a task; one that fails says so and keeps no other from it."""
        parts = [self._search_source(source, task, session) for source in task.sources]
        passages = [passage for part in parts for passage in part.passages]
        return Gathered(
            passages=_rank(passages),
            searched="; ".join(part.searched for part in parts if part.searched),
            names=tuple(name for part in parts for name in part.names)[:_FOLLOWED_NAMES],
            troubles=tuple(trouble for part in parts for trouble in part.troubles),
        )

    def _search_source(self, source: Source, task: Task, session: Session) -> Gathered:
        terms = find_terms(task.query)
        searches: dict[Source, Callable[[], Gathered]] = {
            Source.SOURCE: lambda: self._search_code(terms, session.commit),
            Source.DOCUMENTS: lambda: self._search_documents(terms, session.commit),
            Source.LEDGER: lambda: self._search_ledger(terms),
            Source.NOTES: lambda: self._search_notes(terms),
            Source.WEB: lambda: self._search_page(terms, task.url, session),
        }
        try:
            return searches[source]()
        except LedgerError:
            raise
        except AstraError as error:
            return Gathered(troubles=(f"{source}: {error.detail}",))

    def _search_code(self, terms: Sequence[str], commit: str) -> Gathered:
        definitions = self.code.find_definitions(terms, commit=commit, limit=_DEFINITIONS)
        answer = self.code.search(terms, commit=commit, documents=False, limit=PASSAGES_OF_TASK)
        best = max((hit.score for hit in answer.hits), default=1.0)
        passages = [
            self._cut_file(
                Source.SOURCE,
                definition.path,
                (definition.start, min(definition.end, definition.start + _LINES_OF_DEFINITION)),
                commit=commit,
                score=best + 1.0 + definition.references / 1_000_000,
                label=f"defines {definition.name} ({definition.kind},"
                f" in {_describe_count(definition.references)} places)",
            )
            for definition in definitions
        ]
        passages += [
            self._cut_file(
                Source.SOURCE, hit.path, (hit.start, hit.end), commit=commit, score=hit.score
            )
            for hit in answer.hits
        ]
        return Gathered(
            passages=tuple(passages),
            searched=_describe_files(answer.files, answer.skipped, commit),
            names=tuple(definition.name for definition in definitions),
        )

    def _search_documents(self, terms: Sequence[str], commit: str) -> Gathered:
        answer = self.code.search(terms, commit=commit, documents=True, limit=PASSAGES_OF_TASK)
        passages = tuple(
            self._cut_file(
                Source.DOCUMENTS, hit.path, (hit.start, hit.end), commit=commit, score=hit.score
            )
            for hit in answer.hits
        )
        return Gathered(
            passages=passages,
            searched=_describe_files(answer.files, answer.skipped, commit, "documents"),
        )

    def _cut_file(
        self,
        kind: Source,
        path: str,
        lines: tuple[int, int],
        *,
        commit: str,
        score: float,
        label: str = "",
    ) -> Passage:
        blob, text = self.code.read_file(path, commit=commit)
        start, end = lines
        target = Citation(kind=kind, commit=commit, path=path, blob=blob, start=start, end=end)
        passage = "\n".join(text.split("\n")[start - 1 : end])
        return Passage(target=target, text=_cut(passage), score=score, label=label)

    def _search_ledger(self, terms: Sequence[str]) -> Gathered:
        sequences = self.records.search_records(terms, limit=PASSAGES_OF_TASK)
        records = [record for number in sequences if (record := self.ledger.record(number))]
        passages = tuple(
            Passage(
                target=Citation(kind=Source.LEDGER, sequence=record.sequence, hash=record.hash),
                text=_cut(render_record(record)),
                score=float(len(records) - place),
                label=f"{record.type} at {record.time[:19]}Z",
            )
            for place, record in enumerate(records)
        )
        head = self.ledger.head().sequence
        return Gathered(passages=passages, searched=f"records up to {head} that agents may read")

    def _search_notes(self, terms: Sequence[str]) -> Gathered:
        passages: list[tuple[Passage, str]] = []
        count = 0
        for path, text in self.notes.list_notes():
            count += 1
            best = max(
                _list_passages(Citation(kind=Source.NOTES, path=path), text, terms),
                key=lambda passage: passage.score,
                default=None,
            )
            if best is not None:
                passages.append((best, text))
        passages.sort(key=lambda pair: -pair[0].score)
        cited = tuple(self._keep_body(passage, text) for passage, text in passages[:_NOTES])
        return Gathered(passages=cited, searched=f"{count} notes of the agent's own")

    def _search_page(self, terms: Sequence[str], url: str, session: Session) -> Gathered:
        if objection := self.pages.find_objection(url):
            return Gathered(troubles=(f"{url} was left out: {objection}",))
        body = self.pages.fetch(url, actor=session.actor, correlation=session.correlation)
        target = Citation(kind=Source.WEB, url=url, sha256=self.bodies.keep(body))
        passages = sorted(
            _list_passages(target, render_body(body), terms), key=lambda passage: -passage.score
        )
        return Gathered(passages=tuple(passages[:_NOTES]), searched=f"{url} ({len(body):,} bytes)")

    def _keep_body(self, passage: Passage, text: str) -> Passage:
        sha256 = self.bodies.keep(text.encode("utf-8", errors="replace"))
        return replace(passage, target=replace(passage.target, sha256=sha256))


def _list_passages(target: Citation, text: str, terms: Sequence[str]) -> Iterator[Passage]:
    """Cut a text into passages, and give those that have any of the terms."""
    lines = text.split("\n")
    for start in range(0, len(lines), LINES_OF_PASSAGE):
        part = "\n".join(lines[start : start + LINES_OF_PASSAGE])
        if score := count_terms(part, terms):
            end = min(start + LINES_OF_PASSAGE, len(lines))
            place = replace(target, start=start + 1, end=end)
            yield Passage(target=place, text=_cut(part), score=float(score))


def _rank(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Take the best passages, each object and place once."""
    by_place: dict[tuple[str, int], Passage] = {}
    for passage in sorted(passages, key=lambda passage: -passage.score):
        by_place.setdefault((passage.target.object_id, passage.target.start), passage)
    return tuple(by_place.values())[:PASSAGES_OF_TASK]


def _describe_count(number: int) -> str:
    return f"{number} or more" if number >= MOST_COUNTED else str(number)


def _cut(text: str) -> str:
    return text[:CHARACTERS_OF_PASSAGE]


def _describe_files(files: int, skipped: int, commit: str, what: str = "files") -> str:
    remark = f", {skipped} binary or too large" if skipped else ""
    return f"{files} {what} at {commit[:12]}{remark}"
