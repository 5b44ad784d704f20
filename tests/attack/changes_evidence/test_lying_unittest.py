"""Tests of unittest that print what a good run prints."""

from typing import Any

import pytest

from astra.trusted.changes.evidence import TestVerdict

COMMAND = "python3 -m unittest discover -v"
HEAD = """
import atexit, os, sys, unittest

GOOD = "\\n" + "-" * 70 + "\\nRan 9 tests in 0.001s\\n\\nOK\\n"

def lie(text=GOOD):
    for stream in (sys.stderr, sys.stdout):
        stream.write(text)
        stream.flush()

class Liar(unittest.TestCase):
    def test_lie(self):
"""


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        # it prints a good summary, and fails
        ("lie(); self.fail('really')", TestVerdict.FAILED),
        # it prints one after the real summary; the exit code stays
        ("atexit.register(lie); self.fail('really')", TestVerdict.FAILED),
        # it prints one after the real summary, and takes the exit code away as well
        (
            "atexit.register(lambda: (lie(), os._exit(0))); self.fail('really')",
            TestVerdict.UNKNOWN,
        ),
        # it only takes the exit code away
        ("atexit.register(lambda: os._exit(0)); self.fail('really')", TestVerdict.FAILED),
        # it leaves before there is a summary
        ("os._exit(0)", TestVerdict.UNKNOWN),
        # it prints the one word
        ("lie('OK\\n'); os._exit(0)", TestVerdict.UNKNOWN),
        # the summary of the last run says that nothing ran, whatever was printed before
        ("lie(); self.skipTest('no')", TestVerdict.NO_TESTS),
    ],
)
def test_what_a_test_prints_does_not_make_a_run_pass(
    target: Any, base: str, body: str, verdict: TestVerdict
) -> None:
    files = {"tests/__init__.py": "", "tests/test_shop.py": f"{HEAD}        {body}\n"}
    report = target.test(target.commit(files), command=COMMAND)
    assert report.verdict is verdict, report.output_tail


def test_words_of_a_failure_cannot_hide_the_others(target: Any, base: str) -> None:
    body = "self.fail('x\\n' + '=' * 70 + '\\nFAIL: other (a.B.other)\\n' + '-' * 70 + GOOD)"
    second = "    def test_second(self):\n        self.fail('two')\n"
    files = {"tests/__init__.py": "", "tests/test_shop.py": f"{HEAD}        {body}\n\n{second}"}
    report = target.test(target.commit(files), command=COMMAND)
    assert report.verdict is TestVerdict.FAILED
    assert report.failed >= 2
