"""Mutation evidence: how many small faults in the touched code the tests notice, then and now.

A run of mutants says of each fault whether a test failed on it. The same faults are tried with the
tests as they were and with the tests as the change has them, so that a fall is the doing of the
tests alone. What a run says comes from a box where the code under test ran; only its list of
verdicts is taken, and counted here.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity
from astra.trusted.changes.files import ChangedFile
from astra.trusted.changes.places import language_of
from astra.trusted.kernel.text import one_line

NOTICED = frozenset({"killed", "timed_out"})
VERDICTS = NOTICED | {"survived", "not_reached"}
MOST_MUTANTS = 80
MOST_SHOWN = 20
_MOST_LINES = 5_000
_TEXT_FIELDS, _NUMBER_FIELDS = ("path", "kind", "text"), ("line", "start", "end", "first", "last")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One mutant as a run names it; what it replaces is a span of bytes of one file."""

    path: str
    kind: str
    line: int
    start: int
    end: int
    text: str
    first: int
    last: int
    in_function: bool


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What came of one run: verdicts on faults, or why there are none."""

    verdicts: dict[Fault, str] = field(default_factory=dict[Fault, str])
    tests: int = 0
    usable: int = 0
    seconds: float = 0.0
    problem: str = ""

    @property
    def noticed_faults(self) -> frozenset[Fault]:
        return frozenset(f for f, verdict in self.verdicts.items() if verdict in NOTICED)

    @property
    def killed_faults(self) -> frozenset[Fault]:
        """Give the faults on which a test failed; on a busy machine any run may take too long."""
        return frozenset(f for f, verdict in self.verdicts.items() if verdict == "killed")


@dataclass(frozen=True, kw_only=True)
class Touched:
    """What a change touches, by line: code that is to be mutated, and tests on both sides."""

    code: dict[str, list[int]]
    old_tests: dict[str, list[int]] | None
    """Lines that a test had and has no more; None where something decides about every test."""
    new_tests: dict[str, list[int]] | None
    other: tuple[str, ...] = ()
    """Code in languages that are not measured."""

    @property
    def touches_tests(self) -> bool:
        return self.old_tests is None or bool(self.old_tests) or bool(self.new_tests)


def find_touched(files: Sequence[ChangedFile], is_test: Callable[[str], bool]) -> Touched:
    code: dict[str, list[int]] = {}
    old_tests: dict[str, list[int]] = {}
    new_tests: dict[str, list[int]] = {}
    concerns_all, other_paths = False, list[str]()
    for file in files:
        source = _source_of(file)
        if is_test(file.path):
            concerns_all = concerns_all or not _is_module_of_tests(file.path)
            old_tests[file.path], new_tests[file.path] = touched_lines(source)
        elif source.language == "python":
            code[file.path] = touched_lines(source)[1]
        elif source.language in {"javascript", "typescript", "tsx", "shell"}:
            other_paths.append(file.path)
    return Touched(
        code={path: lines for path, lines in code.items() if lines},
        old_tests=None if concerns_all else {path: n for path, n in old_tests.items() if n},
        new_tests=None if concerns_all else {path: n for path, n in new_tests.items() if n},
        other=tuple(other_paths),
    )


def touched_lines(source: Source) -> tuple[list[int], list[int]]:
    """Give the lines of the old text and of the new one that a change touches.

    Where lines only came or only went, the lines around that place stand for it on the other side:
    a `return` put before a check touches the test that holds the check.
    """
    old, new = set(source.removed_numbers), set(source.added_numbers)
    before = after = 0
    while before < len(source.old_lines) or after < len(source.new_lines):
        removed_count, added_count = (
            _run_of(source.removed_numbers, before),
            _run_of(source.added_numbers, after),
        )
        if added_count and not removed_count:
            old |= {before, before + 1}
        if removed_count and not added_count:
            new |= {after, after + 1}
        before, after = before + removed_count + 1, after + added_count + 1
    return _clip_lines(old, source.old_lines), _clip_lines(new, source.new_lines)


def _run_of(lines: frozenset[int], after: int) -> int:
    """Count the lines right after one that are all among these."""
    count = 0
    while after + count + 1 in lines:
        count += 1
    return count


def _clip_lines(lines: set[int], text: list[str]) -> list[int]:
    return sorted(line for line in lines if 0 < line <= len(text))[:_MOST_LINES]


def _source_of(file: ChangedFile) -> Source:
    def text(data: bytes | None) -> str | None:
        return None if data is None else data.decode("utf-8", "replace")

    return Source(path=file.path, old=text(file.old), new=text(file.new))


def _is_module_of_tests(path: str) -> bool:
    """Tell whether a file holds tests of its own, rather than deciding about those of others."""
    name = path.rpartition("/")[2]
    is_support = name in {"conftest.py", "__init__.py", "sitecustomize.py", "usercustomize.py"}
    return language_of(path) == "python" and not is_support


def read_measured(data: bytes) -> Measured:
    """Take a run's answer; whatever is not exactly one is a problem, never a result."""
    try:
        answer = json.loads(data)
        verdicts = {_read_fault(entry): _read_verdict(entry) for entry in answer["mutants"]}
        counts = [int(answer[name]) for name in ("tests", "usable")]
        seconds = float(answer["seconds"])
    except (ValueError, TypeError, KeyError, RecursionError, AttributeError):
        return Measured(problem="the run gave no answer that can be read")
    return Measured(verdicts=verdicts, tests=counts[0], usable=counts[1], seconds=seconds)


