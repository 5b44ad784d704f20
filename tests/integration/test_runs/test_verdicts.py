"""What a run of tests amounts to, in a real box with a real test runner."""

import json
from typing import Any

import pytest

from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.sandbox import boxes

TEST = "tests/test_shop.py"


def test_passing_tests_pass_and_are_counted(target: Any, base: str) -> None:
    report = target.test(base)
    assert (report.verdict, report.passed, report.failed) == (TestVerdict.PASSED, 1, 0), report
    assert report.code_commit == report.tests_commit == base
    assert report.seconds > 0
    assert b"1 passed" in b"".join(target.shown)
    assert "1 passed" in report.output_tail
    assert report.as_dict()["counts_reported_by"] == "the code under test"


def test_a_failing_test_fails_twice_and_is_named(target: Any, base: str) -> None:
    commit = target.commit({"shop.py": "def total(prices):\n    return 0\n"})
    report = target.test(commit)
    assert (report.verdict, report.failed) == (TestVerdict.FAILED, 1)
    assert report.failures[0].name == "tests.test_shop::test_total"
    assert "assert 0 == 3" in report.failures[0].message
    assert report.flaky == ()


def test_a_test_that_passes_the_second_time_is_flaky_and_named(target: Any, base: str) -> None:
    """Alone it passes: what made it fail is the test that runs before it."""
    text = (
        "import pytest\nstate = []\n\n\ndef test_first():\n    state.append(1)\n\n\n"
        "class TestGroup:\n    @pytest.mark.parametrize('n', [1])\n"
        "    def test_second(self, n):\n        assert not state\n"
    )
    report = target.test(target.commit({TEST: text}))
    assert report.verdict is TestVerdict.FLAKY
    assert report.flaky == ("tests.test_shop.TestGroup::test_second[1]",)
    assert report.failed == 1


def test_a_flaky_test_of_another_commit_is_run_again_too(target: Any, base: str) -> None:
    text = (
        "state = []\n\n\ndef test_first():\n    state.append(1)\n\n\n"
        "def test_second():\n    assert not state\n"
    )
    change = target.commit({"tests/test_more.py": text})
    report = target.test(base, tests_from=change)
    assert (report.verdict, report.flaky) == (
        TestVerdict.FLAKY,
        ("tests.test_more::test_second",),
    )


def test_one_flaky_test_beside_a_broken_one_is_a_failure(target: Any, base: str) -> None:
    text = (
        "state = []\n\n\ndef test_first():\n    state.append(1)\n\n\n"
        "def test_second():\n    assert len(state) == 0\n\n\ndef test_third():\n    assert 0\n"
    )
    report = target.test(target.commit({TEST: text}), words="tests")
    assert report.verdict is TestVerdict.FAILED
    assert report.flaky == ("tests.test_shop::test_second",)


def test_a_run_without_tests_has_not_passed(target: Any, base: str) -> None:
    for text in ("x = 1\n", "import pytest\n\n\n@pytest.mark.skip\ndef test_a():\n    pass\n"):
        report = target.test(target.commit({TEST: text}))
        assert report.verdict is TestVerdict.NO_TESTS, report


def test_a_collection_error_is_a_failure(target: Any, base: str) -> None:
    report = target.test(target.commit({TEST: "import nothing_like_this\n"}))
    assert report.verdict is TestVerdict.FAILED
    assert report.errors == 1


def test_leaving_before_collecting_with_exit_code_0_is_unknown(target: Any, base: str) -> None:
    report = target.test(target.commit({"conftest.py": "import os\nos._exit(0)\n"}))
    assert report.verdict is TestVerdict.UNKNOWN
    assert "no result" in report.reason


def test_a_report_without_failures_does_not_outweigh_the_exit_code(target: Any, base: str) -> None:
    text = "def pytest_sessionfinish(session):\n    session.exitstatus = 3\n"
    report = target.test(target.commit({"conftest.py": text}))
    assert report.verdict is TestVerdict.FAILED
    assert "exit code 3" in report.reason


def test_a_report_in_the_commit_itself_does_not_count(target: Any, base: str) -> None:
    xml = '<testsuite tests="9"><testcase name="a"/></testsuite>'
    report = target.test(target.commit({"junit.xml": xml}), command="true")
    assert report.verdict is TestVerdict.UNKNOWN


def test_a_command_without_a_report_is_unknown_or_failed(target: Any, base: str) -> None:
    assert target.test(base, command="true").verdict is TestVerdict.UNKNOWN
    assert target.test(base, command="false").verdict is TestVerdict.FAILED


def test_any_runner_can_write_the_report_that_is_asked_for(target: Any, base: str) -> None:
    script = 'echo "<testsuite><testcase name=\\"a\\"/></testsuite>" > {junit}'
    report = target.test(base, command=f"sh -c '{script}'")
    assert (report.verdict, report.passed) == (TestVerdict.PASSED, 1), report


@pytest.mark.parametrize(
    ("status", "verdict"), [("passed", TestVerdict.PASSED), ("failed", TestVerdict.FAILED)]
)
def test_a_report_in_the_form_of_jest_is_read_too(
    target: Any, base: str, status: str, verdict: TestVerdict
) -> None:
    cases = [{"title": "adds", "status": status}]
    report = json.dumps({"testResults": [{"name": "a.test.js", "assertionResults": cases}]})
    commit = target.commit({"report.json": report})
    assert target.test(commit, command="cp report.json {junit}").verdict is verdict


