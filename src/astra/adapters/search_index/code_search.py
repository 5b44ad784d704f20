"""Searching the target's files at a commit, through the views in force."""

from collections.abc import Sequence
from dataclasses import dataclass

from astra.adapters.agent_views import CurrentViews
from astra.adapters.search_index.files import FileIndex
from astra.adapters.search_index.symbols import SymbolTable
from astra.research.ports import Definition, SearchAnswer


@dataclass(frozen=True, kw_only=True)
class TargetSearch:
    views: CurrentViews
    files: FileIndex
    symbols: SymbolTable

    def find_commit(self) -> str:
        return self.views.current.source.find_commit()

    def search(
        self, terms: Sequence[str], *, commit: str, documents: bool, limit: int
    ) -> SearchAnswer:
        return self.files.search(
            self.views.current.source, terms, commit=commit, documents=documents, limit=limit
        )

    def find_definitions(
        self, terms: Sequence[str], *, commit: str, limit: int
    ) -> list[Definition]:
        view = self.views.current.source
        searched = self.files.refresh(view, commit)
        return self.symbols.find_definitions(view, searched, terms, limit=limit)

    def read_file(self, path: str, *, commit: str) -> tuple[str, str]:
        return self.views.current.source.read_object(path, at=commit)
