"""A model far too weak for the work: every end is one in words, and nothing is touched.

Nothing here depends on what it says. What it says is printed, to be looked at.
"""

import hashlib
import json
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from driver import Astra
from plans_by_night import notes_of, plan_for, started

pytestmark = [pytest.mark.serial, pytest.mark.timeout(2_400)]
ENDS = {"awaiting_approval", "plan_failed", "completed", "aborted", "paused"}
MINUTES = 35
OURS = {"var", "logs", "agents", "deployments", "conversations"}


def settled(astra: Astra, plan: str) -> dict[str, Any]:
    """Wait until a plan has ended, or waits for a person."""
    deadline = time.monotonic() + MINUTES * 60
    while True:
        shown = astra.json("plans", "show", plan)
        if shown["state"] in ENDS or shown["state"].startswith("blocked_") or shown["questions"]:
            return shown
        assert time.monotonic() < deadline, shown
        time.sleep(5)


def tell(what: str, shown: dict[str, Any]) -> None:
    said = [(step["outcome"], (step["result"] or "")[:90]) for step in shown["steps_taken"]]
    why = f"{shown['reason'][:200]}: {shown['detail'][:200]}"
    print(f"\n{what}: {shown['state']} ({why}) {shown['usage']} {said}")


def spent(url: str) -> dict[str, int]:
    """Ask the model's server how much it was asked; it answers one call after the other."""
    with urlopen(url, timeout=MINUTES * 60) as answer:
        return json.load(answer)


def files(astra: Astra, *left_out: Path) -> dict[str, str]:
    """Give every file of the target and of the data root that is neither ours nor granted."""
    roots = [astra.folder / "target", *astra.root.iterdir()]
    found = [path for root in roots if root.name not in OURS for path in (root, *root.rglob("*"))]
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in found
        if path.is_file() and not any(path.is_relative_to(folder) for folder in left_out)
    }


def promised(astra: Astra, shown: dict[str, Any], asked: dict[str, int]) -> None:
    """Check what holds whatever a model says: words, accounts, an intact ledger, no stack trace."""
    assert shown["state"] in {"awaiting_approval", "completed"} or (
        shown["reason"] or shown["questions"]
    )
    assert shown["next"]
    assert shown["usage"]["calls"] == asked["calls"] > 0
    story = astra.json("ledger", "story", shown["id"])["items"]
    unheard = [r for r in story if r["data"].get("usage", {}).get("tokens") == 0]
    assert shown["usage"]["tokens"] <= asked["tokens"]
    assert shown["usage"]["tokens"] == asked["tokens"] or unheard, "only a call that timed out"
    assert astra.json("ledger", "verify")["ok"]
    assert astra.json("status")["plans"]["trouble"] == ""
    assert "Traceback" not in (astra.root / "logs" / "daemon.log").read_text()


def test_drafting_ends_in_a_plan_in_questions_or_in_words(astra: Astra, model_url: str) -> None:
    before, kept = spent(model_url), files(astra)
    done = astra.run("plans", "draft", "Write a short note about the weather", "--json")
    assert "Traceback" not in done.stdout + done.stderr
    (plan,) = astra.json("plans", "list")["items"]
    shown = settled(astra, plan["id"])
    tell("drafting", shown)
    assert shown["state"] in {"awaiting_approval", "plan_failed", "draft_pending"}
    assert shown["state"] != "plan_failed" or shown["detail"]
    after = spent(model_url)
    promised(astra, shown, {name: after[name] - before[name] for name in after})
    assert files(astra) == kept


def test_working_stays_inside_the_contract_and_says_how_it_ended(
    astra: Astra, model_url: str
) -> None:
    plan = plan_for(astra)
    plan["checkpoints"] = [{**plan["checkpoints"][0], "step_budget": 4}]
    notes = notes_of(plan)
    before, kept = spent(model_url), files(astra, notes)
    shown = settled(astra, started(astra, plan))
    tell("working", shown)
    assert shown["state"] != "completed" or shown["checkpoints_done"] == 1
    assert len(shown["steps_taken"]) <= 4
    after = spent(model_url)
    promised(astra, shown, {name: after[name] - before[name] for name in after})
    assert files(astra, notes) == kept
    assert notes.is_dir()


def test_talking_comes_piece_by_piece_and_is_kept(astra: Astra) -> None:
    kept = files(astra)
    done = astra.run("chat", "Hello! Who are you?")
    assert "Traceback" not in done.stdout + done.stderr
    (conversation,) = astra.json("chat", "--list")["items"]
    question, answer = astra.json("chat", "--show", conversation["id"])["items"]
    print(f"\ntalking: {answer['ended']} {answer['trouble']} {answer['text'][:300]!r}")
    assert question["text"] == "Hello! Who are you?"
    assert answer["text"] or answer["trouble"]
    assert {call["outcome"] for call in answer["calls"]} <= {"ok", "refused", "waiting"}
    assert astra.json("ledger", "verify")["ok"]
    assert "Traceback" not in (astra.root / "logs" / "daemon.log").read_text()
    assert files(astra) == kept