def test_a_program_that_is_not_there_never_ran(target: Any, base: str) -> None:
    report = target.test(base, command="no-such-runner --all")
    assert report.verdict is TestVerdict.NEVER_RAN
    assert "no-such-runner" in report.reason


@pytest.mark.parametrize("command", ["", "a && b", "echo 'x"])
def test_a_command_that_no_shell_reads_is_refused_in_words(
    target: Any, base: str, command: str
) -> None:
    report = target.test(base, command=command)
    assert report.verdict is TestVerdict.NEVER_RAN
    assert "test_command" in report.reason


def test_a_commit_that_does_not_exist_never_ran(target: Any, base: str) -> None:
    for commit in ("0" * 40, "main", "--help"):
        assert target.test(commit).verdict is TestVerdict.NEVER_RAN


def test_a_run_that_an_operator_ends_is_stopped(target: Any, base: str) -> None:
    """The operator ends the box as soon as it has said its first words."""

    def end(_data: bytes) -> None:
        for box in boxes.list_registered(target.root.path)[0]:
            boxes.mark_ended(target.root.path, box)
            with boxes.hold_process(box) as process:
                assert process is not None
                assert boxes.kill(process)

    report = target.test(base, command="sh -c 'echo ready; sleep 60'", show=end)
    assert report.verdict is TestVerdict.STOPPED


def test_a_file_that_cannot_be_collected_is_not_run_again(target: Any) -> None:
    commit = target.commit({TEST: "import nothing_of_that_name\n"})
    report = target.test(commit)
    assert (report.verdict, report.errors) == (TestVerdict.FAILED, 1)
    assert b"once more" not in b"".join(target.shown)


def test_a_run_that_nobody_waits_for_is_ended_by_its_label(target: Any, base: str) -> None:
    """It is ended as soon as it speaks, says why, and another run under another label goes on."""
    endless, going_on = "sh -c 'echo ready; sleep 600'", list[bool]()

    def end(_data: bytes) -> None:
        target.runs.end("chg_of_another_change")
        going_on.append(bool(boxes.list_registered(target.root.path)[0]))
        target.runs.end(target.label)

    report = target.test(base, command=endless, show=end)
    assert going_on == [True]
    assert report.verdict is TestVerdict.STOPPED
    assert "its change was decided on" in report.reason
    assert boxes.list_registered(target.root.path) == ([], [])


def test_stopped_work_stays_stopped(target: Any, base: str) -> None:
    (target.root.path / "var" / "stop").touch()
    assert target.test(base).verdict is TestVerdict.NEVER_RAN


def test_base_tests_on_new_code_and_new_tests_on_base_code(target: Any, base: str) -> None:
    """A change breaks the code and loosens the test; a new test passes on the old code."""
    change = target.commit(
        {
            "shop.py": "def total(prices):\n    return 4\n",
            TEST: "from shop import total\n\n\ndef test_total():\n    assert total([1]) > 0\n",
            "tests/test_new.py": "def test_new():\n    assert True\n",
        }
    )
    assert target.test(change).verdict is TestVerdict.PASSED
    old_tests = target.test(change, tests_from=base)
    assert (old_tests.verdict, old_tests.tests_commit) == (TestVerdict.FAILED, base)
    assert (old_tests.failed, old_tests.passed) == (1, 0), "the new test is not there"
    new_tests = target.test(base, tests_from=change)
    assert (new_tests.verdict, new_tests.passed) == (TestVerdict.PASSED, 2)


def test_deleted_renamed_and_binary_files_arrive_as_the_commit_says(target: Any, base: str) -> None:
    before = target.test(base)
    assert before.verdict is TestVerdict.PASSED
    change = target.commit(
        {
            "shop.py": None,
            "shop/__init__.py": "from shop.sums import total\n",
            "shop/sums.py": "def total(prices):\n    return sum(prices)\n",
            "data.bin": bytes(range(256)),
            "lf.txt": "a\nb\n",
            ".gitattributes": "*.txt text eol=crlf export-ignore\n*.bin filter=evil\n",
        }
    )
    script = "test ! -e shop.py && wc -c < lf.txt && wc -c < data.bin"
    report = target.test(change, command=f"sh -c '{script}'")
    assert report.verdict is TestVerdict.UNKNOWN, report
    assert report.output_tail == "4\n256\n"
    assert target.test(change).verdict is TestVerdict.PASSED
    assert target.test(base).verdict is TestVerdict.PASSED


def test_secrets_by_name_are_empty_and_links_out_are_refused(target: Any, base: str) -> None:
    commit = target.commit({".env": "TOKEN=secret\n"})
    report = target.test(commit, command="sh -c 'wc -c < .env'")
    assert "0\n" in report.output_tail
    (target.work / "out").symlink_to("../../../etc/passwd")
    report = target.test(target.commit({}))
    assert report.verdict is TestVerdict.NEVER_RAN
    assert "leads out of the tree" in report.reason


def test_links_inside_the_tree_and_programs_stay_what_they_are(target: Any, base: str) -> None:
    (target.work / "again").symlink_to("shop.py")
    tool = target.work / "tool"
    tool.write_text("#!/bin/sh\ncat again\n")
    tool.chmod(0o755)
    report = target.test(target.commit({}), command="./tool")
    assert "def total" in report.output_tail
