"""Telling whether the chain is what was written, and if not, which record it is.

Reading happens elsewhere: `verify` takes a function that opens the chain as named segments of
lines. A chain in order is followed once, a few lines at a time, without parsing (`_Walk`). Only
when something does not fit are the lines read again, slowly, to say what happened and where
(`_explain_problems`).

The chain alone cannot show that its last records were cut off or rewritten with fresh hashes;
signed checkpoints and the index, which both remember the end, can. Where those were cut as well,
or an older copy of everything was put in place, only a witness outside the data root can.

Times grow along the chain, and a record stands in the segment of its month. Only a record that
accepts the clock lets time go back; from there on, months may lie behind their segment's.

Of an archived month whose archive is not read, a remainder is followed: its gaps are believed only
where the newest `ledger_archived` record behind it names exactly this remainder.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice, pairwise
from typing import Any, NamedTuple

from astra.trusted.kernel.errors import LedgerDamaged
from astra.trusted.ledger import chain, checkpoint, remainder, witnessing
from astra.trusted.ledger.checkpoint import Checkpoint
from astra.trusted.ledger.record import GENESIS, Record
from astra.trusted.ledger.remainder import Gap, Month
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED

Segments = Callable[[], Iterable[tuple[str, Iterable[bytes]]]]
_STRIDE = 500
_ACCEPTS_CLOCK = f'Z","type":"{CLOCK_ACCEPTED}","actor":'.encode()
_REMAINDER = ".remainder.gz"
_BEFORE_HASH, _AFTER_HASH = '","hash":"', '"}\n'


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
    by_digest: tuple[Month, ...] = ()
    """Archived months that were not read: their signed digests stand for them."""
    from_archive: tuple[Month, ...] = ()
    """Archived months that were read where they are now."""

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
    outside: Sequence[Checkpoint | None] = (),
    left_behind: str = "",
) -> Report:
    witnesses, problems = _collect_witnesses(checkpoints, public_key)
    if index and index[0]:
        witnesses.append(Witness("the index", *index))
    witnessed_sequences = {witness.sequence for witness in witnesses}
    witnessed_sequences |= {point.sequence for point in outside if point and point.sequence > 0}
    walk = _Walk(witnessed_sequences)
    if not walk.run(segments):
        walk, chain_problems = _explain_problems(segments, witnessed_sequences)
        problems += chain_problems
    if public_key and not checkpoints and walk.count:
        detail = "there is no checkpoint: whether records were cut off cannot be told"
        problems.append(Problem("checkpoint", walk.count, detail))
    problems += _find_contradictions(walk, witnesses)
    problems += _find_unsigned_remainders(walk)
    if public_key and outside:
        problems += _compare_outside(walk, outside, public_key, left_behind)
    ordered = sorted(set(problems), key=lambda problem: (problem.sequence, problem.kind))
    by_digest = tuple(month for month, _ in walk.remainders)
    return Report(records=walk.count, head=walk.head, problems=ordered, by_digest=by_digest)


@dataclass
class _Walk:
    """One pass over the chain: how many records, the last hash, the hashes witnesses ask for."""

    wanted: set[int]
    count: int = 0
    head: str = GENESIS
    hashes: dict[int, str] = field(default_factory=dict[int, str])
    _time: bytes = b""
    _went_back: bool = False
    gaps: list[Gap] = field(default_factory=list[Gap])
    remainders: list[tuple[Month, Callable[[], str]]] = field(
        default_factory=list[tuple[Month, Callable[[], str]]]
    )
    """Archived months that were not read, and how to ask for the digest of what is left of each."""
    archiving: bytes = b""
    """The newest line that says which months were archived."""

    def __post_init__(self) -> None:
        self._ahead = sorted(self.wanted, reverse=True)

    def run(self, segments: Segments) -> bool:
        """Follow the chain; False as soon as something does not fit."""
        for name, lines in segments():
            if name.endswith(_REMAINDER):
                if not self._follow_remainder(name, lines):
                    return False
                continue
            source = iter(lines)
            while stride := list(islice(source, _STRIDE)):
                if not stride[-1].endswith(b"\n"):  # a writer is in the middle of its last line
                    stride.pop()
                if stride and not self._follow_lines(name, stride):
                    return False
        return True

    def _follow_lines(self, segment: str, lines: list[bytes]) -> bool:
        """Take a few lines: each has the hash of its own bytes, and names the one before."""
        hashes = [self.head, *[sha256(line[:-76]).hexdigest() for line in lines]]
        if b"".join([line[-141:] for line in lines]) != _line_ends(hashes):
            return False
        first, last = self.count + 1, self.count + len(lines)
        if not (self._has_valid_numbers(lines, first) and self._follow_times(segment, lines)):
            return False
        while self._ahead and self._ahead[-1] <= last:
            sequence = self._ahead.pop()
            self.hashes[sequence] = hashes[sequence - self.count]
        self.count, self.head = last, hashes[-1]
        if self.remainders:
            self.archiving = _find_archiving(lines) or self.archiving
        return True

    def _follow_remainder(self, segment: str, lines: Iterable[bytes]) -> bool:
        """Take what is left of an archived month: whole lines as ever, and gaps by their word."""
        try:
            left_lines = self.note_remainder(lines)
        except LedgerDamaged:
            return False
        return all(
            self._follow_gap(gap)
            if (gap := remainder.read_gap(raw))
            else raw.endswith(b"\n") and self._follow_lines(segment, [raw])
            for raw in left_lines
        )

    def _follow_gap(self, gap: Gap) -> bool:
        if gap.first != self.count + 1 or gap.last < gap.first:
            return False
        while self._ahead and self._ahead[-1] <= gap.last:
            self._ahead.pop()
        self.gaps.append(gap)
        self.count, self.head, self._time = gap.last, gap.hash, gap.time.encode()
        return True

    def note_remainder(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Give the lines behind the header; the digest is whole once they were all taken."""
        digest = sha256()

        def digest_lines() -> Iterator[bytes]:
            for raw in lines:
                digest.update(raw)
                yield raw

        digested_lines = digest_lines()
        month = remainder.read_header(next(digested_lines, b""))
        self.remainders.append((month, digest.hexdigest))
        return digested_lines

    def passes_over(self, sequence: int) -> bool:
        """Tell whether a record lies in a gap, so that nobody knows its hash here."""
        return any(gap.first <= sequence <= gap.last for gap in self.gaps)

    def _has_valid_numbers(self, lines: list[bytes], first: int) -> bool:
        """Check on a record now and then what hashes do not: its number."""
        last = first + len(lines) - 1
        return lines[0].startswith(_format_line_start(first)) and lines[-1].startswith(
            _format_line_start(last)
        )

    def _follow_times(self, segment: str, lines: list[bytes]) -> bool:
        """Check on records that are numbered what hashes do not: their times and their months."""
        times = [self._time, *[_time_of(line) for line in (lines[0], lines[-1])]]
        if times != sorted(times):
            if not any(_accepts_clock(line) for line in lines):
                return False
            self._went_back = True
        self._time = times[-1]
        return all(
            _month_fits(segment, time.decode(errors="replace"), went_back=self._went_back)
            for time in times[1:]
        )


