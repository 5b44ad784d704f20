"""What a tool answered decides whether a firing succeeded."""

from typing import Any

import pytest

from astra.schedules.endings import judge_answer
from astra.schedules.model import State

RAN: dict[str, Any] = {"verdict": "succeeded", "reason": "exit code 0", "exit_code": 0}


def test_an_answer_is_a_success() -> None:
    assert judge_answer({"items": []}).state is State.SUCCEEDED
    assert judge_answer(RAN).state is State.SUCCEEDED


def test_an_exit_code_other_than_0_is_a_failure_with_the_last_line() -> None:
    answer = {**RAN, "verdict": "failed", "reason": "exit code 3", "exit_code": 3}
    ending = judge_answer({**answer, "stderr": "first\nno such table\n"})
    assert (ending.state, ending.reason) == (State.FAILED, "failed")
    assert ending.detail == "exit code 3: no such table"


@pytest.mark.parametrize("verdict", ["timed_out", "killed_by_limit", "never_ran"])
def test_a_command_that_was_ended_is_a_failure(verdict: str) -> None:
    ending = judge_answer({"verdict": verdict, "reason": "not done", "exit_code": None})
    assert (ending.state, ending.reason) == (State.FAILED, verdict)


def test_a_deployment_that_was_refused_is_a_failure() -> None:
    answer = {"success": False, "code": "quarantined", "reason": "it failed before"}
    ending = judge_answer(answer)
    assert (ending.state, ending.reason) == (State.FAILED, "quarantined")
    assert ending.detail == "it failed before"
