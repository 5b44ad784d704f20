"""Reading one source file: which entry a path means, and the text that may be shown of it.

Text is masked whole before any part of it is cut out, so that a line range cannot separate a secret
from the marks that give it away. Shown texts are kept by object id, which never changes meaning.
"""

import difflib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from astra.adapters.source_view import text_lines
from astra.adapters.source_view.listing import find_language, path_candidates
from astra.adapters.source_view.text_lines import LineRange
from astra.trusted.git.snapshot import Entry, Snapshot
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.kernel.masking import mask
from astra.trusted.policy.paths import RelativePath, fold, quote

MOST_SUGGESTIONS = 5
Load = Callable[[Sequence[str]], Sequence[bytes]]
_MOST_COMPARED = 20_000


class IsFolder(BadInput):
    code = "is_folder"


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A file, some lines of it, or a symlink's or submodule's own text, never what it points to."""

    commit: str
    asked: str
    path: str
    kind: str
    size: int | None
    language: str | None
    encoding: str
    encoding_certain: bool
    line_endings: str
    text: str
    start: int
    end: int
    total_lines: int
    more: bool
    cut: bool
    masked: bool
    next: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShownText:
    """Decoded and masked."""

    text: str
    encoding: str
    certain: bool
    masked: bool


def decode_and_mask(raw: bytes) -> ShownText | None:
    """Decode and mask; None for binary content."""
    decoded = text_lines.decode(raw)
    if decoded is None:
        return None
    masked = mask(decoded.text)
    return ShownText(
        text=masked,
        encoding=decoded.encoding,
        certain=decoded.certain,
        masked=masked != decoded.text,
    )


class ShownTexts:
    """The most recently shown texts, up to a number of characters."""

    def __init__(self, most_characters: int) -> None:
        self._most = most_characters
        self._kept: OrderedDict[str, ShownText | None] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def get(self, oids: Sequence[str], load: Load) -> dict[str, ShownText | None]:
        """Return the text of every object, loading those that are not kept."""
        with self._lock:
            cached_texts = {oid: self._kept[oid] for oid in oids if oid in self._kept}
            for oid in cached_texts:
                self._kept.move_to_end(oid)
        missing_oids = [oid for oid in dict.fromkeys(oids) if oid not in cached_texts]
        loaded = {
            oid: decode_and_mask(raw)
            for oid, raw in zip(missing_oids, load(missing_oids), strict=True)
        }
        with self._lock:
            for oid, shown_text in loaded.items():
                self._cache_text(oid, shown_text)
        return {**cached_texts, **loaded}

    def _cache_text(self, oid: str, shown: ShownText | None) -> None:
        if oid not in self._kept:
            self._kept[oid] = shown
            self._characters += _measure_weight(shown)
        while self._characters > self._most:
            _, dropped = self._kept.popitem(last=False)
            self._characters -= _measure_weight(dropped)


def find_entry(snapshot: Snapshot, asked: RelativePath) -> Entry:
    """Find the entry, with or without a leading `src/`, or say which paths come closest."""
    for candidate in path_candidates(asked.text):
        if entry := snapshot.by_path.get(candidate):
            return entry
    for candidate in path_candidates(asked.text):
        if candidate in snapshot.folders:
            _refuse_folder(candidate)
    close = closest_paths(asked.text, snapshot.paths)
    raise NotFound(
        f"there is no file {quote(asked.text)} at commit {snapshot.commit[:12]}",
        next_step=f"did you mean {close[0]}?" if close else "list the files to see what is there",
        closest=close,
    )


def make_source_file(
    snapshot: Snapshot, asked: RelativePath, entry: Entry, shown: ShownText, lines: LineRange
) -> SourceFile:
    return SourceFile(
        commit=snapshot.commit,
        asked=asked.text,
        path=entry.path,
        kind=entry.kind.value,
        size=entry.size,
        language=find_language(entry.path),
        encoding=shown.encoding,
        encoding_certain=shown.certain,
        line_endings=text_lines.detect_line_endings(shown.text),
        text=lines.text,
        start=lines.start,
        end=lines.end,
        total_lines=lines.total,
        more=lines.cut or lines.end < lines.total,
        cut=lines.cut,
        masked=shown.masked,
        next=lines.next,
    )


def closest_paths(asked: str, existing: list[str]) -> list[str]:
    """Suggest paths: the same name elsewhere first, then names that look alike."""
    name = fold(asked).rpartition("/")[2]
    by_name: dict[str, list[str]] = {}
    for path in existing[:_MOST_COMPARED]:
        by_name.setdefault(fold(path).rpartition("/")[2], []).append(path)
    alike = [name, *difflib.get_close_matches(name, by_name, n=MOST_SUGGESTIONS, cutoff=0.6)]
    suggestions = [
        path
        for key in dict.fromkeys(alike)
        for path in _sort_by_likeness(asked, by_name.get(key, []))
    ]
    return suggestions[:MOST_SUGGESTIONS]


def _sort_by_likeness(asked: str, same_name: list[str]) -> list[str]:
    matcher = difflib.SequenceMatcher(b=asked, autojunk=False)

    def likeness(path: str) -> float:
        matcher.set_seq1(path)
        return matcher.ratio()

    return sorted(same_name[:100], key=likeness, reverse=True)


def _measure_weight(shown: ShownText | None) -> int:
    return 100 + (len(shown.text) if shown else 0)


def _refuse_folder(path: str) -> NoReturn:
    raise IsFolder(f"{quote(path)} is a folder", next_step="list it, then read one of its files")
