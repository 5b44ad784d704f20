"""Opens granted places without following a link, and looks through them before a box sees them.

Refused: a path with a symbolic link on it; a writable file that also has a name outside (a hard
link would change the outside one); a socket that somebody listens on; a FIFO that is only readable.
Found: names that look like secrets, to be covered. The walk goes from descriptor to descriptor, so
that nothing can be swapped under it.
"""

import errno
import os
import socket
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.manifest import is_secret_name
from astra.trusted.sandbox import syscalls
from astra.trusted.sandbox.profile import Cover

_STRICT = syscalls.NO_SYMLINKS | syscalls.NO_MAGIC_LINKS
DEEPEST = 128
MOST_ENTRIES = 1_000_000
MOST_COVERS = 256


class UnsafeGrant(Refused):
    code = "unsafe_grant"


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
        raise UnsafeGrant(_why(path, error), next_step=_fix(error), path=path) from None


def inspect(
    descriptor: int,
    path: str,
    *,
    writable: bool,
    found: Inspection,
    is_secret: Callable[[str], bool] = is_secret_name,
) -> None:
    """Look through one granted place, adding to `found`; raises UnsafeGrant."""
    facts = os.fstat(descriptor)
    if not stat.S_ISDIR(facts.st_mode):
        _judge_facts(facts, path, lambda: _answers(descriptor), writable=writable, found=found)
        return
    for folder, entry, where in _walk(descriptor, path):
        found.entries += 1
        if found.entries > MOST_ENTRIES:
            _refuse(path, f"holds more than {MOST_ENTRIES:,} files", "grant a narrower folder")
        if is_secret(entry.name) and not entry.is_symlink():
            found.covers.append(Cover(path=where, folder=entry.is_dir(follow_symlinks=False)))
        elif writable or not _is_plain(entry):
            _judge(folder, entry, where, writable=writable, found=found)
    if len(found.covers) > MOST_COVERS:
        _refuse(path, "holds too many files that look like secrets", "grant a narrower folder")


def refuse_outside_links(found: Inspection) -> None:
    """Refuse a writable file with a name that lies in none of the writable places."""
    for seen, names, where in found.linked.values():
        if seen < names:
            _refuse(
                where,
                "has another name outside the writable folder, so writing would reach out",
                "replace the hard link by a copy (cp --remove-destination)",
            )


def measure(descriptor: int) -> tuple[int, int]:
    """Count the bytes and entries below a folder, without opening a file."""
    size = entries = 0
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        return os.fstat(descriptor).st_size, 1
    for _folder, entry, _where in _walk(descriptor, ""):
        entries += 1
        try:
            size += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return size, entries


def _walk(descriptor: int, path: str) -> Iterator[tuple[int, "os.DirEntry[str]", str]]:
    try:
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=descriptor)
    except OSError:
        return
    try:
        yield from _walk_open(folder, path, DEEPEST)
    finally:
        os.close(folder)


def _walk_open(folder: int, path: str, depth: int) -> Iterator[tuple[int, "os.DirEntry[str]", str]]:
    if depth == 0:
        _refuse(path, f"is nested deeper than {DEEPEST} folders", "remove it or grant another one")
    below: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            yield folder, entry, f"{path}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.name)
    for name in below:
        try:
            inner = os.open(
                name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder
            )
        except OSError:
            continue  # gone, swapped, or closed to us and so to the box
        try:
            yield from _walk_open(inner, f"{path}/{name}", depth - 1)
        finally:
            os.close(inner)


def _judge(
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
        _refuse(where, "is a socket that a program listens on", "stop it or grant another folder")
    if stat.S_ISFIFO(facts.st_mode) and not writable:
        _refuse(where, "is a pipe into another program", "remove it or grant another folder")
    if writable and stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1:
        key = (facts.st_dev, facts.st_ino)
        seen, _names, _where = found.linked.get(key, (0, 0, ""))
        found.linked[key] = (seen + 1, facts.st_nlink, where)


def _is_plain(entry: "os.DirEntry[str]") -> bool:
    return (
        entry.is_file(follow_symlinks=False)
        or entry.is_dir(follow_symlinks=False)
        or entry.is_symlink()
    )


def _somebody_listens(folder: int, name: str) -> bool:
    try:
        held = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return False
    try:
        return _answers(held)
    finally:
        os.close(held)


def _answers(held: int) -> bool:
    """Knock: a socket whose program is gone refuses, and can never be taken up again."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
        knock.settimeout(0)
        return knock.connect_ex(f"/proc/self/fd/{held}") != errno.ECONNREFUSED


def _why(path: str, error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return f"{path} has a symbolic link on it"
    return f"{path} cannot be opened: {error.strerror}"


def _fix(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "grant the place that the link leads to (readlink -f shows it)"
    return "grant a place that exists and can be read"


def _refuse(path: str, why: str, next_step: str) -> None:
    raise UnsafeGrant(f"{path} {why}", next_step=next_step, path=path)
