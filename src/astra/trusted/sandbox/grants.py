"""Opens granted places without following a link, and looks through them before a box sees them.

Refused: a path with a symbolic link on it; a writable file that also has a name outside (a hard
link would change the outside one); a socket that somebody listens on; a FIFO that is only readable.
To be covered: secrets by the one rule for them, and git directories, which hold every secret that
was ever committed. The agent's own folders keep theirs: its clone is made without such objects
(`trusted/git/agent_clone.py`). The walk goes from descriptor to descriptor, so that nothing can be
swapped under it.
"""

import errno
import os
import socket
import stat
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath

from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.manifest import is_within
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.sandbox import syscalls
from astra.trusted.sandbox.profile import Cover

_STRICT = syscalls.NO_SYMLINKS | syscalls.NO_MAGIC_LINKS
DEEPEST = 128
MOST_ENTRIES = 1_000_000
MOST_COVERS = 256


class UnsafeGrant(Refused):
    code = "unsafe_grant"


@dataclass(frozen=True, kw_only=True)
class Withholding:
    """What a box does not get to see of the places that were granted.

    `agent_folders` are judged by the path below them, wherever the data root lies. `shown` are the
    places that the operator's signed word gives to this very box, secrets or not.
    """

    secrets: SecretRules = field(default_factory=SecretRules)
    agent_folders: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()

    def hides_file(self, path: str) -> bool:
        return (
            not self._is_shown(path)
            and self.secrets.rule_for(self._strip_agent_folder(path)) is not None
        )

    def hides_folder(self, path: str) -> bool:
        judged = self._strip_agent_folder(path)
        if self._is_shown(path) or any(is_within(place, path) for place in self.shown):
            return False
        return judged != "" and self.secrets.rule_for_folder(judged) is not None

    def hides_git(self, path: str) -> bool:
        return self._find_agent_folder(path) is None and not self._is_shown(path)

    def _is_shown(self, path: str) -> bool:
        return any(is_within(path, place) for place in self.shown)

    def _strip_agent_folder(self, path: str) -> str:
        home = self._find_agent_folder(path)
        return path if home is None else path[len(home) :].lstrip("/")

    def _find_agent_folder(self, path: str) -> str | None:
        return next((folder for folder in self.agent_folders if is_within(path, folder)), None)


NOTHING_SHOWN = Withholding()


@dataclass(kw_only=True)
class Inspection:
    """What a look through granted places found."""

    size: int = 0
    entries: int = 0
    covers: list[Cover] = field(default_factory=list[Cover])
    linked: dict[tuple[int, int], tuple[int, int, str]] = field(
        default_factory=dict[tuple[int, int], tuple[int, int, str]]
    )


def open_grant(path: str) -> int:
    try:
        return syscalls.openat2(path, os.O_PATH, resolve=_STRICT)
    except OSError as error:
        raise UnsafeGrant(
            _describe_failure(path, error), next_step=_suggest_fix(error), path=path
        ) from None


def inspect(
    descriptor: int,
    path: str,
    *,
    writable: bool,
    found: Inspection,
    withholding: Withholding = NOTHING_SHOWN,
) -> None:
    """Look through one granted place, adding to `found`; raises UnsafeGrant."""
    facts = os.fstat(descriptor)
    is_folder = stat.S_ISDIR(facts.st_mode)
    if not is_folder:
        _judge_facts(facts, path, lambda: _is_listening(descriptor), writable=writable, found=found)
    if _hides_granted(withholding, path, folder=is_folder):
        found.covers.append(Cover(path=path, folder=is_folder))
    elif is_folder:
        _inspect_folder(descriptor, path, writable=writable, found=found, withholding=withholding)
    if len(found.covers) > MOST_COVERS:
        _refuse_grant(
            path, "holds too many files that look like secrets", "grant a narrower folder"
        )


def _inspect_folder(
    descriptor: int, path: str, *, writable: bool, found: Inspection, withholding: Withholding
) -> None:
    covered: set[str] = set()
    for folder, entry, entry_path in _walk_folder(descriptor, path, skip=covered):
        found.entries += 1
        if found.entries > MOST_ENTRIES:
            _refuse_grant(
                path, f"holds more than {MOST_ENTRIES:,} files", "grant a narrower folder"
            )
        if cover := _cover_for(withholding, folder, entry, entry_path):
            found.covers.append(cover)
            covered.add(entry_path)
        elif writable or not _is_plain(entry):
            _judge_entry(folder, entry, entry_path, writable=writable, found=found)


def _hides_granted(withholding: Withholding, path: str, *, folder: bool) -> bool:
    if withholding.hides_git(path) and _lies_in_git_directory(path):
        return True
    return withholding.hides_folder(path) if folder else withholding.hides_file(path)


def _lies_in_git_directory(path: str) -> bool:
    """Tell whether a path, which has no link on it, is a git directory or inside of one."""
    places = [path, *map(str, PurePosixPath(path).parents)]
    return "/.git/" in f"{path}/" or any(_is_git_directory(None, place) for place in places)


def _cover_for(
    withholding: Withholding, folder: int, entry: "os.DirEntry[str]", where: str
) -> Cover | None:
    """Decide whether a box sees an entry empty; the inside of a `.git` is not judged by names."""
    if entry.is_symlink() or "/.git/" in where:
        return None
    if not entry.is_dir(follow_symlinks=False):
        return Cover(path=where, folder=False) if withholding.hides_file(where) else None
    is_git = withholding.hides_git(where) and (
        entry.name == ".git" or _is_git_directory(folder, entry.name)
    )
    return Cover(path=where, folder=True) if is_git or withholding.hides_folder(where) else None


