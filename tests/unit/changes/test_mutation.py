"""What runs of mutants amount to: shares, a fall, and answers that cannot be believed."""

import json
from typing import Any

import pytest

from astra.changes.findings.source import Source
from astra.changes.mutation import (
    Fault,
    Measured,
    MutationEvidence,
    find_touched,
    make_unmeasured,
    read_measured,
    touched_lines,
)
from astra.trusted.changes.evidence import Severity
from astra.trusted.changes.files import ChangedFile


def fault(line: int) -> Fault:
    place = {"line": line, "start": line, "end": line + 1, "first": line, "last": line}
    return Fault(path="shop.py", kind="constant", text="1", in_function=True, **place)


def measured(*verdicts: str, **counts: Any) -> Measured:
    named = {fault(line): verdict for line, verdict in enumerate(verdicts, 1)}
    return Measured(verdicts=named, **{"tests": 2, "usable": 2, **counts})


def rules(evidence: MutationEvidence) -> list[tuple[str, Severity]]:
    return [(finding.rule, finding.severity) for finding in evidence.findings()]


def test_a_fall_against_the_tests_as_they_were_is_a_danger() -> None:
    evidence = MutationEvidence(
        now=measured("survived", "not_reached", "killed"),
        then=measured("killed", "timed_out", "killed"),
    )
    assert rules(evidence) == [("mutants-survive-more", Severity.DANGER)]
    assert evidence.describe() == (
        "mutants: 2 of 3 (67 %) survive; with the tests as they were 0 of 3 (0 %)"
    )
    assert [entry["line"] for entry in evidence.as_dict()["lost"]] == [1]


def test_a_run_that_only_took_too_long_is_no_fall() -> None:
    evidence = MutationEvidence(now=measured("survived"), then=measured("timed_out"))
    assert rules(evidence) == []


def test_faults_that_are_noticed_elsewhere_now_are_a_warning() -> None:
    evidence = MutationEvidence(
        now=measured("survived", "killed"), then=measured("killed", "survived")
    )
    assert rules(evidence) == [("mutants-survive-elsewhere", Severity.WARNING)]


def test_survivors_alone_are_shown_and_no_finding() -> None:
    evidence = MutationEvidence(now=measured("survived", "killed"))
    assert rules(evidence) == []
    assert evidence.as_dict()["survived"] == 1


def test_tests_that_fail_where_mutants_are_run_are_named() -> None:
    evidence = MutationEvidence(now=measured("killed", usable=1))
    assert rules(evidence) == [("tests-differ-in-mutation", Severity.WARNING)]


def test_a_run_that_says_nothing_is_a_danger_where_the_base_could_be_measured() -> None:
    silent = Measured(problem="it said nothing")
    both = MutationEvidence(now=silent, then=measured("killed"))
    assert rules(both) == [("mutants-not-measured", Severity.DANGER)]
    assert rules(MutationEvidence(now=silent)) == [("mutants-not-measured", Severity.WARNING)]


def test_other_languages_are_said_not_to_be_measured() -> None:
    evidence = make_unmeasured("the change touches no Python code and no test", ("web/a.ts",))
    assert "not measured in 1 file(s) of other languages" in evidence.describe()
    assert rules(evidence) == []


GOOD = {
    "path": "a.py",
    "kind": "constant",
    "text": "1",
    "line": 1,
    "start": 0,
    "end": 1,
    "first": 1,
    "last": 1,
    "in_function": True,
    "verdict": "killed",
}


def answer(**changed: Any) -> bytes:
    entry = {**GOOD, **changed}
    return json.dumps({"mutants": [entry], "tests": 1, "usable": 1, "seconds": 0.1}).encode()


def test_an_answer_is_taken_whole() -> None:
    assert list(read_measured(answer()).verdicts.values()) == ["killed"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"[" * 100_000,
        answer(verdict="fine"),
        answer(line=-1),
        answer(line="1"),
        answer(start=True),
        answer(path=7),
        answer(text="x" * 10_000),
    ],
)
def test_an_answer_that_is_not_exactly_one_is_none(data: bytes) -> None:
    assert read_measured(data).problem
    assert not read_measured(data).verdicts


def test_a_line_put_before_a_check_touches_the_lines_around_it() -> None:
    old = "def test_a():\n    x = 1\n    assert x\n"
    new = "def test_a():\n    x = 1\n    return\n    assert x\n"
    assert touched_lines(Source(path="a.py", old=old, new=new)) == ([2, 3], [3])
    assert touched_lines(Source(path="a.py", old=new, new=old)) == ([3], [2, 3])


def test_what_decides_about_every_test_concerns_all_of_them() -> None:
    def touched(path: str) -> Any:
        file = ChangedFile(path=path, old=b"x = 1\n", new=b"x = 2\n")
        return find_touched([file], lambda _path: True).old_tests

    assert touched("tests/test_a.py") == {"tests/test_a.py": [1]}
    for path in ("conftest.py", "tests/__init__.py", "pytest.ini", "package.json"):
        assert touched(path) is None
