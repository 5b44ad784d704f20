"""The report of jest: single tests count, and nothing in it is trusted."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.changes import jest_report, judging
from astra.changes.junit import Report, State, UnreadableReport
from astra.trusted.changes.evidence import TestVerdict

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["testResults", "assertionResults", "name", "status", "title"]), inner
        )
    ),
    max_leaves=8,
)


def report(*tests: dict[str, Any], **totals: Any) -> bytes:
    file = {"name": "/work/a.test.js", "status": "passed", "assertionResults": tests}
    return json.dumps({"testResults": [file], **totals}).encode()


def case(title: str, status: str, *messages: str) -> dict[str, Any]:
    return {
        "ancestorTitles": ["sums"],
        "title": title,
        "status": status,
        "failureMessages": messages,
    }


def judge(data: bytes, exit_code: int) -> TestVerdict:
    read = jest_report.read(data)
    return judging.judge(exit_code=exit_code, report=read, problem="", is_pytest=False).verdict


def test_single_tests_are_counted_by_how_they_went() -> None:
    read = jest_report.read(
        report(case("adds", "passed"), case("later", "todo"), case("off", "pending"))
    )
    assert [read.count(State.PASSED), read.count(State.SKIPPED)] == [1, 2]
    assert read.cases[0].title == "sums::adds"


def test_a_failure_says_why_without_colours() -> None:
    (bad,) = jest_report.read(
        report(case("adds", "failed", "\x1b[31mExpected: 3\x1b[39m\n  at x.js"))
    ).failed_cases
    assert bad.message == "Expected: 3 at x.js"


@pytest.mark.parametrize(
    ("data", "exit_code", "verdict"),
    [
        (report(case("a", "passed")), 0, TestVerdict.PASSED),
        (report(case("a", "passed")), 1, TestVerdict.FAILED),
        (report(case("a", "failed")), 0, TestVerdict.FAILED),
        (report(case("a", "todo")), 0, TestVerdict.NO_TESTS),
        (report(case("a", "passed"), numTotalTests=2), 0, TestVerdict.UNKNOWN),
        (report(case("a", "passed"), numFailedTests=1), 0, TestVerdict.UNKNOWN),
        (report(case("a", "passed"), numRuntimeErrorTestSuites=1), 0, TestVerdict.UNKNOWN),
        (report(case("a", "failed"), case("a", "passed")), 0, TestVerdict.FAILED),
    ],
)
def test_what_a_report_amounts_to(data: bytes, exit_code: int, verdict: TestVerdict) -> None:
    assert judge(data, exit_code) is verdict


def test_a_file_that_could_not_be_loaded_is_an_error_with_its_message() -> None:
    broken = {"name": "b.test.js", "status": "failed", "message": "Cannot find module 'x'"}
    data = json.dumps({"testResults": [broken], "numRuntimeErrorTestSuites": 1}).encode()
    (bad,) = jest_report.read(data).failed_cases
    assert (bad.state, bad.title, bad.message) == (
        State.ERROR,
        "b.test.js",
        "Cannot find module 'x'",
    )


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b"{}",
        b'{"testResults": ' + b"[" * 100_000,
        b"\xff\xfe{",
        b'{"testResults": []}' + b" " * jest_report.LARGEST,
        report(*[case("a", "passed")] * 3).replace(b'"passed"', b"9" * 5000, 1),
    ],
    ids=range(7),
)
def test_what_is_no_report_of_jest_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableReport):
        jest_report.read(data)


@given(JSON)
def test_any_document_is_a_report_or_refused(document: Any) -> None:
    try:
        assert isinstance(jest_report.read(json.dumps(document).encode()), Report)
    except UnreadableReport as error:
        assert error.next_step
