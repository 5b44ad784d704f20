"""The source view: what an agent sees of the target, read from git objects.

Nothing here touches a work tree, so there is no symlink to follow and no race to win; attributes,
filters, hooks and replace refs planted in the history have no effect. Secret files are not in the
view, and secret values inside other files are masked before anything is cut out or matched.
Everything answers with the commit it speaks of, and a page continues at the commit it began with.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from astra.adapters.source_view import listing, reading, search, text_lines
from astra.adapters.source_view.listing import SourceListing
from astra.adapters.source_view.reading import ShownText, ShownTexts, SourceFile
from astra.adapters.source_view.search import Document, Match, Pattern
from astra.trusted.git.git_batch import GitObject, ObjectReader, refuse_borrowed_objects
from astra.trusted.git.snapshot import (
    Entry,
    EntryKind,
    Snapshot,
    is_commit_id,
    make_snapshot,
    revision_name,
)
from astra.trusted.git.tree_reader import TreeReader
from astra.trusted.kernel.errors import BadInput, NotFound, Refused
from astra.trusted.policy.paths import parse_folder, parse_relative, quote
from astra.trusted.policy.reads import refuse_secret
from astra.trusted.policy.secrets import SecretRules


class FileTooLarge(Refused):
    code = "file_too_large"


class NotText(Refused):
    code = "not_text"


class BadLimit(BadInput):
    code = "bad_limit"


@dataclass(frozen=True, kw_only=True)
class SourceLimits:
    page: int = 1000
    text_characters: int = 200_000
    file_bytes: int = 8 * 1024 * 1024
    searched_file_bytes: int = 2 * 1024 * 1024
    searched_bytes: int = 64 * 1024 * 1024
    matches: int = 500
    context: int = 10
    regex_seconds: float = 5.0
    kept_snapshots: int = 8
    kept_characters: int = 64 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class SourceMatches:
    """Matching lines; `complete` says that every file was searched and every match is here."""

    commit: str
    items: tuple[Match, ...]
    complete: bool
    searched_files: int
    skipped_files: int


class SourceView:
    def __init__(
        self,
        repository: Path,
        *,
        branch: str,
        secrets: SecretRules | None = None,
        limits: SourceLimits | None = None,
        objects: ObjectReader | None = None,
    ) -> None:
        """Look at a branch; `objects` is a reader shared with others, who then close it."""
        self._repository = repository
        self._branch = branch
        self._secrets = secrets or SecretRules()
        self._limits = limits or SourceLimits()
        self._objects = objects or ObjectReader(repository)
        self._snapshots: OrderedDict[str, Snapshot] = OrderedDict()
        self._texts = ShownTexts(self._limits.kept_characters)
        self._lock = threading.Lock()

    def list(
        self,
        *,
        at: str | None = None,
        folder: str = "",
        glob: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> SourceListing:
        """List files in order of their paths; a glob without a slash speaks of names anywhere."""
        after = ""
        if cursor is not None:
            at, after = listing.open_cursor(cursor)
        return listing.list_page(
            self._snapshot(at),
            folder=parse_folder(folder),
            glob=glob,
            after=after,
            count=_within(limit, self._limits.page),
        )

    def read(
        self,
        path: str,
        *,
        at: str | None = None,
        start: int | None = None,
        end: int | None = None,
        numbered: bool = False,
    ) -> SourceFile:
        """Read a file whole, or from line `start` to line `end`."""
        asked = parse_relative(path)
        if rule := self._secrets.rule_for(asked.text):
            refuse_secret(asked.text, rule)
        snapshot = self._snapshot(at)
        entry = reading.find_entry(snapshot, asked)
        shown = self._shown(entry)
        if shown is None:
            raise NotText(
                f"{quote(entry.path)} is binary ({entry.size} bytes) and is not shown",
                next_step="read the code that makes or uses it",
                size=entry.size,
            )
        if start is None and end is None and len(shown.text) > self._limits.text_characters:
            self._ask_for_range(entry, shown)
        lines = text_lines.take_lines(
            shown.text,
            start=1 if start is None else start,
            end=end,
            numbered=numbered,
            most_characters=self._limits.text_characters * (2 if numbered else 1),
        )
        return reading.describe(snapshot, asked, entry, shown, lines)

    def search(
        self,
        pattern: Pattern,
        *,
        at: str | None = None,
        folder: str = "",
        glob: str | None = None,
        context: int = 2,
        limit: int | None = None,
    ) -> SourceMatches:
        """Search the text that reading would show, line by line."""
        snapshot = self._snapshot(at)
        place = listing.find_folder(snapshot, parse_folder(folder))
        entries = listing.select(snapshot, place, glob)
        documents = list(self._documents(entries))
        most = _within(limit, self._limits.matches)
        found = search.search(
            pattern,
            documents,
            context=max(0, min(context, self._limits.context)),
            limit=most + 1,
            seconds=self._limits.regex_seconds,
        )
        return SourceMatches(
            commit=snapshot.commit,
            items=tuple(found[:most]),
            complete=len(found) <= most and len(documents) == len(entries),
            searched_files=len(documents),
            skipped_files=len(entries) - len(documents),
        )

    def commit_of(self, at: str | None = None) -> str:
        return self._snapshot(at).commit

    def close(self) -> None:
        self._objects.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _snapshot(self, at: str | None) -> Snapshot:
        commit = self._objects.read(revision_name(at, branch=self._branch))
        if commit is None or (at is not None and _is_other_commit(at, commit.oid)):
            raise _no_such_revision(at, self._branch)
        with self._lock:
            kept = self._snapshots.get(commit.oid)
        return kept or self._load(commit.oid, commit.data)

    def _load(self, commit: str, data: bytes) -> Snapshot:
        refuse_borrowed_objects(self._repository)
        tree = data.split(b"\n", 1)[0].removeprefix(b"tree ").decode("ascii")
        files = TreeReader(repository=self._repository).list_files(tree, sizes=True)
        snapshot = make_snapshot(commit, files, secrets=self._secrets)
        with self._lock:
            self._snapshots[commit] = snapshot
            while len(self._snapshots) > self._limits.kept_snapshots:
                self._snapshots.popitem(last=False)
        return snapshot

    def _shown(self, entry: Entry) -> ShownText | None:
        if entry.kind is EntryKind.SUBMODULE:
            return reading.show(f"submodule at commit {entry.oid}\n".encode())
        if entry.size is not None and entry.size > self._limits.file_bytes:
            raise FileTooLarge(
                f"{quote(entry.path)} has {entry.size} bytes, too many for the source view",
                next_step="search for the part you need in smaller files",
                size=entry.size,
            )
        return self._texts.get([entry.oid], self._blobs)[entry.oid]

    def _blobs(self, oids: Sequence[str]) -> Sequence[bytes]:
        found = self._objects.read_many(oids)
        return [_data(oid, blob) for oid, blob in zip(oids, found, strict=True)]

    def _documents(self, entries: Sequence[Entry]) -> Iterator[Document]:
        """Yield what can be searched; links, submodules, binary and huge files are skipped."""
        left = self._limits.searched_bytes
        searched: list[Entry] = []
        for entry in entries:
            size = entry.size if entry.kind is EntryKind.FILE else None
            if size is not None and size <= min(left, self._limits.searched_file_bytes):
                left -= size
                searched.append(entry)
        texts = self._texts.get([entry.oid for entry in searched], self._blobs)
        for entry in searched:
            if shown := texts[entry.oid]:
                yield Document(path=entry.path, text=shown.text)

    def _ask_for_range(self, entry: Entry, shown: ShownText) -> NoReturn:
        total = len(text_lines.lines_of(shown.text))
        raise FileTooLarge(
            f"{quote(entry.path)} has {total} lines ({entry.size} bytes), "
            "too many to show at once: ask for a range",
            next_step=f"ask again with start=1 and end={min(total, 400)}",
            size=entry.size,
            total_lines=total,
        )


def _data(oid: str, found: GitObject | None) -> bytes:
    if found is None:
        raise NotFound(
            f"the object {oid} is missing from the trusted repository",
            next_step="run `astra doctor`; it checks the trusted repository",
        )
    return found.data


def _within(asked: int | None, most: int) -> int:
    if asked is not None and asked < 1:
        raise BadLimit("limit must be at least 1", next_step=f"ask for 1 to {most}")
    return min(asked or most, most)


def _is_other_commit(at: str, oid: str) -> bool:
    """Say whether git took what looks like a commit id for the name of something else."""
    return is_commit_id(at) and not oid.startswith(at)


def _no_such_revision(at: str | None, branch: str) -> NotFound:
    if at is None:
        return NotFound(
            f"the branch {branch} has no commit yet",
            next_step=f"commit something to {branch} in the target, then run `astra init` again",
            code="no_commit_yet",
        )
    return NotFound(
        f"there is no branch, commit or change {quote(at)}",
        next_step=f"leave it out to see the branch {branch}, or list the changes",
        code="no_such_revision",
    )
