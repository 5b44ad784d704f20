"""A standing `git cat-file --batch`: objects of a trusted bare repository, one short exchange each.

Only names this module can vouch for are sent: object ids in hex and full ref names, each with a
peeling suffix of ours. Objects come raw: no filter, text conversion or attribute takes part.
A repository that borrows objects from elsewhere (alternates) is refused, since any commit of the
lender could then be read by its id. One exchange at a time, under a lock; a process that died or
ran late is replaced, and nothing is ever answered from half an exchange.
"""

import os
import re
import select
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from astra.trusted.git.bounded_process import end_process, start_bounded
from astra.trusted.git.git_command import GitCommand, GitFailed
from astra.trusted.kernel.errors import Refused

_NAME = re.compile(r"(?:[0-9a-f]{7,64}|refs/heads/[A-Za-z0-9][A-Za-z0-9._/-]*)(?:\^\{commit\})?")
_HEADER = re.compile(rb"([0-9a-f]{40,64}) ([a-z]+) ([0-9]+)\n")
_LONGEST_HEADER = 4096
_CHUNK = 65536
CHECKED_OUT = 512 * 1024 * 1024
"""How large a file may be that is only written out again, into a workspace or a release."""
_ASKED_AT_ONCE = 32  # their names fit into a pipe, so asking never blocks
_BORROWING = ("objects/info/alternates", "objects/info/http-alternates", "commondir")


class BorrowedObjects(Refused):
    code = "borrowed_objects"


class ObjectTooLarge(Refused):
    code = "object_too_large"


@dataclass(frozen=True, kw_only=True)
class GitObject:
    oid: str
    kind: str
    data: bytes


class ObjectReader:
    def __init__(
        self, repository: Path, *, largest: int = 32 * 1024 * 1024, timeout: float = 20.0
    ) -> None:
        self._repository = repository
        self._largest = largest
        self._timeout = timeout
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, name: str) -> GitObject | None:
        """Return the object with this id or ref name, or None when there is none."""
        return self.read_many([name])[0]

    def read_many(self, names: Sequence[str]) -> list[GitObject | None]:
        """Return one answer for each name, in their order, asking for several at a time."""
        for name in names:
            _check_name(name)
        objects: list[GitObject | None] = []
        with self._lock:
            try:
                for start in range(0, len(names), _ASKED_AT_ONCE):
                    objects += self._read_batch(names[start : start + _ASKED_AT_ONCE])
            except BaseException:
                self._end_process()
                raise
        return objects

    def close(self) -> None:
        with self._lock:
            self._end_process()

    def _read_batch(self, names: Sequence[str]) -> list[GitObject | None]:
        process = self._ensure_process()
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a batch process always has its pipes")
        answers = _Answers(process.stdout.fileno(), time.monotonic() + self._timeout)
        try:
            os.write(process.stdin.fileno(), "".join(f"{name}\n" for name in names).encode())
        except BrokenPipeError:
            raise _git_died_error() from None
        objects = [self._read_object(answers) for _ in names]
        answers.finish()
        return objects

    def _read_object(self, answers: "_Answers") -> GitObject | None:
        header = answers.line()
        header_match = _HEADER.fullmatch(header)
        if header_match is None:
            return (
                None
                if header.endswith((b" missing\n", b" ambiguous\n"))
                else _refuse_unexpected(header)
            )
        oid, kind, size = header_match[1].decode(), header_match[2].decode(), int(header_match[3])
        if size > self._largest:
            raise ObjectTooLarge(
                f"the object {oid} has {size} bytes, more than {self._largest}",
                next_step="Astra does not load it; keep such files outside of the repository",
                size=size,
            )
        return GitObject(oid=oid, kind=kind, data=answers.take(size + 1)[:-1])

    def _ensure_process(self) -> subprocess.Popen[bytes]:
        refuse_borrowed_objects(self._repository)
        if self._process is None or self._process.poll() is not None:
            self._end_process()
            command = GitCommand(repository=self._repository, arguments=("cat-file", "--batch"))
            self._process = start_bounded(command.to_bounded(), complaints=subprocess.DEVNULL)
        return self._process

    def _end_process(self) -> None:
        if self._process is not None:
            end_process(self._process)
            self._process = None


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise GitFailed(
            f"{name!a} is not an object id or a branch",
            next_step="give a branch, a commit id or a change id",
        )


def refuse_borrowed_objects(repository: Path) -> None:
    for name in _BORROWING:
        if os.path.lexists(repository / name):
            raise BorrowedObjects(
                f"the trusted repository has alternates ({name})",
                next_step="find out who planted that file and remove it; Astra never makes one",
            )


class _Answers:
    """What the process prints, read up to a deadline; nothing may be left at the end."""

    def __init__(self, descriptor: int, deadline: float) -> None:
        self._descriptor = descriptor
        self._deadline = deadline
        self._buffer = bytearray()

    def line(self) -> bytes:
        while b"\n" not in self._buffer:
            if len(self._buffer) > _LONGEST_HEADER:
                _refuse_unexpected(bytes(self._buffer))
            self._fill_buffer()
        line_end = self._buffer.index(b"\n") + 1
        line = bytes(self._buffer[:line_end])
        del self._buffer[:line_end]
        return line

    def take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._fill_buffer()
        chunk = bytes(self._buffer[:count])
        del self._buffer[:count]
        return chunk

    def finish(self) -> None:
        if self._buffer:
            _refuse_unexpected(bytes(self._buffer))

    def _fill_buffer(self) -> None:
        remaining = self._deadline - time.monotonic()
        poller = select.poll()  # unlike select, it takes descriptors beyond the first thousand
        poller.register(self._descriptor, select.POLLIN)
        ready = poller.poll(max(remaining, 0) * 1000)
        if not ready:
            raise GitFailed("git took too long to answer and was ended", next_step="try again")
        chunk = os.read(self._descriptor, _CHUNK)
        if not chunk:
            raise _git_died_error()
        self._buffer += chunk


def _git_died_error() -> GitFailed:
    return GitFailed(
        "git ended in the middle of an answer",
        next_step="run `astra doctor`; it checks the trusted repository",
    )


def _refuse_unexpected(words: bytes) -> NoReturn:
    raise GitFailed(
        f"git answered something unexpected: {words[:120]!r}",
        next_step="run `astra doctor`; it checks the trusted repository",
    )
