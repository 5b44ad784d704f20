"""What killed processes left behind in a data root, taken away when the next daemon starts.

Only the owner of the data root sweeps, before it starts anything: whatever is half-made then
belongs to nobody. Nothing here is anybody's only copy. What cannot be removed stays.

| what                                     | why it can go                                    |
|------------------------------------------|--------------------------------------------------|
| boxes that run for the agent             | whoever started them is gone                     |
| entries of dead boxes in `var/run/boxes` | the box is proven to be gone                     |
| `.NAME.xxxxxxxx`, `.reserve.PID`         | a file that was never renamed into its place     |
| `deployments/**/.*.partial`              | a release or a backup that was never completed   |
| indexes of other versions                | projections of the chain, built anew when needed |
| `*.lock` of git without a git process    | what git left when it was killed                 |
| `var/conversations/ID/SHA256`            | no record names it, or its conversation is gone  |
"""

import contextlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.chat_door import Copies
from astra.adapters.release_tree import remove_tree
from astra.persona.conversations import Conversations
from astra.trusted.file_ledger import sqlite_index
from astra.trusted.files.data_root import DataRoot
from astra.trusted.ledger.projection import Projection
from astra.trusted.sandbox import boxes
from astra.trusted.stop import stop

_HALF_WRITTEN = re.compile(r"\..+\.[0-9a-f]{8}|\.reserve\.\d+")
_WRITTEN_TO = ("var", "var/keys", "var/approvals", "var/devices", "var/run", "deployments", "logs")


@dataclass(frozen=True, kw_only=True)
class Swept:
    boxes: int = 0
    entries: int = 0
    files: int = 0
    indexes: int = 0
    locks: tuple[str, ...] = ()

    def describe(self) -> str:
        """Say what was taken away, or nothing."""
        counts = {
            "boxes without an owner": self.boxes,
            "entries of dead boxes": self.entries,
            "half-written files": self.files,
            "indexes of other versions": self.indexes,
            f"stale git locks ({', '.join(self.locks)})": len(self.locks),
        }
        return ", ".join(f"{count} {label}" for label, count in counts.items() if count)


def sweep(root: DataRoot, projections: Iterable[Projection]) -> Swept:
    ended, _left = stop.end_marked(root.path, frozenset({boxes.RUN}))
    return Swept(
        boxes=ended,
        entries=_forget_dead_boxes(root.path),
        files=_remove_half_written(root.path),
        indexes=_remove_other_indexes(root.var / "index", list(projections)),
        locks=tuple(remove_stale_locks(root.git)),
    )


def sweep_conversations(root: DataRoot, conversations: Conversations) -> str:
    """Remove texts that a crash left without a record, and what a deletion had still to remove."""
    texts = conversations.remove_texts_without_record()
    copies = Copies(root=root, conversations=conversations).remove_deleted()
    counts = {"texts without a record": texts, "copies of deleted conversations": copies}
    return ", ".join(f"{count} {label}" for label, count in counts.items() if count)


def stale_locks(repository: Path) -> list[Path]:
    """List the lock files of git that no process can hold: none that works there is alive."""
    places = (repository, repository / "refs" / "heads", repository / "refs" / "heads" / "astra")
    locks = [path for place in places for path in sorted(place.glob("*.lock"))]
    return [] if locks and _is_worked_on(repository) else locks


def remove_stale_locks(repository: Path) -> list[str]:
    """Remove what a killed git left: only Astra writes there, and this process does not yet."""
    names: list[str] = []
    for path in stale_locks(repository):
        with contextlib.suppress(OSError):
            path.unlink()
            names.append(str(path.relative_to(repository)))
    return names


def _forget_dead_boxes(data_root: Path) -> int:
    count = 0
    for box in boxes.list_registered(data_root)[0]:
        with boxes.hold_process(box) as process:
            alive = process is not None or (box.confined and boxes.list_members(box.pid_namespace))
        if not alive:
            with contextlib.suppress(OSError):
                boxes.unregister(data_root, box)
                count += 1
    folder = data_root / "var" / "run" / "boxes"
    names = {path.name for path in folder.glob("*")}
    for name in names:
        left_by = name.removesuffix(".ended").removeprefix(".")
        if name != left_by and left_by not in names:
            with contextlib.suppress(OSError):
                (folder / name).unlink()
    return count


def _remove_half_written(data_root: Path) -> int:
    files = [
        path
        for place in _WRITTEN_TO
        for path in (data_root / place).glob(".*")
        if _HALF_WRITTEN.fullmatch(path.name) and path.is_file() and not path.is_symlink()
    ]
    folders = [*(data_root / "deployments").glob("*/.*.partial")]
    for path in files:
        with contextlib.suppress(OSError):
            path.unlink()
    for folder in folders:
        with contextlib.suppress(OSError):
            remove_tree(folder)
    return len(files) + len(folders)


def _remove_other_indexes(folder: Path, projections: list[Projection]) -> int:
    current, _generation = sqlite_index.find_newest(folder, projections)
    other_indexes = [path for path in folder.glob("index-*.sqlite3") if path != current]
    for path in other_indexes:
        with contextlib.suppress(OSError):
            sqlite_index.remove(path)
    return len(other_indexes)


def _is_worked_on(repository: Path) -> bool:
    """Tell whether a process names the repository in its arguments, as each git of Astra's does."""
    name = os.fsencode(repository.resolve())
    return any(name in _read_arguments(pid) for pid in boxes.all_pids() if pid != os.getpid())


def _read_arguments(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
