"""The environments that lie in a data root: what each takes, who uses it, and taking one away.

One that a release was sealed with, that the target's branch or an open change needs, or that
somebody asked for a short while ago (a run of tests may still read it) stays. The note goes before
the folder: whatever ends a removal half-way leaves a folder without a note, which counts as
half-made, is built anew where it is needed, and can be removed again.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from astra.adapters.environment_mark import read_mark
from astra.adapters.environments import Environments
from astra.adapters.release_tree import measure, remove_tree
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import AstraError, Conflict, NotFound, Refused
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

REMOVED = "environment_removed"
_RELEASES = ("releases/*", "releases/.*.partial")
_MARKED = (*_RELEASES, "backups/*", *(f"check-*/{pattern}" for pattern in _RELEASES))
Needed = Callable[[], Mapping[str, str]]
"""Gives the names of the environments that are needed now, each with what needs it."""


@dataclass(frozen=True, kw_only=True)
class StoredEnvironment:
    name: str
    bytes: int
    packages: int
    used_at: datetime
    used_by: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "bytes": self.bytes,
            "packages": self.packages,
            "used_at": self.used_at.isoformat(),
            "used_by": list(self.used_by),
        }


@dataclass(frozen=True, kw_only=True)
class EnvironmentStore:
    environments: Environments
    deployments: Path
    ledger: Ledger
    clock: Clock
    needed: Needed
    busy_for: timedelta
    """How long after it was asked for an environment may still be in use."""

    def list_environments(self) -> list[StoredEnvironment]:
        """List them, the largest first."""
        users = self._collect_users()
        folder = self.environments.folder
        paths = folder.iterdir() if folder.is_dir() else ()
        stored = (self._describe(path, users) for path in paths if path.is_dir())
        return sorted(stored, key=lambda environment: (-environment.bytes, environment.name))

    def remove(self, name: str) -> StoredEnvironment:
        """Remove one that nobody uses."""
        with self.environments.lock:
            stored = {environment.name: environment for environment in self.list_environments()}
            if name not in stored:
                raise NotFound("there is no such environment", next_step="astra environments list")
            self._remove_folder(stored[name])
        return stored[name]

    def remove_unused(self) -> list[StoredEnvironment]:
        """Remove every one that nobody uses."""
        with self.environments.lock:
            unused = [stored for stored in self.list_environments() if not stored.used_by]
            for stored in unused:
                self._remove_folder(stored)
        return unused

    def _remove_folder(self, stored: StoredEnvironment) -> None:
        if stored.used_by:
            raise Conflict(
                f"the environment {stored.name} is in use: {', '.join(stored.used_by)}",
                next_step="remove it when nothing needs it: astra environments list",
            )
        self.environments.note_path(stored.name).unlink(missing_ok=True)
        remove_tree(self.environments.folder / stored.name)
        data = {"name": stored.name, "bytes": stored.bytes}
        self.ledger.append([Event(type=REMOVED, actor="operator", data=data)])

    def _describe(self, folder: Path, users: Mapping[str, list[str]]) -> StoredEnvironment:
        note = self.environments.read_note(folder.name)
        used_at = datetime.fromtimestamp(self._find_last_use(folder), UTC)
        used_by = users.get(folder.name, [])
        if note and self.clock.now() - used_at < self.busy_for:
            used_by = [*used_by, "a run of tests may still read it"]
        return StoredEnvironment(
            name=folder.name,
            bytes=int(note["bytes"]) if note else _measure_half_made(folder),
            packages=len(note["packages"]) if note else 0,
            used_at=used_at,
            used_by=tuple(dict.fromkeys(used_by)),
        )

    def _find_last_use(self, folder: Path) -> float:
        note = self.environments.note_path(folder.name)
        return (note if note.exists() else folder).stat().st_mtime

    def _collect_users(self) -> dict[str, list[str]]:
        users: dict[str, list[str]] = {}
        for name, user in (*self.needed().items(), *self._list_marks()):
            users.setdefault(name, []).append(user)
        return users

    def _list_marks(self) -> Iterator[tuple[str, str]]:
        """Name the environment of every release, of those being built and checked too."""
        for pattern in _MARKED:
            for folder in sorted(self.deployments.glob(pattern)):
                try:
                    mark = read_mark(folder)
                except (OSError, ValueError, KeyError, TypeError) as error:
                    raise Refused(
                        f"what {folder.name} was sealed with cannot be read: {error}",
                        next_step="astra releases; nothing is removed while that is so",
                    ) from error
                if mark.name:
                    yield mark.name, folder.name


def _measure_half_made(folder: Path) -> int:
    """Measure what a build left that was ended; it may hold anything, and is not followed."""
    try:
        return measure(folder)[1]
    except (AstraError, OSError):
        return 0
