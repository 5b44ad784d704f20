"""What unittest prints is read as it prints it, on this Python; hostile text only costs trust."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.adoption import target_command
from astra.changes import judging, unittest_text
from astra.changes.junit import Report, State
from astra.trusted.changes.evidence import TestVerdict

RULE = "-" * 70
OK = f"{RULE}\nRan 2 tests in 0.001s\n\nOK\n"
FAILED = f"{RULE}\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n"
EVERYTHING = '''
import sys, unittest

class Sums(unittest.TestCase):
    def test_good(self):
        print("OK", file=sys.stderr)

    def test_documented(self):
        """Sums are sums."""
        self.assertEqual([1], [2])

    def test_parts(self):
        for number in range(3):
            with self.subTest("counting", number=number):
                self.assertLess(number, 1)

    @unittest.skip("later")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_known(self):
        self.fail("known")

    @unittest.expectedFailure
    def test_mended(self):
        pass

    def test_raises(self):
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise ValueError("no sum") from error

class Unready(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("no database")

    def test_never(self):
        pass
'''
PASSES = "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n"


def run_unittest(folder: Path, text: str, *options: str) -> tuple[int, str]:
    (folder / "test_sums.py").write_text(text)
    command = [sys.executable, "-m", "unittest", "discover", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def judge(exit_code: int, text: str) -> TestVerdict:
    report = unittest_text.read(text)
    return judging.judge(
        exit_code=exit_code, report=report, problem="none", is_pytest=False
    ).verdict


@pytest.mark.parametrize("options", [(), ("-v",), ("-q",), ("-b",)])
def test_every_way_a_test_can_end_is_counted(tmp_path: Path, options: tuple[str, ...]) -> None:
    code, text = run_unittest(tmp_path, EVERYTHING, *options)
    report = unittest_text.read(text)
    assert report is not None, text
    assert [report.count(state) for state in State] == [1, 2, 4, 2], text
    assert judge(code, text) is TestVerdict.FAILED


def test_a_failure_has_its_name_and_says_what_was_expected(tmp_path: Path) -> None:
    _code, text = run_unittest(tmp_path, EVERYTHING, "-v")
    report = unittest_text.read(text)
    assert report is not None
    messages = {case.title: case.message for case in report.failed_cases}
    assert messages["test_sums.Sums::test_documented"] == "AssertionError: Lists differ: [1] != [2]"
    assert messages["test_sums.Sums::test_raises"] == "ValueError: no sum"
    parts = "test_sums.Sums::test_parts [counting] (number=1)"
    assert messages[parts] == "AssertionError: 1 not less than 1"
    assert messages["test_sums.Unready::setUpClass"] == "RuntimeError: no database"


@pytest.mark.parametrize("options", [(), ("-v",)])
def test_a_good_run_passes(tmp_path: Path, options: tuple[str, ...]) -> None:
    code, text = run_unittest(tmp_path, PASSES, *options)
    assert judge(code, text) is TestVerdict.PASSED


def test_a_run_without_tests_has_not_passed_on_any_python(tmp_path: Path) -> None:
    code, text = run_unittest(tmp_path, "")
    assert judge(code, text) is TestVerdict.NO_TESTS
    new = f"\n{RULE}\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n"
    assert judge(5, new) is TestVerdict.NO_TESTS
    assert judge(5, OK) is TestVerdict.FAILED
    assert judge(0, OK.replace("OK", "OK (skipped=2)")) is TestVerdict.NO_TESTS


@pytest.mark.parametrize(
    ("exit_code", "text", "expected"),
    [
        (0, OK, TestVerdict.PASSED),
        (1, OK, TestVerdict.FAILED),
        (0, FAILED, TestVerdict.FAILED),
        (0, OK + "Destroying test database for alias 'default'...\n", TestVerdict.PASSED),
        (0, FAILED + OK, TestVerdict.UNKNOWN),
        (0, OK + FAILED, TestVerdict.FAILED),
        (0, f"{'=' * 70}\nFAIL: a (b.C.a)\n{RULE}\nno\n{OK}", TestVerdict.UNKNOWN),
        (0, OK.replace("OK", "\x1b[32mOK\x1b[0m"), TestVerdict.PASSED),
        (0, OK.replace("OK", "FAILED"), TestVerdict.FAILED),
        (0, "OK\n", TestVerdict.UNKNOWN),
        (0, "Ran 2 tests in 0.001s\n\nOK\n", TestVerdict.UNKNOWN),
        (1, "", TestVerdict.FAILED),
    ],
)
def test_the_exit_code_and_the_last_summary_decide(
    exit_code: int, text: str, expected: TestVerdict
) -> None:
    assert judge(exit_code, text) is expected


def test_failures_that_nothing_names_are_counted_all_the_same() -> None:
    report = unittest_text.read(FAILED.replace("failures=1", "failures=1, errors=1"))
    assert report is not None
    assert (report.count(State.FAILED), report.count(State.ERROR)) == (1, 1)


PIECES = [f"{RULE}\n", "=" * 70 + "\n", "FAIL: ", "ERROR: a (b)\n", "Ran 7 tests in 1s\n\n", "OK"]
PIECES += ["FAILED (failures=", "1, errors=9", "99999999", ")\n", "Traceback", " ... skipped '"]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=9)).map("".join))
def test_any_text_is_read_or_is_no_summary(text: str) -> None:
    assert isinstance(unittest_text.read(text), Report | None)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python3 -m unittest discover -v", True),
        ("env CI=1 python -m unittest", True),
        ("python -m coverage run -m unittest tests.test_a", True),
        ("sh -c 'cd src && python -m unittest'", True),
        ("python manage.py test", True),
        ("python src/manage.py test shop", True),
        ("django-admin test", True),
        ("python -m xmlrunner discover --output-file {junit}", False),
        ("python -m unittest --xml {junit}", False),
        ("python -m pytest -q", False),
        ("python manage.py check", False),
        ("make test", False),
        ("python -m unittest2pytest", False),
    ],
)
def test_which_commands_print_such_a_summary(command: str, *, expected: bool) -> None:
    assert target_command.parse(command).prints_summary is expected
