"""Outcomes move beliefs, words do not: the real commands, through a crash."""

import json
from typing import Any

import pytest

from driver import Astra


def call(astra: Astra, name: str, /, code: int = 0, **arguments: Any) -> Any:
    return astra.json("tools", "call", name, json.dumps(arguments), code=code)


def run_schedule(astra: Astra, times: int) -> str:
    options = ["--name", "look", "--cron", "0 12 * * *", "--timezone", "UTC", "--tier", "0"]
    options += ["--tool", "astra.desires.list", "--payload", "{}", "--budget", "20"]
    schedule = astra.json("schedules", "create", *options)["id"]
    for _ in range(times):
        assert astra.json("schedules", "run", schedule)["outcome"] == "succeeded"
    return schedule


def find_belief(astra: Astra, schedule: str) -> dict[str, Any]:
    """Give what is believed of a schedule at any hour; at night there is a second belief."""
    items = astra.json("beliefs", "list")["items"]
    return next(item for item in items if item["statement"] == f"{schedule} fails")


def test_outcomes_move_a_belief_and_the_feed_says_so(astra: Astra) -> None:
    schedule = run_schedule(astra, 5)
    astra.follow("belief_shifted")
    belief = find_belief(astra, schedule)
    assert belief["state"] == "doubted"
    assert belief["mean"] == pytest.approx(1 / 7, abs=1e-3)
    assert 0 < belief["lower"] < belief["mean"] < belief["upper"] < 0.5
    assert {item["kind"] for item in belief["evidence"]} == {"firing_success"}
    shown = astra.json("beliefs", "show", belief["id"])
    assert shown["history"][-1]["mean"] == pytest.approx(shown["mean"], abs=1e-3)
    records = {r["sequence"] for r in astra.json("ledger", "tail", "--count", "200")["items"]}
    assert {item["sequence"] for item in shown["evidence"]} <= records
    notes = call(astra, "astra_awareness_read", kind="belief")["items"]
    (note,) = [note for note in notes if note["about"] == belief["id"]]
    assert "moved from open to doubted" in note["text"]


def test_words_move_nothing_and_survive_a_crash_apart(astra: Astra) -> None:
    schedule = run_schedule(astra, 2)
    before = find_belief(astra, schedule)
    said = call(
        astra,
        "propose_belief",
        statement="it fails every time",
        claim="fails",
        scope_kind="schedule",
        scope=schedule,
    )
    assert said["id"] == before["id"]
    other = call(astra, "propose_belief", statement="reviews are slow on Fridays")
    astra.kill_daemon()
    after = astra.json("beliefs", "show", before["id"])
    assert after["evidence_count"] == before["evidence_count"]
    assert after["mean"] == pytest.approx(before["mean"], abs=1e-4)
    assert [item["text"] for item in after["statements"]] == ["it fails every time"]
    proposed = astra.json("beliefs", "list", "--proposed")["items"]
    assert [(item["id"], item["mean"]) for item in proposed] == [(other["id"], 0.5)]


def test_an_operator_puts_a_belief_away_and_an_agent_has_no_tool_for_it(astra: Astra) -> None:
    schedule = run_schedule(astra, 2)
    belief = find_belief(astra, schedule)
    put_away = astra.json("beliefs", "deprecate", belief["id"], "--reason", "it was rewritten")
    assert (put_away["state"], put_away["mean"]) == ("deprecated", 0.5)
    refused = call(astra, "deprecate_belief", code=1, id=belief["id"], reason="mine")
    assert refused["code"] == "unknown_tool"


def test_weights_are_the_signed_configurations(astra: Astra) -> None:
    schedule = run_schedule(astra, 2)
    toml = astra.root / "astra.toml"
    toml.write_text(f"{toml.read_text()}\n[beliefs.weights]\nfiring_success = 10\n")
    assert find_belief(astra, schedule)["opposing"] == pytest.approx(2, abs=0.01)
    astra.json("config", "sign")
    assert find_belief(astra, schedule)["opposing"] == pytest.approx(20, abs=0.1)
    toml.write_text(f"{toml.read_text()}\nrolback = 1\n")
    assert "rollback" in astra.json("config", "sign", code=2)["detail"]


def test_the_terminal_shows_bands_and_what_was_said_without_control_characters(
    astra: Astra,
) -> None:
    schedule = run_schedule(astra, 2)
    belief = find_belief(astra, schedule)
    hostile = "all is well\x1b[2J\u202e"
    call(
        astra,
        "propose_belief",
        statement=hostile,
        claim="fails",
        scope_kind="schedule",
        scope=schedule,
    )
    text = astra.run("beliefs", "show", belief["id"]).stdout
    assert "─" in text
    assert "●" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