def _find_archiving(lines: list[bytes]) -> bytes:
    """Give the last of these lines that says which months were archived."""
    return next((raw for raw in reversed(lines) if _is_archiving(raw)), b"")


def _is_archiving(raw: bytes) -> bool:
    return remainder.MARK in raw and _parse_archiving(raw) is not None


def _parse_archiving(raw: bytes) -> Record | None:
    """Read a record that archives; the words may stand in the data of any other."""
    try:
        record = chain.parse(raw[:-1].decode())
        _ = record.raw_data
    except (LedgerDamaged, UnicodeDecodeError):
        return None
    return record if record.type == remainder.ARCHIVED else None


def _find_unsigned_remainders(walk: "_Walk") -> Iterator[Problem]:
    record = _parse_archiving(walk.archiving) if walk.archiving else None
    for month, digest_lines in walk.remainders:
        if not remainder.is_vouched_for(record, month, digest_lines()):
            detail = (
                f"{month.month} (records {month.first} to {month.last}) is not here, and what is"
                " left of it is not what the operator signed when months were archived"
            )
            yield Problem("archive", month.first, detail)


def _format_line_start(sequence: int) -> bytes:
    return b'{"sequence":%d,"time":"' % sequence


def _time_of(line: bytes) -> bytes:
    start = line.index(b'"time":"') + len(b'"time":"')
    return line[start : start + 27]


