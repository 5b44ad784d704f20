"""The source view: what an agent sees of the target, read from git objects.

Nothing here touches a work tree, so there is no symlink to follow and no race to win; attributes,
filters, hooks and replace refs planted in the history have no effect. Secret files are not in the
view, and secret values inside other files are masked before anything is cut out or matched.
Everything answers with the commit it speaks of, and a page continues at the commit it began with.
"""

import mimetypes
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
    skipped_matches: int = 20_000
    context: int = 10
    regex_seconds: float = 5.0
    kept_snapshots: int = 8
    kept_characters: int = 64 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class SourceMatches:
    """Matching lines; `complete` says that every match is here.

    Text files too large to be searched are skipped and counted; what is no text (links, images,
    archives) has nothing to find.
    """

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
            self._find_snapshot(at),
            folder=parse_folder(folder),
            glob=glob,
            after=after,
            count=_cap_limit(limit, self._limits.page),
        )

    def read(
        self,
        path: str,
        *,
        at: str | None = None,
        start: int | None = None,
        end: int | None = None,
        numbered: bool = False,
        cursor: str | None = None,
        characters: int | None = None,
    ) -> SourceFile:
        """Read a file whole, or from line `start` to line `end`.

        With `characters`, or a `cursor` where the answer before ended, as much as fits.
        """
        requested_path = parse_relative(path)
        if rule := self._secrets.rule_for(requested_path.text):
            refuse_secret(requested_path.text, rule)
        snapshot = self._find_snapshot(at)
        entry = reading.find_entry(snapshot, requested_path)
        shown_text = self._show_entry(entry)
        if shown_text is None:
            raise NotText(
                f"{quote(entry.path)} is binary ({entry.size} bytes) and is not shown",
                next_step="read the code that makes or uses it",
                size=entry.size,
            )
        asks_for_all = start is None and end is None and cursor is None and characters is None
        if asks_for_all and len(shown_text.text) > self._limits.text_characters:
            self._ask_for_range(entry, shown_text)
        first, column = (
            text_lines.parse_place(cursor) if cursor else (1 if start is None else start, 0)
        )
        most = min(characters or self._limits.text_characters, self._limits.text_characters)
        lines = text_lines.take_lines(
            shown_text.text,
            start=first,
            end=end,
            numbered=numbered,
            most_characters=most * (2 if numbered else 1),
            column=column,
        )
        return reading.make_source_file(snapshot, requested_path, entry, shown_text, lines)

    def search(
        self,
        pattern: Pattern,
        *,
        at: str | None = None,
        folder: str = "",
        glob: str | None = None,
        context: int = 2,
        limit: int | None = None,
        skip: int = 0,
    ) -> SourceMatches:
        """Search the text that reading would show, line by line; leave the first `skip` out."""
        snapshot = self._find_snapshot(at)
        place = listing.find_folder(snapshot, parse_folder(folder))
        entries = listing.select_entries(snapshot, place, glob)
        searched = self._select_searched(entries)
        skipped = _count_texts(entries) - _count_texts(searched)
        documents = list(self._collect_documents(searched))
        most = _cap_limit(limit, self._limits.matches)
        skip = min(max(skip, 0), self._limits.skipped_matches)
        matches = search.search(
            pattern,
            documents,
            context=max(0, min(context, self._limits.context)),
            limit=skip + most + 1,
            seconds=self._limits.regex_seconds,
        )
        return SourceMatches(
            commit=snapshot.commit,
            items=tuple(matches[skip : skip + most]),
            complete=len(matches) <= skip + most and not skipped,
            searched_files=len(documents),
            skipped_files=skipped,
        )

    def find_commit(self, at: str | None = None) -> str:
        return self._find_snapshot(at).commit

    def find_snapshot(self, at: str | None = None) -> Snapshot:
        """Give the files of a commit that may be seen; the same commit gives the same object."""
        return self._find_snapshot(at)

    def read_texts(self, entries: Sequence[Entry]) -> Sequence[str | None]:
        """Read what reading would show of files; None for links, binary and too large ones."""
        oids = [entry.oid for entry in entries if self._is_searchable(entry)]
        raw = dict(zip(oids, self._read_blobs(oids), strict=True))
        texts = {oid: reading.decode_and_mask(data) for oid, data in raw.items()}
        return [text.text if (text := texts.get(entry.oid)) else None for entry in entries]

    def read_object(self, path: str, *, at: str | None = None) -> tuple[str, str]:
        """Give the object id and the whole text of a file, as reading would show its lines."""
        requested_path = parse_relative(path)
        if rule := self._secrets.rule_for(requested_path.text):
            refuse_secret(requested_path.text, rule)
        entry = reading.find_entry(self._find_snapshot(at), requested_path)
        shown_text = self._show_entry(entry)
        if shown_text is None:
            raise NotText(
                f"{quote(entry.path)} is binary and has no text", next_step="cite a text file"
            )
        return entry.oid, shown_text.text

    def _is_searchable(self, entry: Entry) -> bool:
        size = entry.size if entry.kind is EntryKind.FILE else None
        return size is not None and size <= self._limits.searched_file_bytes

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

    def _find_snapshot(self, at: str | None) -> Snapshot:
        commit = self._objects.read(revision_name(at, branch=self._branch))
        if commit is None or (at is not None and _is_other_commit(at, commit.oid)):
            raise _no_such_revision(at, self._branch)
        with self._lock:
            cached_snapshot = self._snapshots.get(commit.oid)
        return cached_snapshot or self._load_snapshot(commit.oid, commit.data)

    def _load_snapshot(self, commit: str, data: bytes) -> Snapshot:
        refuse_borrowed_objects(self._repository)
        tree = data.split(b"\n", 1)[0].removeprefix(b"tree ").decode("ascii")
        files = TreeReader(repository=self._repository).list_files(tree, sizes=True)
        snapshot = make_snapshot(commit, files, secrets=self._secrets)
        with self._lock:
            self._snapshots[commit] = snapshot
            while len(self._snapshots) > self._limits.kept_snapshots:
                self._snapshots.popitem(last=False)
        return snapshot

    def _show_entry(self, entry: Entry) -> ShownText | None:
        if entry.kind is EntryKind.SUBMODULE:
            return reading.decode_and_mask(f"submodule at commit {entry.oid}\n".encode())
        if entry.size is not None and entry.size > self._limits.file_bytes:
            raise FileTooLarge(
                f"{quote(entry.path)} has {entry.size} bytes, too many for the source view",
                next_step="search for the part you need in smaller files",
                size=entry.size,
            )
        return self._texts.get([entry.oid], self._read_blobs)[entry.oid]

    def _read_blobs(self, oids: Sequence[str]) -> Sequence[bytes]:
        git_objects = self._objects.read_many(oids)
        return [_require_data(oid, blob) for oid, blob in zip(oids, git_objects, strict=True)]

    def _select_searched(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Pick the files to search; links, submodules and huge files are not among them."""
        remaining_bytes = self._limits.searched_bytes
        searched: list[Entry] = []
        for entry in entries:
            size = entry.size if entry.kind is EntryKind.FILE else None
            if size is not None and size <= min(remaining_bytes, self._limits.searched_file_bytes):
                remaining_bytes -= size
                searched.append(entry)
        return searched

    def _collect_documents(self, searched: Sequence[Entry]) -> Iterator[Document]:
        """Yield the files that are text."""
        texts = self._texts.get([entry.oid for entry in searched], self._read_blobs)
        for entry in searched:
            if shown_text := texts[entry.oid]:
                yield Document(path=entry.path, text=shown_text.text)

    def _ask_for_range(self, entry: Entry, shown: ShownText) -> NoReturn:
        total = len(text_lines.split_lines(shown.text))
        raise FileTooLarge(
            f"{quote(entry.path)} has {total} lines ({entry.size} bytes), "
            "too many to show at once: ask for a range",
            next_step=f"ask again with start=1 and end={min(total, 400)}",
            size=entry.size,
            total_lines=total,
        )


def _require_data(oid: str, found: GitObject | None) -> bytes:
    if found is None:
        raise NotFound(
            f"the object {oid} is missing from the trusted repository",
            next_step="run `astra doctor`; it checks the trusted repository",
        )
    return found.data


def _count_texts(entries: Sequence[Entry]) -> int:
    """Count the files that are text, or may be, by their names."""
    return sum(entry.kind is EntryKind.FILE and _may_be_text(entry.path) for entry in entries)


def _may_be_text(path: str) -> bool:
    kind, packed = mimetypes.guess_type(path)
    family = (kind or "text").partition("/")[0]
    return not packed and family not in {"image", "audio", "video", "font"}


def _cap_limit(asked: int | None, most: int) -> int:
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
