"""What research needs of the world, as small ports; bootstrap fills them in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from astra.research.model import Session

MOST_COUNTED = 1_000
"""At how many places that mention a name counting stops."""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """Lines of a file that match; a label says which definition it is."""

    path: str
    start: int
    end: int
    score: float
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class SearchAnswer:
    hits: tuple[Hit, ...]
    files: int
    skipped: int
    """Files that are binary or too large to be searched."""


@dataclass(frozen=True, kw_only=True)
class Definition:
    name: str
    kind: str
    path: str
    start: int
    end: int
    references: int


class CodeSearch(Protocol):
    """The target's files at a commit, as the read tools show them, in an index."""

    def find_commit(self) -> str: ...

    def search(
        self, terms: Sequence[str], *, commit: str, documents: bool, limit: int
    ) -> SearchAnswer:
        """Search documents, or everything else, the best first."""
        ...

    def find_definitions(
        self, terms: Sequence[str], *, commit: str, limit: int
    ) -> list[Definition]:
        """Find what the terms name, the most referred to first."""
        ...

    def read_file(self, path: str, *, commit: str) -> tuple[str, str]:
        """Give the blob and the whole text of a file; raises an AstraError where it is gone."""
        ...


class RecordSearch(Protocol):
    """The ledger's records that agents may read, in an index."""

    def search_records(self, terms: Sequence[str], *, limit: int) -> list[int]:
        """Give sequences, the best first."""
        ...


class Notes(Protocol):
    def list_notes(self) -> Iterable[tuple[str, str]]:
        """Give the agent's own notes, path and masked text, no more than can be searched."""
        ...


class Bodies(Protocol):
    """Texts that were read and may change or go away, by their sha-256."""

    def keep(self, body: bytes) -> str:
        """Keep a body on disk and give its sha-256; refuses when too much is kept."""
        ...

    def read(self, sha256: str) -> bytes | None:
        """Give a body whose sha-256 is still this, or None."""
        ...


class OtherMachines(Protocol):
    """Those who share the chain, and may do a session in this machine's place."""

    @property
    def own_machine(self) -> str: ...

    def send(self, session: Session) -> None:
        """Have somebody else do a session and wait for it; does nothing where nobody can."""
        ...

    def is_elsewhere(self, session: Session) -> bool:
        """Tell whether somebody else does it now."""
        ...


class Pages(Protocol):
    """Pages of granted hosts, through the egress proxy."""

    def find_objection(self, url: str) -> str:
        """Say why an address may not be fetched, or nothing where its host is granted."""
        ...

    def name_grant(self, url: str) -> str:
        """Name the host, and the port where it is unusual, that an address needs."""
        ...

    def fetch(self, url: str, *, actor: str, correlation: str) -> bytes:
        """Fetch a page; raises an AstraError for what went wrong."""
        ...
