"""A model far too weak for the work: every end is one in words, and nothing is touched."""

import time
from typing import Any

import pytest

from driver import Astra
from plans_by_night import notes_of, plan_for, started

pytestmark = [pytest.mark.serial, pytest.mark.timeout(1_800)]
ENDS = {"awaiting_approval", "plan_failed", "completed", "aborted", "paused"}
MINUTES = 25


def settled(astra: Astra, plan: str) -> dict[str, Any]:
    """Wait until a plan has ended, or waits for a person."""
    deadline = time.monotonic() + MINUTES * 60
    while True:
        shown = astra.json("plans", "show", plan)
        if shown["state"] in ENDS or shown["state"].startswith("blocked_") or shown["questions"]:
            return shown
        assert time.monotonic() < deadline, shown
        time.sleep(1)


def tell(what: str, shown: dict[str, Any]) -> None:
    said = [(step["outcome"], (step["result"] or "")[:90]) for step in shown["steps_taken"]]
    print(f"\n{what}: {shown['state']} ({shown['reason'][:200]}) {shown['usage']} {said}")


def test_drafting_ends_in_a_plan_in_questions_or_in_words(astra: Astra) -> None:
    done = astra.run("plans", "draft", "Write a short note about the weather", "--json")
    assert "Traceback" not in done.stdout + done.stderr
    (plan,) = astra.json("plans", "list")["items"]
    shown = settled(astra, plan["id"])
    tell("drafting", shown)
    assert shown["state"] in {"awaiting_approval", "plan_failed", "draft_pending"}
    assert shown["state"] != "plan_failed" or shown["reason"]
    assert astra.json("status")["plans"]["trouble"] == ""


def test_working_stays_inside_the_contract_and_says_how_it_ended(astra: Astra) -> None:
    plan = plan_for(astra)
    plan["checkpoints"] = [{**plan["checkpoints"][0], "step_budget": 4}]
    outside = {path.name for path in (astra.root / "sandbox").iterdir()}
    shown = settled(astra, started(astra, plan))
    tell("working", shown)
    assert shown["state"] != "completed" or shown["checkpoints_done"] == 1
    assert shown["state"] == "completed" or shown["reason"]
    assert {path.name for path in (astra.root / "sandbox").iterdir()} == outside
    assert notes_of(plan).is_dir()
    assert astra.json("ledger", "verify")["ok"]
    assert astra.json("status")["plans"]["trouble"] == ""
