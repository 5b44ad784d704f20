"""An agent wants something, keeps wanting it, and a person makes it a goal: the real commands."""

import json
import os
from typing import Any

import pytest

from driver import Astra

STORY = ["desire_recorded", "approval_requested", "approval_granted", "approval_used"]


def call(astra: Astra, name: str, /, code: int = 0, **arguments: Any) -> Any:
    return astra.json("tools", "call", name, json.dumps(arguments), code=code)


def goals_once_there(astra: Astra) -> list[Any]:
    """Wait until the daemon has run the step that was due."""
    astra.follow("goal_created")
    return astra.json("goals", "list")["items"]


def test_desires_are_recorded_listed_and_reinforced(astra: Astra) -> None:
    sail = astra.json(
        "desires", "record", "learn to sail", "--strength", "0.5", "--tag", "sea", "--tag", "fun"
    )
    assert sail["id"].startswith("des_")
    assert sail["strength"] == 0.5
    row = astra.json("desires", "record", "learn to row", "--context", "said at breakfast")
    assert row["strength"] == 1.0
    listed = astra.json("desires", "list")
    assert [item["id"] for item in listed["items"]] == [row["id"], sail["id"]]
    assert listed["next"] is None
    assert listed["items"][1]["tags"] == ["sea", "fun"]
    assert listed["items"][1]["strength"] == pytest.approx(0.5, abs=0.001)
    raised = astra.json("desires", "reinforce", sail["id"], "--amount", "0.8")
    assert raised["strength"] == 1.0
    shown = astra.json("desires", "show", sail["id"])
    assert (shown["reinforcements"], shown["state"]) == (1, "active")
    assert astra.json("desires", "show", row["id"])["context"] == "said at breakfast"


def test_lists_are_filtered_and_paged(astra: Astra) -> None:
    for number in range(3):
        strength = str(0.9 - number / 10)
        astra.json("desires", "record", f"wish {number}", "--strength", strength, "--tag", "t")
    astra.json("desires", "record", "something else", "--strength", "0.2")

    def texts(*words: str) -> list[str]:
        return [item["text"] for item in astra.json("desires", "list", *words)["items"]]

    assert texts("--tag", "t") == ["wish 0", "wish 1", "wish 2"]
    assert texts("--min-strength", "0.75") == ["wish 0", "wish 1"]
    assert texts("--search", "ELSE") == ["something else"]
    first = astra.json("desires", "list", "--limit", "3")
    assert len(first["items"]) == 3
    assert texts("--cursor", first["next"]) == ["something else"]


def test_what_is_weaker_than_the_threshold_is_kept_but_not_listed(astra: Astra) -> None:
    weak = astra.json("desires", "record", "a passing fancy", "--strength", "0.05")
    assert astra.json("desires", "list")["items"] == []
    assert [item["id"] for item in astra.json("desires", "list", "--faded")["items"]] == [
        weak["id"]
    ]
    assert astra.json("desires", "prune") == {"pruned": 1}
    assert astra.json("desires", "prune") == {"pruned": 0}
    assert astra.json("desires", "show", weak["id"])["state"] == "pruned"
    assert astra.json("ledger", "story", weak["id"])["items"]
    assert astra.json("desires", "reinforce", weak["id"])["state"] == "active"


def test_a_desire_becomes_a_goal_when_the_operator_signs(astra: Astra) -> None:
    made = astra.json("desires", "record", "learn to sail")
    waiting = astra.json("desires", "promote", made["id"], code=3)
    assert waiting["code"] == "needs_approval"
    (approval,) = astra.json("approvals")["items"]
    assert approval["id"] == waiting["approval_id"]
    assert (approval["kind"], approval["subject_id"]) == ("promotion", made["id"])
    assert astra.json("goals", "list")["items"] == []
    astra.json("approve", approval["id"])
    (goal,) = goals_once_there(astra)
    assert (goal["text"], goal["desire_id"]) == ("learn to sail", made["id"])
    shown = astra.json("goals", "show", goal["id"])
    assert {name: shown[name] for name in goal} == goal
    assert astra.json("desires", "show", made["id"])["goal_id"] == goal["id"]
    story = astra.json("ledger", "story", made["id"])["items"]
    told = [
        record["type"] for record in story if not record["type"].startswith(("tool_", "budget"))
    ]
    kinds = [kind for kind in told if kind != "desire_half_life_set"]
    expected = [*STORY, "desire_promoted", "goal_created"]
    assert kinds[: len(expected)] == expected, "then it is planned and put before the operator"
    assert astra.json("desires", "promote", made["id"], code=1)["code"] == "already_promoted"
    feed = call(astra, "astra.awareness.read", kind="outcome")["items"]
    assert goal["id"] in feed[0]["text"]


