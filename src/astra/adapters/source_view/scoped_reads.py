"""Files of the machine an agent may look at, within the read boundary.

A path is resolved first (symlinks included), the result is judged, and then exactly the judged path
is opened through no symlink at all. Whoever swaps a link in between makes the open fail, never
succeed elsewhere. Answers speak of the path that was asked for, and what lies outside the boundary
is refused the same way whether or not it exists.
"""

import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from astra.adapters.persona_space import LARGEST_READ, MOST_ITEMS, PersonaFile, read_text
from astra.trusted.files.guarded_files import (
    FileProblem,
    FileRefused,
    FolderItem,
    FolderPage,
    GuardedFolder,
)
from astra.trusted.policy.paths import AbsolutePath, PathRefused, parse_absolute, quote
from astra.trusted.policy.reads import ReadBoundary, ReadRefused


class ScopedReads:
    def __init__(self, boundary: ReadBoundary, machine: GuardedFolder | None = None) -> None:
        """Look within a boundary; `machine` is the root, open already, for others to close."""
        self._boundary = boundary
        self._machine = machine or GuardedFolder(Path("/"))

    def read(self, path: str, **part: Any) -> PersonaFile:
        """Read a file, or the part of it that `read_text` takes."""
        requested_path = parse_absolute(path)
        real = self._resolve_and_check(requested_path)
        content = self._machine.read(real.below_root, most_bytes=LARGEST_READ)
        return read_text(requested_path.text, content, **part)

    def list(self, folder: str, *, cursor: str | None = None, limit: int = 200) -> FolderPage:
        """List a folder without the names that could not be read anyway."""
        real = self._resolve_and_check(parse_absolute(folder))
        count = max(1, min(limit, MOST_ITEMS))
        page = self._machine.list(real.below_root, after=cursor or "", count=count)
        return FolderPage(
            items=tuple(item for item in page.items if self._is_in_sight(real, item)),
            next=page.next,
            unaddressable=page.unaddressable,
        )

    def close(self) -> None:
        self._machine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _resolve_and_check(self, asked: AbsolutePath) -> AbsolutePath:
        """Judge the resolved path, and what the asked one says by itself."""
        self._boundary.refuse_closed(asked)
        try:
            real = parse_absolute(os.path.realpath(asked.text))
        except PathRefused:
            self._boundary.refuse_outside(asked)
        except OSError:
            raise FileRefused(
                FileProblem.UNAVAILABLE,
                f"{quote(asked.text)} changed while it was looked up",
                next_step="try again when nobody moves it",
            ) from None
        self._boundary.check(real, shown_as=asked)
        return real

    def _is_in_sight(self, folder: AbsolutePath, item: FolderItem) -> bool:
        try:
            self._boundary.check(parse_absolute(f"{folder.text}/{item.name}"))
        except (PathRefused, ReadRefused):
            return False
        return True