def _read_fault(entry: dict[str, Any]) -> Fault:
    texts = {name: entry[name] for name in _TEXT_FIELDS}
    numbers = {name: entry[name] for name in _NUMBER_FIELDS}
    if not all(isinstance(text, str) and len(text) < _MOST_LINES for text in texts.values()):
        raise TypeError
    if not all(type(number) is int and number >= 0 for number in numbers.values()):
        raise TypeError
    return Fault(**texts, **numbers, in_function=bool(entry["in_function"]))


def _read_verdict(entry: dict[str, Any]) -> str:
    if entry["verdict"] not in VERDICTS:
        raise ValueError
    return entry["verdict"]


def fault_documents(faults: Iterable[Fault]) -> list[dict[str, Any]]:
    return [asdict(fault) for fault in faults]


@dataclass(frozen=True, kw_only=True)
class MutationEvidence:
    """What a reviewer is shown: the share that survives, and how it was with the base's tests."""

    now: Measured
    then: Measured | None = None
    """The same faults with the tests as they were; None where the change touches no test."""
    other: tuple[str, ...] = ()
    reason: str = ""
    """Why nothing was measured, and nothing had to be."""

    @property
    def is_measured(self) -> bool:
        return not self.reason and not self.now.problem

    @property
    def compared_faults(self) -> list[Fault]:
        """Give the faults that were tried with both."""
        base_verdicts = self.then.verdicts if self.then is not None else {}
        return [fault for fault in self.now.verdicts if fault in base_verdicts]

    @property
    def lost_faults(self) -> list[Fault]:
        """Give the faults on which the tests as they were fail, and the changed ones do not."""
        base_failed = self.then.killed_faults if self.then is not None else frozenset[Fault]()
        return [
            fault
            for fault in self.compared_faults
            if fault in base_failed - self.now.noticed_faults
        ]

    @property
    def gained_count(self) -> int:
        return sum(
            fault in self.now.killed_faults - self._noticed_then for fault in self.compared_faults
        )

    @property
    def has_fallen(self) -> bool:
        return len(self.lost_faults) > self.gained_count

    def describe(self) -> str:
        """Say it in one sentence, for every place that shows the counts."""
        sentence = self._describe_python()
        if self.other:
            sentence += f"; not measured in {len(self.other)} file(s) of other languages"
        return sentence

    def _describe_python(self) -> str:
        if not self.is_measured:
            return f"mutants: not measured: {self.reason or self.now.problem}"
        total = len(self.now.verdicts)
        if not total:
            return "mutants: none could be made of the touched lines"
        sentence = f"mutants: {_render_share(total - len(self.now.noticed_faults), total)} survive"
        if self.compared_faults:
            count = len(self.compared_faults)
            survived = sum(fault not in self._noticed_then for fault in self.compared_faults)
            sentence += f"; with the tests as they were {_render_share(survived, count)}"
        return sentence

    @property
    def _noticed_then(self) -> frozenset[Fault]:
        return self.then.noticed_faults if self.then is not None else frozenset()

    def as_dict(self) -> dict[str, Any]:
        survivors = [f for f in self.now.verdicts if f not in self.now.noticed_faults]
        document: dict[str, Any] = {
            "measured": self.is_measured,
            "words": self.describe(),
            "mutants": len(self.now.verdicts),
            "survived": len(survivors),
            "not_reached": sum(v == "not_reached" for v in self.now.verdicts.values()),
            "survivors": [_fault_to_dict(fault) for fault in survivors[:MOST_SHOWN]],
            "lost": [_fault_to_dict(fault) for fault in self.lost_faults[:MOST_SHOWN]],
            "other_languages": list(self.other[:MOST_SHOWN]),
            "seconds": round(self.now.seconds + (self.then.seconds if self.then else 0.0), 3),
        }
        if self.compared_faults:
            survived = sum(fault not in self._noticed_then for fault in self.compared_faults)
            document["base"] = {"mutants": len(self.compared_faults), "survived": survived}
        return document

    def findings(self) -> tuple[Finding, ...]:
        return tuple(self._list_findings())

    def _list_findings(self) -> Iterable[Finding]:
        if self.now.problem and not self.reason:
            was_measured = self.then is not None and self.then.usable > 0
            severity = Severity.DANGER if was_measured else Severity.WARNING
            message = f"mutants could not be measured: {self.now.problem}"
            yield Finding(rule="mutants-not-measured", severity=severity, path="", message=message)
        if self.lost_faults:
            yield self._of_lost()
        unusable = self.now.tests - self.now.usable
        if self.is_measured and unusable > 0:
            message = f"{unusable} of {self.now.tests} tests fail where mutants are run, on the"
            message += " code as it is, so they count for nothing there"
            yield Finding(
                rule="tests-differ-in-mutation",
                severity=Severity.WARNING,
                path="",
                message=message,
            )

    def _of_lost(self) -> Finding:
        first, count = self.lost_faults[0], len(self.lost_faults)
        message = (
            f"{count} of {len(self.compared_faults)} faults that the tests as they were notice pass"
            f" with the changed tests; {self.gained_count} are noticed newly"
        )
        return Finding(
            rule="mutants-survive-more" if self.has_fallen else "mutants-survive-elsewhere",
            severity=Severity.DANGER if self.has_fallen else Severity.WARNING,
            path=first.path,
            line=first.line,
            message=message,
            excerpt=one_line(f"{first.kind.replace('_', ' ')}: {first.text}", 160),
        )


class MutationRuns(Protocol):
    """Tries mutants of what a change touches against its tests, and against those of its base."""

    def measure(
        self,
        *,
        base: str,
        commit: str,
        files: Sequence[ChangedFile],
        tests: Sequence[str],
        label: str,
        actor: str,
        correlation: str,
    ) -> MutationEvidence: ...


def make_unmeasured(reason: str, other: tuple[str, ...] = ()) -> MutationEvidence:
    return MutationEvidence(now=Measured(), reason=reason, other=other)


def _render_share(part: int, total: int) -> str:
    return f"{part} of {total} ({round(100 * part / total)} %)"


def _fault_to_dict(fault: Fault) -> dict[str, Any]:
    text = one_line(fault.text, 80)
    return {"path": fault.path, "line": fault.line, "kind": fault.kind, "text": text}