def test_what_operators_ask_for_themselves_is_signed_in_the_same_command(astra: Astra) -> None:
    sail = astra.json("desires", "record", "learn to sail")
    promoted = astra.run("desires", "promote", sail["id"])
    assert promoted.returncode == 0, promoted.stderr
    goal_id = astra.json("desires", "show", sail["id"])["goal_id"]
    assert f"it is the goal {goal_id} now; to adopt it: astra goals adopt" in promoted.stdout
    row = astra.json("desires", "record", "learn to row")
    adopted = astra.run("desires", "promote", row["id"], "--adopt")
    assert adopted.returncode == 0, adopted.stderr
    goal_id = astra.json("desires", "show", row["id"])["goal_id"]
    assert astra.json("goals", "show", goal_id)["state"] != "proposed"
    words = ("--task", "investigate_topic", "--file", "agent.py", "--adopt")
    created = astra.run("goals", "create", "find out about boats", *words)
    assert created.returncode == 0, created.stderr
    waiting = astra.run("desires", "record", "learn to swim")
    swim = waiting.stdout.split()[1].rstrip(",")
    assert astra.run("desires", "promote", swim, "--ask").returncode == 3


def test_a_kill_right_after_the_approval_loses_no_goal_and_makes_no_second(astra: Astra) -> None:
    made = astra.json("desires", "record", "survive")
    approval = astra.json("desires", "promote", made["id"], code=3)["approval_id"]
    astra.json("approve", approval)
    astra.kill_daemon()
    goals_once_there(astra)
    astra.kill_daemon()
    assert len(astra.json("goals", "list")["items"]) == 1
    created = astra.json("ledger", "tail", "--type", "goal_created", "--count", "100")["items"]
    assert len(created) == 1
    assert astra.json("ledger", "verify")["ok"]


def test_a_rejected_promotion_tells_the_agent_why(astra: Astra) -> None:
    made = astra.json("desires", "record", "rule the world")
    approval = call(astra, "astra_desires_promote", code=3, id=made["id"])["approval_id"]
    astra.json("reject", approval, "--reason", "too big a boat")
    notes = call(astra, "astra.awareness.read")["items"]
    assert any("too big a boat" in note["text"] for note in notes), notes
    assert astra.json("goals", "list")["items"] == []


def test_a_desire_wanted_often_is_suggested_with_the_reasons(astra: Astra) -> None:
    astra.json("desires", "record", "a whim")
    for _ in range(2):
        made = astra.json("desires", "record", "learn to sail")
    astra.json("desires", "reinforce", made["id"])
    (item,) = astra.json("desires", "promote")["items"]
    assert item["desire"]["id"] == made["id"]
    assert "recorded twice" in item["evidence"]["why"]
    assert "reinforced once" in astra.run("desires", "promote").stdout


def test_a_new_half_life_counts_from_the_next_start_and_is_told(astra: Astra) -> None:
    made = astra.json("desires", "record", "learn to sail")
    astra.run("down")
    shown = astra.json("desires", "show", made["id"], DESIRE_HALF_LIFE_DAYS="1")
    assert shown["strength"] == pytest.approx(1.0, abs=0.01)
    told = astra.json("ledger", "tail", "--type", "desire_half_life_set")["items"]
    assert [record["data"]["days"] for record in told] == [14.0, 1.0]
    assert astra.json("ledger", "rebuild", "--check") == {"same": True, "differences": []}
    astra.run("down")
    refused = astra.json("desires", "list", DESIRE_HALF_LIFE_DAYS="1e-9", code=2)
    assert "DESIRE_HALF_LIFE_DAYS" in refused["detail"]


def test_the_record_names_who_wanted_it(astra: Astra) -> None:
    made = astra.json("desires", "record", "learn to sail")
    (recorded,) = astra.json("ledger", "tail", "--type", "desire_recorded")["items"]
    assert recorded["actor"] == f"agent:user:{os.getuid()}"
    assert recorded["subject"] == made["id"]


def test_people_get_sentences(astra: Astra) -> None:
    assert astra.run("desires", "list").stdout == "nothing is wanted\n"
    assert astra.run("goals", "list").stdout == "there is no goal\n"
    assert astra.run("desires", "record", "learn to sail").stdout.startswith("recorded des_")
    assert "learn to sail" in astra.run("desires", "list").stdout
    missing = astra.run("desires", "show", "des_00000000")
    assert missing.returncode == 1
    assert "astra desires list" in missing.stderr


@pytest.mark.parametrize("strength", ["1.5", "-0.1", "nan", "inf", "much"])
def test_a_strength_that_is_none_is_bad_usage(shared: Astra, strength: str) -> None:
    refused = shared.json("desires", "record", "x", f"--strength={strength}", code=2)
    assert refused["next_step"]
    assert shared.json("desires", "list")["items"] == []


def test_terminal_escapes_reach_no_terminal(astra: Astra) -> None:
    hostile = "sail \x1b[2J\x1b]0;owned\x07 \u202egnp.exe \u009b31m"
    made = astra.json("desires", "record", hostile, "--tag", hostile[:60])
    approval = astra.json("desires", "promote", made["id"], code=3)["approval_id"]
    for words in (
        ["desires", "list"],
        ["desires", "show", made["id"]],
        ["approvals"],
        ["approve", approval],
        ["ledger", "story", made["id"]],
    ):
        done = astra.run(*words)
        for hidden in ("\x1b", "\x07", "\u202e", "\u009b"):
            assert hidden not in done.stdout + done.stderr
    goals_once_there(astra)
    assert "\x1b" not in astra.run("goals", "list").stdout
