"""Telling whether the chain is what was written, and if not, which record it is.

Reading happens elsewhere: `verify` takes a function that opens the chain as named segments of
lines. A chain in order is followed once, line by line, without parsing (`_follow`). Only when
something does not fit are the lines read again, slowly, to say what happened and where
(`_explain`).

The chain alone cannot show that its last records were cut off or rewritten with fresh hashes;
signed checkpoints and the index, which both remember the end, can.
"""

from binascii import hexlify
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice, pairwise
from typing import Any, NamedTuple

from astra.kernel.errors import LedgerDamaged
from astra.ledger import chain, checkpoint
from astra.ledger.checkpoint import Checkpoint
from astra.ledger.record import GENESIS

Segments = Callable[[], Iterable[tuple[str, Iterable[bytes]]]]
_STRIDE = 10_000
_BEFORE_HASH, _AFTER_HASH = b'","hash":"', b'"}\n'


@dataclass(frozen=True, slots=True)
class Problem:
    kind: str
    sequence: int
    detail: str

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "sequence": self.sequence, "detail": self.detail}


@dataclass(frozen=True, kw_only=True)
class Report:
    records: int
    head: str
    problems: list[Problem] = field(default_factory=list[Problem])

    @property
    def ok(self) -> bool:
        return not self.problems


class Witness(NamedTuple):
    """Something outside the chain that remembers the hash of one of its records."""

    name: str
    sequence: int
    hash: str


def verify(
    segments: Segments,
    *,
    checkpoints: Sequence[tuple[int, Checkpoint | None]] = (),
    public_key: str | None = None,
    index: tuple[int, str] | None = None,
) -> Report:
    witnesses, problems = _witnesses(checkpoints, public_key)
    if index and index[0]:
        witnesses.append(Witness("the index", *index))
    wanted = {witness.sequence for witness in witnesses}
    walk = _Walk(wanted)
    if not walk.run(segments):
        walk, found = _explain(segments, wanted)
        problems += found
    if public_key and not checkpoints and walk.count:
        detail = "there is no checkpoint: whether records were cut off cannot be told"
        problems.append(Problem("checkpoint", walk.count, detail))
    problems += _contradictions(walk, witnesses)
    ordered = sorted(set(problems), key=lambda problem: (problem.sequence, problem.kind))
    return Report(records=walk.count, head=walk.head, problems=ordered)


@dataclass
class _Walk:
    """One pass over the chain: how many records, the last hash, the hashes witnesses ask for."""

    wanted: set[int]
    count: int = 0
    head: str = GENESIS
    hashes: dict[int, str] = field(default_factory=dict[int, str])
    _time: bytes = b""

    def run(self, segments: Segments) -> bool:
        """Follow the chain; False as soon as something does not fit."""
        stops = sorted(self.wanted, reverse=True)
        for name, lines in segments():
            source, stride, ended = iter(lines), 1, False  # the first line shows its month
            while not ended:
                done = self._stride(name, source, stride)
                if done is None:
                    return False
                ended = done < stride
                while stops and stops[-1] <= self.count:
                    stops.pop()
                stride = min(_STRIDE, stops[-1] - self.count) if stops else _STRIDE
        return True

    def _stride(self, segment: str, source: Iterator[bytes], length: int) -> int | None:
        done, digest, line = _follow(source, self.head.encode(), length)
        if done and not self._plausible(segment, line, self.count + done):
            return None
        self.count += done
        self.head = digest.decode()
        self.hashes[self.count] = self.head
        fits = done == length or next(source, None) is None
        return done if line is not None and fits else None

    def _plausible(self, segment: str, line: bytes | None, sequence: int) -> bool:
        """Check on a record now and then what hashes do not: its number, its time, its month."""
        start = b'{"sequence":%d,"time":"' % sequence
        if line is None or not line.startswith(start):
            return False
        moment, self._time = self._time, line[len(start) : len(start) + 27]
        return moment <= self._time and segment.startswith(self._time[:7].decode(errors="replace"))


def _follow(
    source: Iterator[bytes], previous: bytes, length: int
) -> tuple[int, bytes, bytes | None]:
    """Check up to `length` lines. Gives how many fit, the last hash, and the last line.

    The last line is None when a line did not fit; an unterminated end of the chain is no line.
    """
    done, line = 0, b""
    for line in islice(source, length):
        digest = hexlify(sha256(line[:-76]).digest())
        if line[-67:] != digest + _AFTER_HASH or line[-141:-67] != previous + _BEFORE_HASH:
            return done, previous, b"" if not line.endswith(b"\n") else None
        previous = digest
        done += 1
    return done, previous, line


