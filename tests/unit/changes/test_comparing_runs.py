"""Runs of a change are held against each other only where that means something."""

from typing import Any

from astra.changes.gathering import BASE_TESTS, CHANGE, judge_runs, list_warnings
from astra.trusted.changes.model import Change, Run, State


def change(identifier: str = "chg_1", **reports: dict[str, Any]) -> Change:
    labels = {"own": CHANGE, "base": BASE_TESTS}
    runs = {
        labels[name]: Run(label=labels[name], code="c", tests="c", report=report)
        for name, report in reports.items()
    }
    return Change(
        id=identifier,
        state=State.GATHERING,
        round=1,
        facts={"base": "b", "commit": "c", "tests": ["tests/test_a.py"]},
        about={},
        task="",
        actor="agent",
        correlation="cor_1",
        created_at="",
        runs=runs,
    )


def report(verdict: str, passed: int = 0, command: str = "pytest") -> dict[str, Any]:
    counts = {"passed": passed, "failed": 0, "errors": 0}
    return {"verdict": verdict, "command": command, **counts}


def test_the_first_tests_of_a_repository_do_not_count_as_failed() -> None:
    first = change(own=report("passed", 1), base=report("no_tests"))
    verdict, summary = judge_runs(first, base_has_tests=False)
    assert verdict == "passed"
    assert "the first tests" in summary


def test_tests_that_were_there_and_no_longer_run_count_as_failed() -> None:
    hidden = change(own=report("passed", 1), base=report("no_tests"))
    verdict, summary = judge_runs(hidden, base_has_tests=True)
    assert verdict == "failed"
    assert "passes only with the tests it changed" in summary


def test_a_count_is_compared_with_the_same_command_only() -> None:
    before = change("chg_0", own=report("passed", 9, "pytest"))
    assert list_warnings(change(own=report("passed", 2, "pytest")), before) == [
        "7 fewer tests ran than on chg_0, its base"
    ]
    assert list_warnings(change(own=report("passed", 2, "pytest tests/unit")), before) == []
