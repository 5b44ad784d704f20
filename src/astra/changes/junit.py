"""Reads a JUnit report that the code under test may have written itself.

Nothing in it is trusted: declarations of documents and entities are refused before they mean
anything, and depth, counts and texts are bounded. Counts come from the cases, not from the totals
that a report claims; where the two cannot both be true, that is said.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from xml.parsers import expat

from astra.trusted.kernel.errors import Refused
from astra.trusted.kernel.text import one_line

LARGEST = 32 * 1024 * 1024
MOST_CASES = 100_000
"""A passed case of pytest takes 150 bytes or so: what is read may be the most cases, and longer."""
DEEPEST = 16
_LONGEST_NAME = 500
_LONGEST_MESSAGE = 400
_SUITES = frozenset({"testsuite", "testsuites"})


class UnreadableReport(Refused):
    code = "unreadable_report"


class State(StrEnum):
    PASSED = "passed"
    SKIPPED = "skipped"
    FAILED = "failed"
    ERROR = "error"


_WORSE = list(State)
_STATES = {"failure": State.FAILED, "error": State.ERROR, "skipped": State.SKIPPED}


@dataclass(kw_only=True)
class Case:
    name: str
    group: str
    file: str
    state: State = State.PASSED
    message: str = ""

    @property
    def title(self) -> str:
        return f"{self.group}::{self.name}" if self.group else self.name


@dataclass(kw_only=True)
class Report:
    cases: list[Case] = field(default_factory=list[Case])
    claimed_failures: int = 0
    claimed_tests: int = 0
    found_nothing: bool = False
    """The runner says in its own words that there was no test to run."""

    def count(self, state: State) -> int:
        return sum(case.state is state for case in self.cases)

    @property
    def executed_count(self) -> int:
        return len(self.cases) - self.count(State.SKIPPED)

    @property
    def failed_cases(self) -> list[Case]:
        return [case for case in self.cases if case.state in {State.FAILED, State.ERROR}]

    @property
    def hides_failures(self) -> bool:
        """Tell whether the totals claim more failures than there are failed cases."""
        return self.claimed_failures > len(self.failed_cases)

    @property
    def hides_tests(self) -> bool:
        """Tell whether the totals claim more tests than there are cases."""
        return self.claimed_tests > len(self.cases)


def read(data: bytes) -> Report:
    if len(data) > LARGEST:
        raise make_unreadable_error(f"is larger than {LARGEST:,} bytes")
    reader = _Reader()
    try:
        reader.parser.Parse(data, True)  # noqa: FBT003 - expat's own way to say "all of it"
    except expat.ExpatError as error:
        raise make_unreadable_error(f"is no XML: {error}") from None
    if not reader.saw_suite:
        raise make_unreadable_error("is no JUnit report")
    return merge_cases(reader.report)


class _Reader:
    def __init__(self) -> None:
        self.report = Report()
        self.saw_suite = False
        self._case: Case | None = None
        self._message_missing = False
        self._depth = 0
        self.parser = expat.ParserCreate(namespace_separator=None)
        self.parser.StartDoctypeDeclHandler = _refuse_declaration
        self.parser.EntityDeclHandler = _refuse_declaration
        self.parser.StartElementHandler = self._start_element
        self.parser.EndElementHandler = self._end_element
        self.parser.CharacterDataHandler = self._read_text
        self.parser.buffer_text = True

    def _start_element(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise make_unreadable_error(f"is nested deeper than {DEEPEST}")
        if name in _SUITES:
            self._read_suite(name, attributes)
        elif name == "testcase":
            self._begin_case(attributes)
        elif self._case is not None:
            self._mark_case(self._case, name, attributes)

    def _end_element(self, name: str) -> None:
        self._depth -= 1
        if name == "testcase":
            self._case = None
        if name in _STATES:
            self._message_missing = False

    def _read_suite(self, name: str, attributes: dict[str, str]) -> None:
        self.saw_suite = True
        if name == "testsuite":
            bad = _read_count(attributes, "failures") + _read_count(attributes, "errors")
            self.report.claimed_failures += bad
            self.report.claimed_tests += _read_count(attributes, "tests")

    def _begin_case(self, attributes: dict[str, str]) -> None:
        if len(self.report.cases) >= MOST_CASES:
            raise make_unreadable_error(f"has more than {MOST_CASES:,} tests")
        self._case = Case(
            name=attributes.get("name", "")[:_LONGEST_NAME],
            group=attributes.get("classname", "")[:_LONGEST_NAME],
            file=attributes.get("file", "")[:_LONGEST_NAME],
        )
        self.report.cases.append(self._case)

    def _mark_case(self, case: Case, name: str, attributes: dict[str, str]) -> None:
        state = _STATES.get(name)
        if state is not None and _WORSE.index(state) > _WORSE.index(case.state):
            case.state = state
            case.message = one_line(attributes.get("message", ""), _LONGEST_MESSAGE)
            self._message_missing = not case.message

    def _read_text(self, text: str) -> None:
        """Take the first words inside a failure for its message, where it has no attribute."""
        if self._message_missing and self._case is not None and text.strip():
            self._case.message = one_line(text.strip(), _LONGEST_MESSAGE)
            self._message_missing = False


def merge_cases(report: Report) -> Report:
    """Keep one case for each name, at its worst: a report may not outvote a failure."""
    merged: dict[tuple[str, str, str], Case] = {}
    for case in report.cases:
        key = (case.file, case.group, case.name)
        worst_case = merged.setdefault(key, case)
        if _WORSE.index(case.state) > _WORSE.index(worst_case.state):
            merged[key] = case
    double = len(report.cases) - len(merged)
    return Report(
        cases=list(merged.values()),
        claimed_failures=max(0, report.claimed_failures - double),
        claimed_tests=max(0, report.claimed_tests - double),
    )


def _read_count(attributes: dict[str, str], name: str) -> int:
    text = attributes.get(name, "0")[:9]
    return int(text) if text.isascii() and text.isdigit() else 0


def _refuse_declaration(*_words: object) -> None:
    raise make_unreadable_error("declares a document type or an entity")


def make_unreadable_error(why: str) -> UnreadableReport:
    return UnreadableReport(
        f"the test report {why}", next_step="have the test runner write plain JUnit XML"
    )
