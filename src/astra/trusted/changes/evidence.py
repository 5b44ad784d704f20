"""What a reviewer decides on: findings about the text of a change, and reports of its tests.

Both are facts gathered by the server. What a test run says about itself comes from the code under
test, and is marked so; the verdict is worked out here from what the server saw.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from astra.trusted.changes.files import ChangedFile


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    DANGER = "danger"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something a reviewer should know about a line of a change; `line` 0 means the whole file."""

    rule: str
    severity: Severity
    path: str
    line: int = 0
    message: str
    excerpt: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "severity": str(self.severity)}


class TestVerdict(StrEnum):
    __test__ = False

    PASSED = "passed"
    FAILED = "failed"
    FLAKY = "flaky"
    NO_TESTS = "no_tests"
    TIMED_OUT = "timed_out"
    KILLED = "killed_by_limit"
    STOPPED = "stopped"
    NEVER_RAN = "never_ran"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Failure:
    name: str
    message: str


@dataclass(frozen=True, kw_only=True)
class TestReport:
    """How one run of the target's tests went; counts are what the code under test reported."""

    __test__ = False

    verdict: TestVerdict
    reason: str
    command: str
    code_commit: str
    tests_commit: str
    passed: int | None = None
    failed: int | None = None
    errors: int | None = None
    skipped: int | None = None
    failures: tuple[Failure, ...] = ()
    flaky: tuple[str, ...] = ()
    seconds: float = 0.0
    output_tail: str = ""
    withheld: tuple[str, ...] = ()
    """Secret files of the commit, which the run found empty."""

    def as_dict(self) -> dict[str, Any]:
        return {
            **self.__dict__,
            "verdict": str(self.verdict),
            "failures": [failure.__dict__ for failure in self.failures],
            "flaky": list(self.flaky),
            "withheld": list(self.withheld),
            "counts_reported_by": "the code under test",
        }


class Scanner(Protocol):
    """Looks at the text of a change and runs nothing of it."""

    def scan(
        self,
        files: Sequence[ChangedFile],
        *,
        test_paths: Sequence[str],
        actor: str,
        correlation: str,
    ) -> tuple[Finding, ...]: ...


class TestRuns(Protocol):
    """Runs the target's tests in a box, on the files of one commit."""

    __test__ = False

    def run(
        self,
        *,
        commit: str,
        tests_from: str | None,
        label: str,
        actor: str,
        correlation: str,
        show: Callable[[bytes], None],
    ) -> TestReport:
        """Test a commit; with `tests_from`, its test paths are replaced by that commit's."""
        ...

    def end(self, label: str) -> None:
        """End at once whatever runs under a label; nobody waits for its report any more."""
        ...
