"""Snapshots of the app's state folder, in `var/state-snapshots` of the data root.

| path               | what                                                                  |
|--------------------|-----------------------------------------------------------------------|
| `RELEASE`          | the state as it was before that release's `before_start`              |
| `RELEASE.set-aside`| the state that a snapshot took the place of                           |
| `note.json`        | on an instance of a fleet: whose `before_start` ran on this state     |

A name without a leading dot is whole: it was renamed into place. Files share their blocks with the
originals where the file system can do that, and are copied where it cannot. The folder was written
by the app, so no link is followed; sockets and pipes are left out.
"""

import dataclasses
import errno
import fcntl
import json
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.release_folders import DiskFull
from astra.deployments.fleet.own_state import StateNote
from astra.trusted.files.data_root import write_private
from astra.trusted.kernel.errors import AstraError, Refused

_CLONE_FILE = 0x40049409
_NOTE = "note.json"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True)
class StateSnapshots:
    base: Path

    def measure(self, folder: str) -> int:
        size = 0
        for place, _folders, files in os.walk(folder):
            for name in files:
                facts = Path(place, name).lstat()
                size += facts.st_size if stat.S_ISREG(facts.st_mode) else 0
        return size

    def take(self, release: str, folder: str) -> int:
        try:
            self.base.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._copy_whole(Path(folder), self.base / release)
            self.drop_set_aside(release)
            return self.measure(str(self.base / release))
        except OSError as error:
            raise _in_words(error) from error

    def restore(self, release: str, folder: str) -> None:
        snapshot, state = self.base / release, Path(folder)
        if not snapshot.is_dir():
            raise Refused(
                f"the snapshot of the app's state from before {release} is not there",
                code="no_snapshot",
                next_step="go back without it: astra rollback --keep-state",
            )
        try:
            draft = state.with_name(f".{state.name}.restored")
            self._copy_whole(snapshot, draft)
            self._set_aside(state, self.base / f"{release}.set-aside")
            draft.rename(state)
        except OSError as error:
            raise _in_words(error) from error

    def undo_restore(self, release: str, folder: str) -> None:
        aside, state = self.base / f"{release}.set-aside", Path(folder)
        try:
            if aside.is_dir():
                _remove_folder(state)
                aside.rename(state)
        except OSError as error:
            raise _in_words(error) from error

    def drop_set_aside(self, release: str) -> None:
        _remove_folder(self.base / f"{release}.set-aside")

    def remove(self, release: str) -> None:
        _remove_folder(self.base / release)
        self.drop_set_aside(release)

    def list_saved(self) -> list[str]:
        """Name the releases that there are snapshots for."""
        names = (path.name for path in self.base.glob("*") if path.is_dir())
        return sorted(name for name in names if not name.startswith(".") and "." not in name)

    def read_note(self) -> StateNote | None:
        """Give the note of this folder; one that cannot be read stops everything about it."""
        try:
            fields = json.loads((self.base / _NOTE).read_bytes())
            return StateNote(
                applied=tuple(map(str, fields["applied"])),
                begun=str(fields["begun"]),
                undone=tuple(map(str, fields["undone"])),
                undone_for=str(fields["undone_for"]),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AstraError(
                f"the note of what before_start did to the app's state cannot be read: {error}",
                next_step=f"mend or remove {self.base / _NOTE}; without it, before_start of the"
                " release that this instance is to have runs on the state as it is",
            ) from error

    def write_note(self, note: StateNote) -> None:
        try:
            self.base.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(self.base / _NOTE, json.dumps(dataclasses.asdict(note)).encode())
        except OSError as error:
            raise _in_words(error) from error

    def _set_aside(self, state: Path, aside: Path) -> None:
        """Keep what is replaced, once: after a crash the folder may be the restored one already."""
        if not os.path.lexists(state):
            return
        if aside.exists():
            _remove_folder(state)
            return
        state.rename(aside)

    def _copy_whole(self, source: Path, target: Path) -> None:
        """Make a whole copy under a name, or none; in place of what had the name."""
        partial = target.with_name(f".{target.name.lstrip('.')}.partial")
        _remove_folder(partial)
        partial.mkdir(mode=0o700)
        if source.is_dir() and not source.is_symlink():
            _copy_folder(source, partial)
        _remove_folder(target)
        partial.rename(target)


def _copy_folder(source: Path, target: Path) -> None:
    with os.scandir(source) as entries:
        for entry in entries:
            _copy_entry(Path(entry.path), target / entry.name)
    _copy_facts(source, target)


def _copy_entry(source: Path, target: Path) -> None:
    mode = source.lstat().st_mode
    if stat.S_ISDIR(mode):
        target.mkdir(mode=0o700)
        _copy_folder(source, target)
    elif stat.S_ISLNK(mode):
        target.symlink_to(source.readlink())
        _copy_owner(source, target)
    elif stat.S_ISREG(mode):
        _copy_file(source, target)
        _copy_facts(source, target)


def _copy_file(source: Path, target: Path) -> None:
    read_flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    write_flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with (
        os.fdopen(os.open(source, read_flags), "rb") as reading,
        os.fdopen(os.open(target, write_flags, 0o600), "wb") as writing,
    ):
        try:
            fcntl.ioctl(writing.fileno(), _CLONE_FILE, reading.fileno())
        except OSError:  # this file system shares no blocks
            shutil.copyfileobj(reading, writing, 1 << 20)
        writing.flush()
        os.fsync(writing.fileno())


def _copy_facts(source: Path, target: Path) -> None:
    facts = source.lstat()
    _copy_owner(source, target)
    target.chmod(stat.S_IMODE(facts.st_mode))
    os.utime(target, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def _copy_owner(source: Path, target: Path) -> None:
    if os.geteuid() == 0:
        facts = source.lstat()
        os.chown(target, facts.st_uid, facts.st_gid, follow_symlinks=False)


def _remove_folder(folder: Path) -> None:
    """Remove it, whatever rights its owner took from its folders."""
    if not os.path.lexists(folder):
        return
    for place, names, _files in os.walk(folder):
        for name in names:
            if not (inner := Path(place, name)).is_symlink():
                inner.chmod(0o700)
    shutil.rmtree(folder)


def _in_words(error: OSError) -> AstraError:
    if error.errno in _FULL:
        return DiskFull(
            "the disk is full, so the app's state could not be copied; it is as it was",
            next_step="free some space, then deploy again",
        )
    return AstraError(
        f"the app's state could not be copied: {os.strerror(error.errno or 0)}",
        next_step="look at var/state-snapshots of the data root",
    )
