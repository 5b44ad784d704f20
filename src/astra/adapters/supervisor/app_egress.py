"""What a confined app connected to, on its way from the holder to the ledger.

Only the daemon writes the ledger, and the app outlives it. So the holder puts every connection on
disk, before it is dialled and when it is over, and the daemon takes what is there and records it.
What cannot be put on disk may not leave (`EgressProxy`). Each batch has a name that the ledger
takes once, so a crash in between records it once too. A file that grows without a daemon is summed
up. An app with the host's network goes past all of this, and status says so.
"""

import contextlib
import fcntl
import json
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astra.trusted.egress.egress_proxy import Attempt
from astra.trusted.kernel.errors import DuplicateKey
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event

RECORDED = "app_egress_recorded"
OPENED = "opened"
LARGEST = 1 << 20
MOST_PLACES = 500
_LONGEST_HOST = 300


@dataclass(frozen=True)
class AppEgress:
    """The folder of one data root in which connections wait to be recorded."""

    data_root: Path

    def note_opening(self, release: str, host: str, port: int) -> None:
        """Put down that a connection is about to be dialled."""
        self._append_entry(
            _make_entry(release, Attempt(host=host, port=port, allowed=True, reason=OPENED))
        )

    def note_ending(self, release: str, attempt: Attempt) -> None:
        """Put down how a connection ended."""
        self._append_entry(_make_entry(release, attempt))

    def record_batches(self, ledger: Ledger) -> int:
        """Record whatever waits; gives how many batches there were."""
        with self._lock_folder() as folder:
            if (spool := folder / "spool.ndjson").exists():
                spool.rename(folder / f"{random_id('egr')}.batch")
        batches = sorted(self._folder.glob("*.batch"))
        for batch in batches:
            with contextlib.suppress(DuplicateKey):
                ledger.append([_event_from_batch(batch)])
            batch.unlink()
        return len(batches)

    @property
    def _folder(self) -> Path:
        return self.data_root / "var" / "app-egress"

    def _append_entry(self, entry: dict[str, Any]) -> None:
        with self._lock_folder() as folder:
            spool = folder / "spool.ndjson"
            if spool.exists() and spool.stat().st_size > LARGEST:
                _replace_entries(spool, _sum_entries(_read_entries(spool)))
            with spool.open("a") as file:
                file.write(json.dumps(entry) + "\n")

    @contextlib.contextmanager
    def _lock_folder(self) -> Generator[Path]:
        self._folder.mkdir(mode=0o700, exist_ok=True)  # never a data root that was moved away
        with (self._folder / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self._folder


def _make_entry(release: str, attempt: Attempt) -> dict[str, Any]:
    return {
        "release": release,
        "host": attempt.host[:_LONGEST_HOST],
        "port": attempt.port,
        "allowed": attempt.allowed,
        "reason": attempt.reason,
        "connections": 1,
        "sent": attempt.sent,
        "received": attempt.received,
    }


def _event_from_batch(batch: Path) -> Event:
    places = _sum_entries(_read_entries(batch))
    data = {
        "places": places,
        "sent": sum(place["sent"] for place in places),
        "received": sum(place["received"] for place in places),
    }
    return Event(type=RECORDED, actor="app", data=data, key=f"app-egress:{batch.stem}")


def _sum_entries(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add up what went to the same place with the same outcome; beyond a bound, as others."""
    sums: dict[tuple[Any, ...], dict[str, Any]] = {}
    for entry in entries:
        key = tuple(entry[name] for name in ("release", "host", "port", "allowed", "reason"))
        if key not in sums and len(sums) >= MOST_PLACES:
            entry = {**entry, "host": "(others)", "port": 0}  # noqa: PLW2901 - what it counts as
            key = (entry["release"], "(others)", 0, entry["allowed"], entry["reason"])
        total = sums.setdefault(key, {**entry, "connections": 0, "sent": 0, "received": 0})
        for name in ("connections", "sent", "received"):
            total[name] += entry[name]
    return list(sums.values())


def _read_entries(path: Path) -> Generator[dict[str, Any]]:
    """Read whole lines; one that a crash cut off is left out."""
    for line in path.read_text(errors="replace").splitlines():
        with contextlib.suppress(ValueError):
            yield json.loads(line)


def _replace_entries(path: Path, entries: list[dict[str, Any]]) -> None:
    draft = path.with_suffix(".draft")
    draft.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    draft.rename(path)
