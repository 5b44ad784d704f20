"""The symbol table: what files define, by blob, ranked by how many places refer to it.

A blob is parsed when a question first comes upon it, in a process of its own (`symbol_worker`), and
its definitions are kept; where a name is mentioned is answered by the text index.
"""

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from astra.adapters.search_index import symbol_worker
from astra.adapters.search_index.database import SearchDatabase
from astra.adapters.search_index.files import FileIndex, SearchedCommit
from astra.adapters.search_index.matching import quote_term
from astra.adapters.source_view.listing import find_language
from astra.adapters.source_view.view import SourceView
from astra.research.ports import Definition
from astra.research.quotes import split_identifier
from astra.trusted.git.bounded_process import BoundedCommand, run_bounded
from astra.trusted.kernel.errors import AstraError

_LANGUAGES = frozenset({"Python", "JavaScript", "TypeScript"})
_BEFORE_NAMES = ("def", "class", "function", "const", "interface", "type", "enum")
_MOST_BLOBS, _MOST_CANDIDATES = 24, 12
_SECONDS, _MEGABYTES, _OUTPUT = 20, 2048, 32 * 1024 * 1024


class SymbolTable:
    def __init__(self, database: SearchDatabase, files: FileIndex) -> None:
        self._database = database
        self._files = files

    def find_definitions(
        self, view: SourceView, searched: SearchedCommit, terms: Sequence[str], *, limit: int
    ) -> list[Definition]:
        """Find definitions whose names are made of the terms, the most referred to first."""
        blobs = self._find_candidates(searched, terms)
        self._parse_missing(view, searched, blobs)
        parts = {part for term in terms for part in split_identifier(term)}
        rows = [row for row in self._read_symbols(blobs) if _is_named(row[1], terms, parts)]
        rows.sort(key=lambda row: (-_measure_fit(row[1], parts), row[1]))
        definitions = [self._describe(searched, row) for row in rows[:_MOST_CANDIDATES]]
        definitions.sort(
            key=lambda d: (
                *(-_measure_fit(d.name, parts), -d.references),
                *(d.name.startswith("_"), d.kind != "class", d.path, d.start),
            )
        )
        by_name = {definition.name: definition for definition in reversed(definitions)}
        ranked = [d for d in definitions if by_name[d.name] is d]
        return ranked[:limit]

    def _find_candidates(self, searched: SearchedCommit, terms: Sequence[str]) -> list[int]:
        blobs: list[int] = []
        for term in terms:
            quoted = quote_term(term)
            if quoted is None:
                continue
            name = quoted.strip('"')
            match = " OR ".join(f'"{word} {name}"' for word in _BEFORE_NAMES)
            blobs += self._files.find_blobs(searched, match, _MOST_BLOBS)
        is_code = (find_language(searched.files[blob].path) in _LANGUAGES for blob in blobs)
        code_blobs = [blob for blob, code in zip(blobs, is_code, strict=True) if code]
        return list(dict.fromkeys(code_blobs))[:_MOST_BLOBS]

    def _parse_missing(
        self, view: SourceView, searched: SearchedCommit, blobs: Sequence[int]
    ) -> None:
        marks = ", ".join("?" * len(blobs))
        rows = self._database.query(
            f"SELECT id FROM blob WHERE parsed = 0 AND id IN ({marks})",  # noqa: S608 - marks only
            blobs,
        )
        unparsed = [int(row[0]) for row in rows]
        if not unparsed:
            return
        entries = [searched.snapshot.by_path[searched.files[blob].path] for blob in unparsed]
        texts = view.read_texts(entries)
        languages = [find_language(entry.path) or "" for entry in entries]
        answers = parse_files(
            [(lang, text or "") for lang, text in zip(languages, texts, strict=True)]
        )
        with self._database.use() as connection:
            for blob, symbols in zip(unparsed, answers, strict=True):
                connection.execute("UPDATE blob SET parsed = 1 WHERE id = ?", (blob,))
                connection.executemany(
                    "INSERT INTO symbol VALUES (?, ?, ?, ?, ?)",
                    [(blob, *symbol) for symbol in symbols or ()],
                )

    def _read_symbols(self, blobs: Sequence[int]) -> list[tuple[int, str, str, int, int]]:
        marks = ", ".join("?" * len(blobs))
        return self._database.query(  # pyright: ignore[reportReturnType] - as the table says
            f"SELECT blob, name, kind, start, last FROM symbol WHERE blob IN ({marks})",  # noqa: S608
            blobs,
        )

    def _describe(
        self, searched: SearchedCommit, row: tuple[int, str, str, int, int]
    ) -> Definition:
        blob, name, kind, start, last = row
        quoted = quote_term(name)
        return Definition(
            name=name,
            kind=kind,
            path=searched.files[blob].path,
            start=start,
            end=last,
            references=self._files.count_matches(quoted) if quoted else 0,
        )


def parse_files(files: Sequence[tuple[str, str]]) -> list[list[Any] | None]:
    """Parse files in a process of their own; where that fails, none of them has symbols."""
    bodies = [text.encode("utf-8", errors="replace") for _, text in files]
    order = {
        "seconds": _SECONDS,
        "megabytes": _MEGABYTES,
        "libraries": _find_libraries(),
        "files": [(language, len(body)) for (language, _), body in zip(files, bodies, strict=True)],
    }
    command = BoundedCommand(
        arguments=(sys.executable, "-I", "-S", str(Path(symbol_worker.__file__))),
        input=json.dumps(order).encode() + b"\n" + b"".join(bodies),
        timeout=_SECONDS * 1.5,
        output_limit=_OUTPUT,
    )
    try:
        finished = run_bounded(command)
        return json.loads(finished.output) if finished.exit_code == 0 else [None] * len(files)
    except (AstraError, ValueError):
        return [None] * len(files)


def _find_libraries() -> list[str]:
    """Name the folders that the parsers are installed in."""
    specs = [importlib.util.find_spec(name) for name in ("tree_sitter", "tree_sitter_typescript")]
    origins = [Path(spec.origin).parent.parent for spec in specs if spec and spec.origin]
    return sorted({str(folder) for folder in origins})


def _is_named(name: str, terms: Sequence[str], parts: set[str]) -> bool:
    """Tell whether a name has a whole term, or nothing but what the question has."""
    name_parts = set(split_identifier(name))
    return name_parts <= parts or any(
        name_parts.issuperset(split_identifier(term)) for term in terms
    )


def _count_shared(name: str, parts: set[str]) -> int:
    return len(parts.intersection(split_identifier(name)))


def _measure_fit(name: str, parts: set[str]) -> float:
    """Measure how much of a name is in the question, and how much of the question in it."""
    name_parts = split_identifier(name)
    shared = _count_shared(name, parts)
    return shared + shared / len(name_parts) if name_parts else 0.0