def _accepts_clock(line: bytes) -> bool:
    """Tell without parsing whether a line accepts the clock: its type follows its time."""
    return _ACCEPTS_CLOCK in line[: len(_format_line_start(10**16)) + 27 + len(_ACCEPTS_CLOCK)]


def _month_fits(segment: str, time: str, *, went_back: bool) -> bool:
    return segment[:7] == time[:7] or (went_back and time[:7] < segment[:7])


def _line_ends(hashes: list[str]) -> bytes:
    """Write the last 141 bytes that consecutive lines must have, given their hashes.

    The first hash is that of the record before. One comparison of many ends at once is what makes
    following nearly as fast as hashing; no end can be mistaken for its neighbour's, since each has
    the same length.
    """
    ends = ["", _BEFORE_HASH, "", _AFTER_HASH] * (len(hashes) - 1)
    ends[0::4] = hashes[:-1]
    ends[2::4] = hashes[1:]
    return "".join(ends).encode()


class _Line(NamedTuple):
    place: str
    sequence: int
    time: str
    previous: str
    hash: str
    sound: bool
    accepts_clock: bool = False
    gap: Gap | None = None

    @property
    def first(self) -> int:
        return self.gap.first if self.gap else self.sequence


def _explain_problems(segments: Segments, wanted: set[int]) -> tuple[_Walk, list[Problem]]:
    """Read every line and say what happened to the chain."""
    walk = _Walk(wanted)
    lines = list(_read_lines(segments, walk))
    problems = [
        Problem("edited", line.sequence, f"record {line.sequence} ({line.place}) is not as written")
        for line in lines
        if not line.sound
    ]
    problems += _find_misplaced(lines)
    problems += _find_unlinked(lines)
    walk.count = sum(line.sequence - line.first + 1 for line in lines)
    walk.head = lines[-1].hash if lines else GENESIS
    walk.hashes = {line.sequence: line.hash for line in lines if line.sound}
    walk.gaps = [line.gap for line in lines if line.gap]
    return walk, problems


def _read_lines(segments: Segments, walk: _Walk) -> Iterator[_Line]:
    next_sequence, went_back = 1, False
    for name, source in segments():
        raw_lines = _skip_header(walk, source) if name.endswith(_REMAINDER) else source
        for number, raw in enumerate(raw_lines, start=1):
            if raw.endswith(b"\n"):
                line = _parse_line(raw, f"{name} line {number}", next_sequence, went_back=went_back)
                next_sequence, went_back = line.sequence + 1, went_back or line.accepts_clock
                if walk.remainders and _is_archiving(raw):
                    walk.archiving = raw
                yield line


def _skip_header(walk: _Walk, source: Iterable[bytes]) -> list[bytes]:
    """Note what a remainder says it is; one that does not say it is shown as a line like others."""
    lines = list(source)
    try:
        return list(walk.note_remainder(lines))
    except LedgerDamaged:
        return lines


def _parse_line(raw: bytes, place: str, expected: int, *, went_back: bool) -> _Line:
    if _REMAINDER in place and (gap := remainder.read_gap(raw)) and gap.first <= gap.last:
        return _Line(place, gap.last, gap.time, "", gap.hash, sound=True, gap=gap)
    try:
        record = chain.parse(raw[:-1].decode())
        _ = record.data
    except (LedgerDamaged, UnicodeDecodeError):
        return _Line(place, expected, "", "", "", sound=False)
    sound = chain.is_intact(raw)
    sequence = record.sequence if sound or record.sequence == expected else expected
    accepts = record.type == CLOCK_ACCEPTED
    month_fits = _month_fits(place, record.time, went_back=went_back or accepts)
    return _Line(
        place,
        sequence,
        record.time,
        record.previous,
        record.hash,
        sound=sound and month_fits,
        accepts_clock=accepts,
    )