def _is_git_directory(folder: int | None, name: str) -> bool:
    """Know a git directory by what git itself looks for, whatever it is called."""
    try:
        for inner in ("HEAD", "objects", "refs"):
            os.stat(f"{name}/{inner}", dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def refuse_outside_links(found: Inspection) -> None:
    """Refuse a writable file with a name that lies in none of the writable places."""
    for names_inside, names, path in found.linked.values():
        if names_inside < names:
            _refuse_grant(
                path,
                "has another name outside the writable folder, so writing would reach out",
                "replace the hard link by a copy (cp --remove-destination)",
            )


def measure(descriptor: int) -> tuple[int, int]:
    """Count the bytes and entries below a folder, without opening a file."""
    size = entries = 0
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        return os.fstat(descriptor).st_size, 1
    for _folder, entry, _where in _walk_folder(descriptor, ""):
        entries += 1
        try:
            size += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return size, entries


def measure_nameless(pids: Iterable[int], descriptors: Iterable[int]) -> int:
    """Count the bytes of deleted files that processes hold open beside the named places."""
    devices = {os.fstat(descriptor).st_dev for descriptor in descriptors}
    sizes = {
        (facts.st_dev, facts.st_ino): facts.st_blocks * 512
        for pid in pids
        for facts in _open_files(pid)
        if facts.st_nlink == 0 and facts.st_dev in devices and stat.S_ISREG(facts.st_mode)
    }
    return sum(sizes.values())


def _open_files(pid: int) -> Iterator[os.stat_result]:
    try:
        names = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208 - names are enough
    except OSError:
        return
    for name in names:
        try:
            yield os.stat(f"/proc/{pid}/fd/{name}")  # noqa: PTH116 - a link that is no path
        except OSError:
            continue


def _walk_folder(
    descriptor: int, path: str, *, skip: Container[str] = ()
) -> Iterator[tuple[int, "os.DirEntry[str]", str]]:
    """Give everything below a folder; what is in `skip` by then is not gone into."""
    try:
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=descriptor)
    except OSError:
        return
    try:
        yield from _walk_open(folder, path, DEEPEST, skip)
    finally:
        os.close(folder)


def _walk_open(
    folder: int, path: str, depth: int, skip: Container[str]
) -> Iterator[tuple[int, "os.DirEntry[str]", str]]:
    if depth == 0:
        _refuse_grant(
            path, f"is nested deeper than {DEEPEST} folders", "remove it or grant another one"
        )
    below: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            yield folder, entry, f"{path}/{entry.name}"
            if f"{path}/{entry.name}" not in skip and entry.is_dir(follow_symlinks=False):
                below.append(entry.name)
    for name in below:
        try:
            inner = os.open(
                name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder
            )
        except OSError:
            continue  # gone, swapped, or closed to us and so to the box
        try:
            yield from _walk_open(inner, f"{path}/{name}", depth - 1, skip)
        finally:
            os.close(inner)


def _judge_entry(
    folder: int, entry: "os.DirEntry[str]", where: str, *, writable: bool, found: Inspection
) -> None:
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError:
        return
    found.size += facts.st_blocks * 512
    listens = partial(_somebody_listens, folder, entry.name)
    _judge_facts(facts, where, listens, writable=writable, found=found)


def _judge_facts(
    facts: os.stat_result,
    where: str,
    listens: Callable[[], bool],
    *,
    writable: bool,
    found: Inspection,
) -> None:
    """Refuse what leads out of the box, whether it was named itself or lies in a granted folder."""
    if stat.S_ISSOCK(facts.st_mode) and listens():
        _refuse_grant(
            where, "is a socket that a program listens on", "stop it or grant another folder"
        )
    if stat.S_ISFIFO(facts.st_mode) and not writable:
        _refuse_grant(where, "is a pipe into another program", "remove it or grant another folder")
    if writable and stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1:
        key = (facts.st_dev, facts.st_ino)
        names_inside, _names, _where = found.linked.get(key, (0, 0, ""))
        found.linked[key] = (names_inside + 1, facts.st_nlink, where)


def _is_plain(entry: "os.DirEntry[str]") -> bool:
    return (
        entry.is_file(follow_symlinks=False)
        or entry.is_dir(follow_symlinks=False)
        or entry.is_symlink()
    )


def _somebody_listens(folder: int, name: str) -> bool:
    try:
        descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return False
    try:
        return _is_listening(descriptor)
    finally:
        os.close(descriptor)


def _is_listening(held: int) -> bool:
    """Knock: a socket whose program is gone refuses, and can never be taken up again."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
        knock.settimeout(0)
        return knock.connect_ex(f"/proc/self/fd/{held}") != errno.ECONNREFUSED


def _describe_failure(path: str, error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return f"{path} has a symbolic link on it"
    return f"{path} cannot be opened: {error.strerror}"


def _suggest_fix(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "grant the place that the link leads to (readlink -f shows it)"
    return "grant a place that exists and can be read"


def _refuse_grant(path: str, why: str, next_step: str) -> None:
    raise UnsafeGrant(f"{path} {why}", next_step=next_step, path=path)
