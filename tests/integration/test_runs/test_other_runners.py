"""Reports of real runners: subtests of pytest 9, node's own runner, and what mocha writes."""

from typing import Any

from astra.trusted.changes.evidence import TestVerdict

NODE = "node --test --test-reporter=junit --test-reporter-destination={junit}"
ADDS = """
const test = require("node:test");
const assert = require("node:assert");
const { add } = require("../add.js");
test("adds", () => assert.strictEqual(add(1, 2), 3));
test("adds nothing", () => assert.strictEqual(add(0, 0), 0));
"""
SUBTESTS = """
import unittest

def test_plain():
    assert True

def test_each(subtests):
    for number in range(4):
        with subtests.test(number=number):
            assert number < {limit}

class TestOld(unittest.TestCase):
    def test_old(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertLess(number, 3)
"""
# Written by mocha's xunit reporter: the words are inside, and there is no message.
MOCHA = """
import pathlib, sys
pathlib.Path(sys.argv[1]).write_text('''<testsuite name="Mocha Tests" tests="2" failures="0"
 errors="1" skipped="0"><testcase classname="sum" name="adds" time="0"/><testcase classname="sum"
 name="subtracts" time="0.001"><failure>Expected values to be strictly equal:\\n\\n1 !== 2\\n
AssertionError [ERR_ASSERTION]: 1 !== 2</failure></testcase></testsuite>''')
sys.exit(1)
"""


def test_subtests_of_pytest_that_pass_leave_a_run_passed(target: Any, base: str) -> None:
    commit = target.commit({"tests/test_shop.py": SUBTESTS.format(limit=4)})
    report = target.test(commit)
    assert (report.verdict, report.failed) == (TestVerdict.PASSED, 0), report.reason
    assert report.passed >= 3


def test_a_subtest_of_pytest_that_fails_fails_the_run(target: Any, base: str) -> None:
    commit = target.commit({"tests/test_shop.py": SUBTESTS.format(limit=2)})
    report = target.test(commit)
    assert report.verdict is TestVerdict.FAILED
    assert "test_each" in report.failures[0].name


def test_nodes_runner_is_read_and_its_failure_says_what_was_expected(
    target: Any, base: str
) -> None:
    files = {"add.js": "exports.add = (a, b) => a + b;\n", "test/add.test.js": ADDS}
    commit = target.commit(files)
    good = target.test(commit, command=NODE, test_paths=("test/",))
    assert (good.verdict, good.passed) == (TestVerdict.PASSED, 2), good.reason
    broken = target.commit({"add.js": "exports.add = (a, b) => a * b;\n"})
    bad = target.test(broken, command=NODE, test_paths=("test/",))
    assert (bad.verdict, bad.failed, bad.passed) == (TestVerdict.FAILED, 1, 1)
    assert "adds" in bad.failures[0].name
    assert "2 !== 3" in bad.failures[0].message


def test_the_words_of_mochas_failures_are_shown(target: Any, base: str) -> None:
    commit = target.commit({"mocha.py": MOCHA})
    report = target.test(commit, command="/usr/bin/python3 mocha.py {junit}")
    assert (report.verdict, report.failed) == (TestVerdict.FAILED, 1)
    assert "subtracts" in report.failures[0].name
    assert "1 !== 2" in report.failures[0].message


UNITTEST = "python3 -m unittest discover -v"
OLD_STYLE = {
    "tests/__init__.py": "",
    "tests/test_shop.py": '''
import unittest
from shop import total


class Totals(unittest.TestCase):
    def test_total(self):
        """A total is a sum."""
        self.assertEqual(total([1, 2]), 3)

    def test_each(self):
        for price in range(3):
            with self.subTest(price=price):
                self.assertEqual(total([price]), price)

    @unittest.skip("later")
    def test_later(self):
        pass
''',
}


def test_unittest_is_read_and_its_failure_says_what_was_expected(target: Any, base: str) -> None:
    good = target.test(target.commit(OLD_STYLE), command=UNITTEST)
    assert (good.verdict, good.passed, good.skipped) == (TestVerdict.PASSED, 2, 1), good.reason
    broken = target.commit({"shop.py": "def total(prices):\n    return 1\n"})
    bad = target.test(broken, command=UNITTEST)
    assert (bad.verdict, bad.passed, bad.failed) == (TestVerdict.FAILED, 0, 3), bad.reason
    messages = {failure.name: failure.message for failure in bad.failures}
    assert messages["tests.test_shop.Totals::test_total"] == "AssertionError: 1 != 3"
    assert "tests.test_shop.Totals::test_each (price=2)" in messages


def test_a_module_that_cannot_be_imported_fails_a_run_of_unittest(target: Any, base: str) -> None:
    commit = target.commit({**OLD_STYLE, "shop.py": "import nonesuch\n"})
    report = target.test(commit, command="python3 -m unittest discover")
    assert (report.verdict, report.errors) == (TestVerdict.FAILED, 1)
    assert "No module named 'nonesuch'" in report.failures[0].message


def test_unittest_behind_a_shell_that_joins_the_streams_is_read(target: Any, base: str) -> None:
    commit = target.commit(OLD_STYLE)
    report = target.test(commit, command="sh -c 'python3 -m unittest discover 2>&1'")
    assert (report.verdict, report.passed) == (TestVerdict.PASSED, 2), report.reason


def test_unittest_without_a_test_has_not_passed(target: Any, base: str) -> None:
    commit = target.commit({"tests/test_shop.py": ""})
    report = target.test(commit, command="python3 -m unittest discover tests")
    assert report.verdict is TestVerdict.NO_TESTS


def test_a_command_whose_output_nobody_reads_has_its_exit_code_alone(
    target: Any, base: str
) -> None:
    commit = target.commit({**OLD_STYLE, "Makefile": f"test:\n\t{UNITTEST}\n"})
    report = target.test(commit, command="make test")
    assert (report.verdict, report.passed) == (TestVerdict.UNKNOWN, None)
    assert "writes no report" in report.reason