def _find_misplaced(lines: list[_Line]) -> Iterator[Problem]:
    """Name records that are missing, there twice, or out of order."""
    sequence_counts = Counter(line.sequence for line in lines)
    top = max(sequence_counts, default=0)
    covered = {n for line in lines if line.gap for n in range(line.first, line.sequence)}
    present = sequence_counts.keys() | covered
    for start, end in _group_runs([n for n in range(1, top) if n not in present]):
        missing_label = f"record {start} is" if start == end else f"records {start} to {end} are"
        yield Problem("deleted", start, f"{missing_label} missing")
    for sequence, times in sequence_counts.items():
        if times > 1:
            yield Problem("inserted", sequence, f"record {sequence} is there {times} times")
    for before, after in pairwise(line for line in lines if line.sound):
        earlier = after.time < before.time and not after.accepts_clock
        if after.sequence < before.sequence or earlier:
            detail = f"record {after.sequence} ({after.place}) comes after record {before.sequence}"
            yield Problem("reordered", after.sequence, detail)


def _find_unlinked(lines: list[_Line]) -> Iterator[Problem]:
    """Name records that look whole but are not the ones their successors were chained to."""
    by_sequence = {line.sequence: line for line in lines if line.sound}
    for line in by_sequence.values():
        if line.gap:
            continue  # it does not say what it follows
        before = by_sequence.get(line.sequence - 1)
        expected_hash = before.hash if before else GENESIS if line.sequence == 1 else line.previous
        if line.previous != expected_hash:
            sequence = max(line.sequence - 1, 1)
            detail = f"record {sequence} was rewritten: record {line.sequence} follows another one"
            yield Problem("edited", sequence, detail)


def _collect_witnesses(
    checkpoints: Sequence[tuple[int, Checkpoint | None]], public_key: str | None
) -> tuple[list[Witness], list[Problem]]:
    witnesses: list[Witness] = []
    problems: list[Problem] = []
    for number, point in checkpoints:
        if point is None:
            problems.append(
                Problem("checkpoint", 0, f"checkpoint line {number} is not a checkpoint")
            )
        elif public_key and not checkpoint.is_signed_by(point, public_key):
            detail = f"checkpoint line {number} is not signed by the ledger's key"
            problems.append(Problem("checkpoint", point.sequence, detail))
        else:
            name = f"the checkpoint of {point.time}"
            witnesses.append(Witness(name, point.sequence, point.hash))
    return witnesses, problems


def _find_contradictions(walk: _Walk, witnesses: list[Witness]) -> Iterator[Problem]:
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
        chain_hash = walk.hashes.get(witness.sequence)
        if chain_hash is not None and chain_hash != witness.hash:
            detail = f"record {witness.sequence} is not the one that {witness.name} remembers"
            yield Problem("rewritten", witness.sequence, detail)


def _compare_outside(
    walk: _Walk, points: Sequence[Checkpoint | None], public_key: str, left_behind: str
) -> Iterator[Problem]:
    """Compare the chain with what was sent out of the data root."""
    judgement = witnessing.judge(
        [point for point in points if point is None or not walk.passes_over(point.sequence)],
        public_key=public_key,
        head=walk.count,
        hash_at=walk.hashes.get,
        left_behind=left_behind,
    )
    if warning := judgement.describe_problem(walk.count):
        kind = f"{judgement.state}_witness"
        yield Problem(kind, judgement.newest.sequence if judgement.newest else 0, warning)
    if judgement.forged:
        detail = f"{judgement.forged} lines at the witness are not signed by the ledger's key"
        yield Problem("witness", 0, detail)


def _group_runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
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
