r"""Reads what unittest prints at the end of a run; Django's runner prints the same.

The text comes from the code under test, which may print anything. The last summary counts; one
before it that speaks of failures, or a failure told under a summary that says OK, contradicts it.
Whether the run passed is never decided here: an exit code outweighs every text.

>>> summary = "-" * 70 + "\nRan 3 tests in 0.001s\n\nOK (skipped=1)\n"
>>> report = read("test_sum (shop.Sums.test_sum) ... ok\n" + summary)
>>> report.count(State.PASSED), report.count(State.SKIPPED)
(2, 1)
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from astra.changes.junit import MOST_CASES, Case, Report, State
from astra.trusted.kernel.text import one_line

LARGEST = 2 * 1024 * 1024
"""How much of the end of a run's output is read."""
_LONGEST_MESSAGE = 400
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_SUMMARY = re.compile(
    r"^-{70}\nRan (\d{1,7}) tests? in [\d.]+s\n\n"
    r"(OK|FAILED|NO TESTS RAN)(?: \(([a-z]+[a-z =,\d]*)\))?$",
    re.MULTILINE,
)
_SECTION = re.compile(r"^={70}\n(FAIL|ERROR|UNEXPECTED SUCCESS): (.+)$", re.MULTILINE)
_STATES = {"FAIL": State.FAILED, "ERROR": State.ERROR, "UNEXPECTED SUCCESS": State.FAILED}
_NO_TESTS = "NO TESTS RAN"
_RULE = "-" * 70
_TITLE = re.compile(r"([^\s()]+) \(([^\s()]+)\)(?: (.+))?")
_SUBTEST_SKIPPED = re.compile(r"^  \S.* \.\.\. skipped '", re.MULTILINE)
_AROUND_TESTS = ("setUpClass", "tearDownClass", "setUpModule", "tearDownModule")
_UNNAMED = "a test that the output does not name"


def read(text: str) -> Report | None:
    """Read the end of a run's output; nothing where it has no summary."""
    plain = _COLOURS.sub("", text).replace("\r\n", "\n")
    summaries = list(_SUMMARY.finditer(plain))
    if not summaries:
        return None
    last, earlier = summaries[-1], summaries[:-1]
    body = plain[earlier[-1].end() if earlier else 0 : last.start()]
    sections = list(_read_sections(body))
    failures_before = sum(summary[2] == "FAILED" for summary in earlier)
    if last[2] != "FAILED":
        passes, skips = _count_rest(last, body, [])
        report = _make_report([], passes, skips, claimed=len(sections) + failures_before)
        return replace(report, found_nothing=last[2] == _NO_TESTS and not report.cases)
    bad_cases = [*sections, *_list_unnamed(last, sections)]
    passes, skips = _count_rest(last, body, bad_cases)
    return _make_report(bad_cases, passes, skips, claimed=failures_before)


def _read_sections(body: str) -> Iterator[Case]:
    """Read every failure that is told: its title, a docstring, a rule, and the traceback."""
    headings = list(_SECTION.finditer(body))
    ends = [*(heading.start() for heading in headings), len(body)][1:]
    for heading, end in zip(headings, ends, strict=False):
        section_text = body[heading.end() : end].partition(_RULE)[2]
        name, group = _read_title(heading[2])
        yield Case(
            name=name,
            group=group,
            file="",
            state=_STATES[heading[1]],
            message=_find_message(section_text),
        )


def _read_title(title: str) -> tuple[str, str]:
    """Take a title apart; a subtest keeps what it is about.

    >>> _read_title("test_sum (shop.Sums.test_sum) [rounding] (number=2)")
    ('test_sum [rounding] (number=2)', 'shop.Sums')
    >>> _read_title("test_sum (shop.Sums)")  # before Python 3.11
    ('test_sum', 'shop.Sums')
    """
    match = _TITLE.fullmatch(title.strip())
    if match is None:
        return one_line(title, 500), ""
    name, place, about = match.groups()
    full_name = f"{name} {about}" if about else name
    return one_line(full_name, 500), one_line(place.removesuffix(f".{name}"), 500)


def _find_message(section_text: str) -> str:
    """Find what the last traceback ends with; without one, the first words."""
    after_frames = section_text.rpartition("Traceback (most recent call last):\n")[2]
    lines = [line for line in after_frames.splitlines() if line.strip()]
    message = next((line for line in lines if not line.startswith(" ")), "")
    return one_line(message, _LONGEST_MESSAGE)


def _list_unnamed(summary: re.Match[str], sections: list[Case]) -> list[Case]:
    """Make a case for each failure that the summary counts and nothing names."""
    failures = _read_count(summary, "failures") + _read_count(summary, "unexpected successes")
    errors = _read_count(summary, "errors")
    named_errors = sum(case.state is State.ERROR for case in sections)
    missing_errors = min(MOST_CASES, max(0, errors - named_errors))
    missing_failures = min(MOST_CASES, max(0, failures - (len(sections) - named_errors)))
    if not sections and not missing_failures and not missing_errors:
        missing_failures = 1  # it says FAILED and counts nothing
    unnamed_failure = Case(name=_UNNAMED, group="", file="", state=State.FAILED)
    unnamed_error = Case(name=_UNNAMED, group="", file="", state=State.ERROR)
    return [unnamed_failure] * missing_failures + [unnamed_error] * missing_errors


def _count_rest(summary: re.Match[str], body: str, bad_cases: list[Case]) -> tuple[int, int]:
    """Count what passed and what was skipped; a failure that was expected counts as skipped.

    One test may fail or be skipped in several subtests, and what happens around tests is none.
    """
    in_subtests = len(_SUBTEST_SKIPPED.findall(body))
    skips = max(0, _read_count(summary, "skipped") - in_subtests)
    skips += _read_count(summary, "expected failures")
    failed_names = {
        (case.group, case.name.partition(" ")[0]) for case in bad_cases if case.name != _UNNAMED
    }
    bad_tests = sum(name not in _AROUND_TESTS for _group, name in failed_names)
    bad_tests += sum(case.name == _UNNAMED for case in bad_cases)
    return max(0, int(summary[1]) - bad_tests - skips), skips


def _read_count(summary: re.Match[str], name: str) -> int:
    """Read one of the counts behind the verdict, such as `failures=1, expected failures=2`."""
    match = re.search(rf"(?:^|, ){name}=([0-9]{{1,7}})(?:,|$)", summary[3] or "")
    return int(match[1]) if match else 0


def _make_report(bad_cases: list[Case], passed: int, skipped: int, *, claimed: int) -> Report:
    passes = [Case(name="", group="", file="")] * min(passed, MOST_CASES)
    skips = [Case(name="", group="", file="", state=State.SKIPPED)] * min(skipped, MOST_CASES)
    total = len(bad_cases) + claimed if claimed else 0
    return Report(cases=[*bad_cases, *passes, *skips], claimed_failures=total)
