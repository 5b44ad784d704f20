"""Lists of source files: which entries a folder and a glob select, page by page.

A cursor holds the commit and the last path of a page, so that pages of one list never mix commits.
It comes back from an agent and is trusted with nothing: a forged one asks for a commit and a place
in its list, both of which the agent may ask for anyway.
"""

import base64
import binascii
import bisect
import json
from dataclasses import dataclass
from typing import Any

from astra.trusted.git.snapshot import Entry, Snapshot
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.policy import globs
from astra.trusted.policy.paths import RelativePath, quote

LONGEST_CURSOR = 8192
_LANGUAGES = {
    "c": "C",
    "cc": "C++",
    "cpp": "C++",
    "cs": "C#",
    "css": "CSS",
    "go": "Go",
    "h": "C",
    "html": "HTML",
    "ini": "INI",
    "java": "Java",
    "js": "JavaScript",
    "json": "JSON",
    "jsx": "JavaScript",
    "kt": "Kotlin",
    "lua": "Lua",
    "md": "Markdown",
    "mjs": "JavaScript",
    "php": "PHP",
    "pl": "Perl",
    "py": "Python",
    "pyi": "Python",
    "rb": "Ruby",
    "rs": "Rust",
    "rst": "reStructuredText",
    "scss": "SCSS",
    "sh": "Shell",
    "sql": "SQL",
    "svelte": "Svelte",
    "swift": "Swift",
    "toml": "TOML",
    "ts": "TypeScript",
    "tsx": "TypeScript",
    "txt": "Text",
    "vue": "Vue",
    "xml": "XML",
    "yaml": "YAML",
    "yml": "YAML",
}
_LANGUAGE_BY_NAME = {"makefile": "Make", "dockerfile": "Dockerfile"}


class BadCursor(BadInput):
    code = "bad_cursor"


@dataclass(frozen=True, kw_only=True)
class SourceItem:
    path: str
    kind: str
    size: int | None
    language: str | None


@dataclass(frozen=True, kw_only=True)
class SourceListing:
    """One page; `unaddressable` counts files whose names are no clean paths and cannot be shown."""

    commit: str
    folder: str
    items: tuple[SourceItem, ...]
    next: str | None
    total: int
    unaddressable: int


def list_page(
    snapshot: Snapshot, *, folder: RelativePath, glob: str | None, after: str, count: int
) -> SourceListing:
    place = find_folder(snapshot, folder)
    entries = select_entries(snapshot, place, glob)
    first = bisect.bisect_right(entries, after, key=lambda entry: entry.path) if after else 0
    page = entries[first : first + count]
    more = first + count < len(entries)
    return SourceListing(
        commit=snapshot.commit,
        folder=place,
        items=tuple(map(_item_from_entry, page)),
        next=make_cursor(snapshot.commit, page[-1].path) if more else None,
        total=len(entries),
        unaddressable=snapshot.unaddressable,
    )


def find_folder(snapshot: Snapshot, asked: RelativePath) -> str:
    """Find a folder, with or without a leading `src/`; the empty path is the whole tree."""
    if not asked.text:
        return ""
    for candidate in path_candidates(asked.text):
        if candidate in snapshot.folders or not candidate:
            return candidate
    raise NotFound(
        f"there is no folder {quote(asked.text)} at commit {snapshot.commit[:12]}",
        next_step="list the whole tree to see its folders",
    )


def path_candidates(text: str) -> tuple[str, ...]:
    if text == "src":
        return (text, "")
    return (text, text[4:] if text.startswith("src/") else f"src/{text}")


def select_entries(snapshot: Snapshot, folder: str, glob: str | None) -> list[Entry]:
    """Pick the entries below a folder; a glob without a slash speaks of names at any depth."""
    below = f"{folder}/" if folder else ""
    first = bisect.bisect_left(snapshot.paths, below)
    last = bisect.bisect_left(snapshot.paths, f"{folder}0") if folder else len(snapshot.paths)
    entries = list(snapshot.entries[first:last])
    if glob is None:
        return entries
    pattern = globs.parse_relative_glob(glob)
    return [entry for entry in entries if pattern.matches(entry.path[len(below) :])]


def make_cursor(commit: str, path: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([commit, path]).encode()).decode()


def open_cursor(text: str) -> tuple[str, str]:
    try:
        raw = base64.urlsafe_b64decode(text[:LONGEST_CURSOR].encode("ascii"))
        value: Any = json.loads(raw)
        commit, path = value
    except (ValueError, TypeError, binascii.Error, RecursionError):
        commit = path = None
    if not isinstance(commit, str) or not isinstance(path, str):
        raise BadCursor(
            "that cursor is not one this list gave out",
            next_step="start again without a cursor",
        )
    return commit, path


def find_language(path: str) -> str | None:
    name = path.rpartition("/")[2].lower()
    return _LANGUAGE_BY_NAME.get(name) or _LANGUAGES.get(name.rpartition(".")[2])


def _item_from_entry(entry: Entry) -> SourceItem:
    return SourceItem(
        path=entry.path, kind=entry.kind.value, size=entry.size, language=find_language(entry.path)
    )
