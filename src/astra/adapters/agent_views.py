"""What the agent can look at, as the configuration in force says.

Views are never changed: when a configuration is signed, new ones take their place whole, and a call
under way ends with those it began with. They share readers that know no rule, which stay open from
start to end; so views need no closing, and none outlives its last call.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra.adapters.persona_space import PersonaFile, PersonaItem, PersonaPage, PersonaSpace
from astra.adapters.source_view.scoped_reads import ScopedReads
from astra.adapters.source_view.search import Pattern
from astra.adapters.source_view.view import SourceView
from astra.trusted.files.guarded_files import GuardedFolder
from astra.trusted.git.git_batch import ObjectReader
from astra.trusted.policy.reads import ReadScope


class Source(SourceView):
    """The source view as the tools call it: a pattern in words instead of an object."""

    def find(self, text: str, *, regex: bool, ignore_case: bool, **where: Any) -> Any:
        return self.search(Pattern(text=text, regex=regex, ignore_case=ignore_case), **where)


class Files:
    """The agent's files: relative paths are its own space, absolute ones fall under the scope."""

    def __init__(self, own: PersonaSpace, scoped: ScopedReads) -> None:
        self._own = own
        self._scoped = scoped
        self.write = own.write
        self.delete = own.delete
        self.writable = own.resolve_writable

    def list(self, folder: str, *, cursor: str | None, limit: int) -> PersonaPage:
        if not folder.startswith("/"):
            return self._own.list(folder, cursor=cursor, limit=limit)
        page = self._scoped.list(folder, cursor=cursor, limit=limit)
        items = tuple(
            PersonaItem(path=f"{folder.rstrip('/')}/{item.name}", kind=item.kind, size=item.size)
            for item in page.items
        )
        return PersonaPage(folder=folder, items=items, next=page.next, commit=None)

    def read(self, path: str, **lines: Any) -> PersonaFile:
        return (self._scoped if path.startswith("/") else self._own).read(path, **lines)


@dataclass(frozen=True, kw_only=True)
class Views:
    source: Source
    files: Files
    read_scope: ReadScope


@dataclass(frozen=True, kw_only=True)
class Readers:
    """What views read through: the trusted repository, the persona space, the machine's files."""

    objects: ObjectReader
    persona: GuardedFolder
    machine: GuardedFolder

    @staticmethod
    def open(repository: Path, persona: Path) -> "Readers":
        return Readers(
            objects=ObjectReader(repository),
            persona=GuardedFolder(persona),
            machine=GuardedFolder(Path("/")),
        )

    def close(self) -> None:
        self.objects.close()
        self.persona.close()
        self.machine.close()


class CurrentViews:
    """The views of the configuration in force."""

    def __init__(self, make: Callable[[], Views]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._views = make()

    @property
    def current(self) -> Views:
        return self._views

    def renew(self) -> None:
        """Look at the world as the configuration in force says now.

        One at a time: of two configurations signed at once, the views of the later one stay.
        """
        with self._lock:
            self._views = self._make()


@dataclass(frozen=True)
class CurrentSource:
    """The target's files, each call through the views in force at its beginning."""

    views: CurrentViews

    def list(self, **where: Any) -> Any:
        return self.views.current.source.list(**where)

    def read(self, path: str, **where: Any) -> Any:
        return self.views.current.source.read(path, **where)

    def find(self, text: str, **where: Any) -> Any:
        return self.views.current.source.find(text, **where)


@dataclass(frozen=True)
class CurrentFiles:
    """The agent's files, each call through the views in force at its beginning."""

    views: CurrentViews

    def list(self, folder: str, **where: Any) -> Any:
        return self.views.current.files.list(folder, **where)

    def read(self, path: str, **lines: Any) -> Any:
        return self.views.current.files.read(path, **lines)

    def write(self, path: str, text: str) -> Any:
        return self.views.current.files.write(path, text)

    def delete(self, path: str) -> None:
        self.views.current.files.delete(path)

    def resolve_writable(self, path: str) -> Any:
        return self.views.current.files.writable(path)
