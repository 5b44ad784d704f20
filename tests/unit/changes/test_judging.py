"""Only a run that ended well and says that tests ran has passed; reports are hostile text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.adoption import target_command
from astra.changes import judging, junit
from astra.changes.junit import Report, UnreadableReport
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.kernel.errors import BadSetting

GOOD = b'<testsuites><testsuite tests="1"><testcase name="a"/></testsuite></testsuites>'
FAILED = b'<testsuite><testcase name="a"><failure message="no"/></testcase></testsuite>'
SKIPPED = b'<testsuite><testcase name="a"><skipped/></testcase></testsuite>'
EMPTY = b"<testsuite/>"
CONTRADICTORY = b'<testsuite failures="1"><testcase name="a"/></testsuite>'
SHORT = b'<testsuite tests="5"><testcase name="a"/></testsuite>'


def verdict(data: bytes | None, exit_code: int = 0, *, is_pytest: bool = True) -> TestVerdict:
    report = junit.read(data) if data is not None else None
    return judging.judge(
        exit_code=exit_code, report=report, problem="none", is_pytest=is_pytest
    ).verdict


@pytest.mark.parametrize(
    ("data", "exit_code", "expected"),
    [
        (GOOD, 0, TestVerdict.PASSED),
        (GOOD, 1, TestVerdict.FAILED),
        (GOOD, 5, TestVerdict.NO_TESTS),
        (FAILED, 0, TestVerdict.FAILED),
        (FAILED, 1, TestVerdict.FAILED),
        (SKIPPED, 0, TestVerdict.NO_TESTS),
        (EMPTY, 0, TestVerdict.NO_TESTS),
        (EMPTY, 5, TestVerdict.NO_TESTS),
        (CONTRADICTORY, 0, TestVerdict.UNKNOWN),
        (SHORT, 0, TestVerdict.PASSED),
        (None, 0, TestVerdict.UNKNOWN),
        (None, 1, TestVerdict.FAILED),
        (None, 5, TestVerdict.NO_TESTS),
    ],
)
def test_what_a_run_amounts_to(data: bytes | None, exit_code: int, expected: TestVerdict) -> None:
    assert verdict(data, exit_code) is expected


def test_totals_above_the_cases_are_subtests_for_pytest_and_a_contradiction_elsewhere() -> None:
    report = junit.read(SHORT)
    judged = judging.judge(exit_code=0, report=report, problem="", is_pytest=True)
    assert judged.reason == "1 tests passed (5 with subtests)"
    assert verdict(SHORT, is_pytest=False) is TestVerdict.UNKNOWN
    assert verdict(CONTRADICTORY) is TestVerdict.UNKNOWN


def test_a_failure_without_a_message_shows_the_words_inside_of_it() -> None:
    mocha = (
        b'<testsuite><testcase name="adds"><failure><![CDATA[AssertionError: 1 == 2\n  at x.js]]>'
        b"</failure></testcase></testsuite>"
    )
    node = (
        b'<testsuites><testcase name="adds"><failure type="testCodeFailure">\n'
        b"[Error: no] { code: 1 }</failure><system-out>noise</system-out></testcase></testsuites>"
    )
    assert junit.read(mocha).cases[0].message.startswith("AssertionError: 1 == 2")
    assert junit.read(node).cases[0].message == "[Error: no] { code: 1 }"


def test_exit_code_5_means_something_only_for_pytest() -> None:
    assert verdict(None, 5, is_pytest=False) is TestVerdict.FAILED
    assert verdict(GOOD, 5, is_pytest=False) is TestVerdict.FAILED


@given(st.integers(min_value=0, max_value=255), st.sampled_from([GOOD, SKIPPED, EMPTY, None]))
def test_nothing_but_exit_code_0_with_executed_tests_passes(
    exit_code: int, data: bytes | None
) -> None:
    passed = verdict(data, exit_code) is TestVerdict.PASSED
    assert passed == (exit_code == 0 and data == GOOD)


def test_the_worst_word_about_a_test_counts() -> None:
    report = junit.read(
        b'<testsuite><testcase name="a"><failure/></testcase><testcase name="a"/>'
        b'<testcase name="b"><skipped/><error message="x"/></testcase></testsuite>'
    )
    assert [(case.name, case.state) for case in report.cases] == [("a", "failed"), ("b", "error")]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not xml",
        b"<html/>",
        b"<testsuite>",
        b"<testsuite/><testsuite/>",
        b'<!DOCTYPE x [<!ENTITY a "b">]><testsuite name="&a;"/>',
        b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuite/>',
        b"<testsuite>" + b"<a>" * 50 + b"</a>" * 50 + b"</testsuite>",
        b"<testsuite>" + b" " * junit.LARGEST + b"</testsuite>",
        b"<testsuite>" + b"<testcase/>" * (junit.MOST_CASES + 1) + b"</testsuite>",
    ],
    ids=range(10),
)
def test_a_report_that_is_not_plain_junit_is_no_report(data: bytes) -> None:
    with pytest.raises(UnreadableReport):
        junit.read(data)


def test_a_report_of_as_many_tests_as_count_is_read_whole() -> None:
    case = b'<testcase classname="tests.test_module.TestClass" name="test_%06d" time="0.001">%s'
    padding = b"<properties>" + b" " * 100 + b"</properties></testcase>"
    cases = b"".join(case % (number, padding) for number in range(junit.MOST_CASES))
    assert junit.read(b"<testsuite>" + cases + b"</testsuite>").executed_count == junit.MOST_CASES


@given(st.binary(max_size=200))
def test_any_bytes_are_a_report_or_refused(data: bytes) -> None:
    try:
        assert isinstance(junit.read(data), Report)
    except UnreadableReport as error:
        assert error.next_step


def test_names_and_messages_are_bounded_and_printable() -> None:
    message = "&#x85;" * 900
    failure = f'<failure message="{message}"/>'
    text = f'<testsuite><testcase name="{"x" * 9999}">{failure}</testcase></testsuite>'
    (case,) = junit.read(text.encode()).cases
    assert len(case.name) <= 500
    assert len(case.message) <= 400
    assert case.message.isprintable()


@pytest.mark.parametrize(
    ("text", "rerun"),
    [
        ("pytest", ("a.py::b",)),
        ("pytest -q tests", ("-q", "a.py::b")),
        ("pytest tests/unit -x -k fast", ("-x", "-k", "fast", "a.py::b")),
        ("pytest -c tests/pytest.ini tests/", ("-c", "tests/pytest.ini", "a.py::b")),
        ("pytest tests/a.py::old", ("a.py::b",)),
        ("pytest --disable-warnings tests", ("--disable-warnings", "a.py::b")),
        ("pytest --last-failed tests", ("--last-failed", "a.py::b")),
        ("pytest --confcutdir tests tests", ("--confcutdir", "tests", "a.py::b")),
    ],
)
def test_only_the_failed_tests_are_asked_for_again(text: str, rerun: tuple[str, ...]) -> None:
    command = target_command.parse(text)
    words = command.select_tests(
        "/r.xml", ["a.py::b"], is_path=lambda word: word.startswith("tests")
    )
    assert words[4:] == rerun


def test_the_report_is_asked_for_once_and_before_the_other_words() -> None:
    assert target_command.parse("/v/bin/pytest -- a").build_words("/r.xml")[1:] == (
        *("--junitxml=/r.xml", "-o", "junit_family=xunit1", "--", "a"),
    )
    own = target_command.parse("pytest --junitxml={junit}")
    assert own.build_words("/r.xml") == ("pytest", "--junitxml=/r.xml")


@pytest.mark.parametrize("text", ["", "  ", "a && b", "a | b", "$HOME/x", "'"])
def test_a_command_that_needs_a_shell_is_refused(text: str) -> None:
    with pytest.raises(BadSetting, match="test_command"):
        target_command.parse(text)
