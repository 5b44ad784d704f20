"""Which verdicts on a change's own tests send it back to the agent instead of before the operator.

Tests that failed, ran out of time or memory, or were cut off always do. Tests that did not run do
where tests are required and there are some: a signed `test_command` that could not be started, or
test files of which none was executed. A target without a test command, or without any test, is the
operator's own choice: its changes are asked for, and the request says that nothing was tested.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from astra.trusted.changes.evidence import TestVerdict

if TYPE_CHECKING:  # every command that shows records asks here, and reads no change
    from astra.trusted.changes.model import Change

OWN_RUN = "change"
"""The run of a change's own tests on its own code."""
PROOF_RUN = "new tests, base code"
"""The run of new tests on the code before the change: they are meant to fail there."""
DESPITE_TESTS = "despite_tests"
"""The term by which an operator takes a change anyway; its value is the verdict it overrides."""
_FAILED = frozenset(
    {TestVerdict.FAILED, TestVerdict.TIMED_OUT, TestVerdict.KILLED, TestVerdict.STOPPED}
)


def is_expected_failure(data: Mapping[str, Any]) -> bool:
    """Tell whether a run that did not pass is one that was meant to fail."""
    return bool(data.get("label") == PROOF_RUN)


def find_failure(
    change: "Change",
    *,
    required: Callable[[], bool],
    has_command: Callable[[], bool],
    has_tests: Callable[[], bool],
) -> str:
    """Name the verdict that sends a change back, or nothing."""
    verdict = own_verdict(change)
    if verdict in _FAILED:
        return verdict
    absent = (verdict == TestVerdict.NEVER_RAN and has_command()) or (
        verdict == TestVerdict.NO_TESTS and has_tests()
    )
    return verdict if absent and required() else ""


def own_verdict(change: "Change") -> str:
    report = _own_report(change)
    return str(report.get("verdict") or (change.tests or {}).get("verdict") or TestVerdict.UNKNOWN)


def reason(change: "Change") -> str:
    return str(_own_report(change).get("reason") or (change.tests or {}).get("words") or "")


def failures(change: "Change") -> list[dict[str, Any]]:
    """Give the tests that failed, as the agent gets to read them."""
    return list(_own_report(change).get("failures") or ())


def could_not_collect(report: dict[str, Any]) -> bool:
    """Tell whether a run failed without a test that failed: its errors say nothing about code."""
    return report.get("verdict") == TestVerdict.FAILED and not report.get("failed")


def _own_report(change: "Change") -> dict[str, Any]:
    test_run = change.runs.get(OWN_RUN)
    return (test_run.report if test_run else None) or {}
