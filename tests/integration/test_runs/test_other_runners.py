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
