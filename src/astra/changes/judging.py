"""What a run of tests amounts to: from what the server saw, then from what the run says of itself.

Default deny: only a run that ended well, with a report that says that tests ran and none failed,
has passed. A run that says nothing is unknown, one that ran no test has not passed, and a report
never outweighs an exit code.
"""

from dataclasses import dataclass

from astra.changes.junit import Report, State
from astra.trusted.changes.evidence import TestVerdict

NO_TESTS_COLLECTED = 5
"""The exit code of pytest, and of unittest since Python 3.12, for a run that found no test."""


@dataclass(frozen=True)
class Judgement:
    verdict: TestVerdict
    reason: str


def judge(*, exit_code: int, report: Report | None, problem: str, is_pytest: bool) -> Judgement:
    """Judge a run that ended by itself."""
    if report is None:
        return _judge_unreported(exit_code, problem, is_pytest=is_pytest)
    bad = len(report.failed_cases)
    if bad:
        return Judgement(TestVerdict.FAILED, f"{bad} of {report.executed_count} tests failed")
    found_nothing = exit_code == NO_TESTS_COLLECTED and (is_pytest or report.found_nothing)
    if exit_code and not found_nothing:
        reason = f"exit code {exit_code}, although the report names no failure"
        return Judgement(TestVerdict.FAILED, reason)
    # pytest counts every subtest in its totals and writes one case for all of them.
    if report.hides_failures or (report.hides_tests and not is_pytest):
        return Judgement(TestVerdict.UNKNOWN, "the report contradicts itself")
    if not report.executed_count or exit_code:
        skipped = report.count(State.SKIPPED)
        detail = f"; {skipped} were skipped" if skipped else ""
        return Judgement(TestVerdict.NO_TESTS, f"no test was executed{detail}")
    subtests = f" ({report.claimed_tests} with subtests)" if report.hides_tests else ""
    return Judgement(TestVerdict.PASSED, f"{report.executed_count} tests passed{subtests}")


def _judge_unreported(exit_code: int, problem: str, *, is_pytest: bool) -> Judgement:
    if is_pytest and exit_code == NO_TESTS_COLLECTED:
        return Judgement(TestVerdict.NO_TESTS, "no test was collected")
    if exit_code:
        return Judgement(TestVerdict.FAILED, f"exit code {exit_code}; {problem}")
    return Judgement(TestVerdict.UNKNOWN, f"exit code 0, but {problem}")
