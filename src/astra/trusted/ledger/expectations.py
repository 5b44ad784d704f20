"""What an append may expect of the world: versions that have not moved, keys nobody has claimed.

One object serves one commit: it asks the index, and remembers what earlier appends of the same
commit have staged, so that two callers in one group cannot both be first.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from astra.trusted.kernel.errors import BadInput, DuplicateKey, StaleVersion
from astra.trusted.ledger.record import Event

Query = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


class Expectations:
    def __init__(self, query: Query) -> None:
        self._query = query
        self._staged_versions: dict[str, int] = {}
        self._staged_keys: set[str] = set()

    def check(self, events: Sequence[Event], expect: Mapping[str, int], *, lazy: bool) -> None:
        if lazy and any(event.subject or event.key for event in events):
            raise BadInput(
                "a lazy event carries neither subject nor key", next_step="append it durably"
            )
        for subject, expected_version in expect.items():
            if (current_version := self.version(subject)) != expected_version:
                raise StaleVersion(
                    f"{subject} is at version {current_version}, not {expected_version}:"
                    " it was changed meanwhile",
                    next_step="read it again, then decide",
                    subject=subject,
                    version=current_version,
                )
        self._check_keys([event.key for event in events if event.key is not None])

    def accept(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.subject is not None:
                staged = self._staged_versions.get(event.subject, 0)
                self._staged_versions[event.subject] = staged + 1
            if event.key is not None:
                self._staged_keys.add(event.key)

    def version(self, subject: str) -> int:
        rows = self._query("SELECT version FROM subject WHERE id = ?", (subject,))
        return (rows[0][0] if rows else 0) + self._staged_versions.get(subject, 0)

    def _check_keys(self, keys: list[str]) -> None:
        for position, key in enumerate(keys):
            if key in self._staged_keys or key in keys[:position] or self._is_claimed(key):
                raise DuplicateKey(
                    f"{key} is in the ledger already", next_step="nothing: it happened", key=key
                )

    def _is_claimed(self, key: str) -> bool:
        return bool(self._query("SELECT 1 FROM unique_key WHERE key = ?", (key,)))