class _Line(NamedTuple):
    place: str
    sequence: int
    time: str
    previous: str
    hash: str
    sound: bool


def _explain(segments: Segments, wanted: set[int]) -> tuple[_Walk, list[Problem]]:
    """Read every line and say what happened to the chain."""
    lines = list(_read(segments))
    problems = [
        Problem("edited", line.sequence, f"record {line.sequence} ({line.place}) is not as written")
        for line in lines
        if not line.sound
    ]
    problems += _misplaced(lines)
    problems += _unlinked(lines)
    walk = _Walk(wanted, count=len(lines), head=lines[-1].hash if lines else GENESIS)
    walk.hashes = {line.sequence: line.hash for line in lines if line.sound}
    return walk, problems


def _read(segments: Segments) -> Iterator[_Line]:
    expected = 1
    for name, source in segments():
        for number, raw in enumerate(source, start=1):
            if raw.endswith(b"\n"):
                line = _parse(raw, f"{name} line {number}", expected)
                expected = line.sequence + 1
                yield line


def _parse(raw: bytes, place: str, expected: int) -> _Line:
    try:
        record = chain.parse(raw[:-1].decode())
    except (LedgerDamaged, UnicodeDecodeError):
        return _Line(place, expected, "", "", "", sound=False)
    sound = chain.intact(raw)
    sequence = record.sequence if sound or record.sequence == expected else expected
    month_fits = place.startswith(record.time[:7])
    return _Line(place, sequence, record.time, record.previous, record.hash, sound and month_fits)


def _misplaced(lines: list[_Line]) -> Iterator[Problem]:
    """Name records that are missing, there twice, or out of order."""
    seen = Counter(line.sequence for line in lines)
    top = max(seen, default=0)
    for start, end in _runs([n for n in range(1, top) if n not in seen]):
        what = f"record {start} is" if start == end else f"records {start} to {end} are"
        yield Problem("deleted", start, f"{what} missing")
    for sequence, times in seen.items():
        if times > 1:
            yield Problem("inserted", sequence, f"record {sequence} is there {times} times")
    for before, after in pairwise(line for line in lines if line.sound):
        if after.sequence < before.sequence or after.time < before.time:
            detail = f"record {after.sequence} ({after.place}) comes after record {before.sequence}"
            yield Problem("reordered", after.sequence, detail)


def _unlinked(lines: list[_Line]) -> Iterator[Problem]:
    """Name records that look whole but are not the ones their successors were chained to."""
    by_sequence = {line.sequence: line for line in lines if line.sound}
    for line in by_sequence.values():
        before = by_sequence.get(line.sequence - 1)
        expected = before.hash if before else GENESIS if line.sequence == 1 else line.previous
        if line.previous != expected:
            sequence = max(line.sequence - 1, 1)
            detail = f"record {sequence} was rewritten: record {line.sequence} follows another one"
            yield Problem("edited", sequence, detail)


def _witnesses(
    checkpoints: Sequence[tuple[int, Checkpoint | None]], public_key: str | None
) -> tuple[list[Witness], list[Problem]]:
    witnesses: list[Witness] = []
    problems: list[Problem] = []
    for number, point in checkpoints:
        if point is None:
            problems.append(
                Problem("checkpoint", 0, f"checkpoint line {number} is not a checkpoint")
            )
        elif public_key and not checkpoint.holds(point, public_key):
            detail = f"checkpoint line {number} is not signed by the ledger's key"
            problems.append(Problem("checkpoint", point.sequence, detail))
        else:
            name = f"the checkpoint of {point.time}"
            witnesses.append(Witness(name, point.sequence, point.hash))
    return witnesses, problems


def _contradictions(walk: _Walk, witnesses: list[Witness]) -> Iterator[Problem]:
    """Compare what the chain holds with what its witnesses remember."""
    beyond = [witness for witness in witnesses if witness.sequence > walk.count]
    if beyond:
        last = max(beyond, key=lambda witness: witness.sequence)
        detail = (
            f"the chain ends at record {walk.count}, and {last.name} knows record {last.sequence}:"
            f" {last.sequence - walk.count} or more records were cut off"
        )
        yield Problem("truncated", walk.count + 1, detail)
    for witness in witnesses:
        found = walk.hashes.get(witness.sequence)
        if found is not None and found != witness.hash:
            detail = f"record {witness.sequence} is not the one that {witness.name} remembers"
            yield Problem("rewritten", witness.sequence, detail)


def _runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Group ascending numbers into (first, last) of each unbroken run."""
    start = previous = None
    for number in numbers:
        if start is None or previous is None or number != previous + 1:
            if start is not None and previous is not None:
                yield start, previous
            start = number
        previous = number
    if start is not None and previous is not None:
        yield start, previous
