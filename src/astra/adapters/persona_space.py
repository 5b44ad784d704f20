"""The agent's own files, and a read-only mirror of the target under `src/`.

`list`, `read`, `write` and `delete` reach the files below one folder and nothing else. Paths that
start with `src/` show the target through the source view; no write goes there, in no spelling, and
a folder somebody makes under that name on disk is never looked at. Secrets are neither listed nor
returned nor stored, and secret values are masked in what is read.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from astra.adapters.source_view import reading, text_lines
from astra.adapters.source_view.view import NotText, SourceView
from astra.operations.caps import NOTE_BYTES, NOTE_NAMES
from astra.trusted.files.guarded_files import GuardedFolder
from astra.trusted.kernel.errors import BadInput, Refused
from astra.trusted.policy.paths import RelativePath, fold, parse_folder, parse_relative, quote
from astra.trusted.policy.reads import refuse_secret
from astra.trusted.policy.secrets import SecretRules

MIRROR = "src"
LARGEST_READ = 4 * 1024 * 1024
LARGEST_WRITE = 1024 * 1024
MOST_CHARACTERS = 200_000
MOST_ITEMS = 1000


class PersonaProblem(StrEnum):
    SOURCE_READ_ONLY = "source_read_only"
    SOURCE_MISSPELLED = "source_misspelled"
    TOO_LARGE = "file_too_large"


class PersonaRefused(Refused):
    """Something the persona space does not do; `problem` says why, from a closed list."""

    def __init__(self, problem: PersonaProblem, detail: str, *, next_step: str) -> None:
        super().__init__(detail, next_step=next_step, code=problem.value)
        self.problem = problem


class BadText(BadInput):
    code = "bad_text"


@dataclass(frozen=True, kw_only=True)
class PersonaItem:
    path: str
    kind: str
    size: int | None


@dataclass(frozen=True, kw_only=True)
class PersonaPage:
    folder: str
    items: tuple[PersonaItem, ...]
    next: str | None
    commit: str | None


@dataclass(frozen=True, kw_only=True)
class PersonaFile:
    """Text of a file; `commit` is set when it came from the mirror of the target."""

    path: str
    commit: str | None
    size: int | None
    encoding: str
    encoding_certain: bool
    text: str
    start: int
    end: int
    total_lines: int
    more: bool
    masked: bool
    next: str | None = None


@dataclass(frozen=True, kw_only=True)
class Written:
    path: str
    size: int
    created: bool


class PersonaSpace:
    def __init__(
        self, root: Path | GuardedFolder, *, source: SourceView, secrets: SecretRules | None = None
    ) -> None:
        """Look below a folder; one that is open already is closed by who opened it."""
        self._files = GuardedFolder(root) if isinstance(root, Path) else root
        self._source = source
        self._secrets = secrets or SecretRules()

    def list(self, folder: str = "", *, cursor: str | None = None, limit: int = 200) -> PersonaPage:
        place = parse_folder(folder)
        if _is_mirror(place):
            return self._list_mirror(place, cursor, limit)
        self._refuse_secret(place)
        count = max(1, min(limit, MOST_ITEMS))
        page = self._files.list(place, after=cursor or "", count=count)
        items = [
            PersonaItem(path=path, kind=item.kind, size=item.size)
            for item in page.items
            if not self._is_out_of_sight(path := _join_path(place, item.name))
        ]
        if not place.text and not cursor:
            items.insert(0, PersonaItem(path=MIRROR, kind="mirror", size=None))
        return PersonaPage(folder=place.text, items=tuple(items), next=page.next, commit=None)

    def read(self, path: str, **part: Any) -> PersonaFile:
        """Read a file, or the part of it that `read_text` takes."""
        relative_path = parse_relative(path)
        self._refuse_secret(relative_path)
        if _is_mirror(relative_path):
            return self._read_mirror(relative_path, part)
        content = self._files.read(relative_path, most_bytes=LARGEST_READ)
        return read_text(relative_path.text, content, **part)

    def write(self, path: str, text: str) -> Written:
        relative_path = self.resolve_writable(path)
        content = _encode_text(text)
        if len(content) > LARGEST_WRITE:
            raise PersonaRefused(
                PersonaProblem.TOO_LARGE,
                f"{len(content)} bytes are more than a file here may have ({LARGEST_WRITE})",
                next_step="split it into several files",
            )
        self._refuse_flood(len(content))
        created = self._files.write(relative_path, content)
        return Written(path=relative_path.text, size=len(content), created=created)

    def _refuse_flood(self, size: int) -> None:
        """Keep the notes within their caps; what is replaced is counted until it is."""
        names, used = self._files.measure_usage(most_names=NOTE_NAMES.most)
        if names >= NOTE_NAMES.most:
            raise NOTE_NAMES.build_error()
        if used + size > NOTE_BYTES.most:
            raise NOTE_BYTES.build_error()

    def delete(self, path: str) -> None:
        self._files.delete(self.resolve_writable(path))

    def resolve_writable(self, path: str) -> RelativePath:
        """Give the place a write would go to, or refuse it, without touching anything."""
        relative_path = parse_relative(path)
        if fold(relative_path.parts[0]).strip() == MIRROR:
            raise PersonaRefused(
                PersonaProblem.SOURCE_READ_ONLY,
                f"{quote(relative_path.text)} is in the mirror of the target, which is read-only",
                next_step="propose the edit with schedule_code_modification",
            )
        self._refuse_secret(relative_path)
        return relative_path

    def close(self) -> None:
        """Close the folder; the source view belongs to whoever made it."""
        self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _list_mirror(self, place: RelativePath, cursor: str | None, limit: int) -> PersonaPage:
        below = "" if place.text == MIRROR else place.text
        listing = self._source.list(folder=below, cursor=cursor, limit=max(1, limit))
        items = [
            PersonaItem(path=_to_mirror_path(item.path), kind=item.kind, size=item.size)
            for item in listing.items
        ]
        return PersonaPage(
            folder=place.text, items=tuple(items), next=listing.next, commit=listing.commit
        )

    def _read_mirror(self, asked: RelativePath, part: dict[str, Any]) -> PersonaFile:
        file = self._source.read(asked.text, **part)
        return PersonaFile(
            path=_to_mirror_path(file.path),
            commit=file.commit,
            size=file.size,
            encoding=file.encoding,
            encoding_certain=file.encoding_certain,
            text=file.text,
            start=file.start,
            end=file.end,
            total_lines=file.total_lines,
            more=file.more,
            masked=file.masked,
            next=file.next,
        )

    def _refuse_secret(self, path: RelativePath) -> None:
        if path.text and (rule := self._secrets.rule_for(path.text)):
            refuse_secret(path.text, rule)

    def _is_out_of_sight(self, path: str) -> bool:
        return fold(path).strip() == MIRROR or self._secrets.rule_for(path) is not None


def read_text(
    path: str,
    content: bytes,
    *,
    start: int | None = None,
    end: int | None = None,
    numbered: bool = False,
    cursor: str | None = None,
    characters: int | None = None,
) -> PersonaFile:
    """Show the bytes of a file as text: decoded, masked, then cut to the range."""
    shown_text = reading.decode_and_mask(content)
    if shown_text is None:
        raise NotText(
            f"{quote(path)} is binary ({len(content)} bytes) and is not shown",
            next_step="use it where it is needed without reading it",
            size=len(content),
        )
    asks_for_all = start is None and end is None and cursor is None and characters is None
    if asks_for_all and len(shown_text.text) > MOST_CHARACTERS:
        _ask_for_range(path, shown_text.text)
    first, column = text_lines.parse_place(cursor) if cursor else (1 if start is None else start, 0)
    lines = text_lines.take_lines(
        shown_text.text,
        start=first,
        end=end,
        numbered=numbered,
        most_characters=min(characters or MOST_CHARACTERS, MOST_CHARACTERS),
        column=column,
    )
    return PersonaFile(
        path=path,
        commit=None,
        size=len(content),
        encoding=shown_text.encoding,
        encoding_certain=shown_text.certain,
        text=lines.text,
        start=lines.start,
        end=lines.end,
        total_lines=lines.total,
        more=lines.cut or lines.end < lines.total,
        masked=shown_text.masked,
        next=lines.next,
    )


def _ask_for_range(path: str, text: str) -> NoReturn:
    total = len(text_lines.split_lines(text))
    raise PersonaRefused(
        PersonaProblem.TOO_LARGE,
        f"{quote(path)} has {total} lines, too many to show at once: ask for a range",
        next_step=f"ask again with start=1 and end={min(total, 400)}",
    )


def _is_mirror(path: RelativePath) -> bool:
    first = path.parts[0] if path.text else ""
    if first != MIRROR and fold(first).strip() == MIRROR:
        raise PersonaRefused(
            PersonaProblem.SOURCE_MISSPELLED,
            f"{quote(path.text)} looks like the mirror of the target and is not",
            next_step="write `src/` in lower case",
        )
    return first == MIRROR


def _to_mirror_path(path: str) -> str:
    return path if path.startswith(f"{MIRROR}/") else f"{MIRROR}/{path}"


def _join_path(folder: RelativePath, name: str) -> str:
    return f"{folder.text}/{name}" if folder.text else name


def _encode_text(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadText(
            "the text contains a lone surrogate, which is not valid Unicode",
            next_step="send valid Unicode",
        ) from None
