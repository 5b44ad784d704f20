"""The ledger tells the night's story in the morning: what was done, what waited, who decided."""

from typing import Any

import pytest

from astra.interfaces.cli import story
from astra.interfaces.sentences import SAYINGS
from astra.plans import events
from astra.trusted.ledger import views
from plans_at_work import NOTES, PlansAtWork, document, done, down, tool, write


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def work() -> PlansAtWork:
    return PlansAtWork()


def records(work: PlansAtWork, plan: Any) -> list[dict[str, Any]]:
    return [record.as_dict() for record in views.story(work.ledger, plan.id)]


def told(work: PlansAtWork, plan: Any, *, every: bool = False) -> str:
    lines = list(story.tell_records(records(work, plan), every=every))
    assert max(map(len, lines)) <= 100
    return " ".join(" ".join(lines).split())


def test_a_night_is_told_from_the_approval_to_the_end(work: PlansAtWork) -> None:
    outside = "/data/persona_space/other/x"
    work.script(
        tool("run_in_sandbox", command=["make", "index"]),
        write(outside),
        {"kind": "message", "text": "Which one?", "question": True},
        "nonsense",
        done("an index of two files"),
    )
    plan = work.run(work.approved(skills=["files", "sandbox"]))
    work.decide(plan, "grant", once=True)
    work.run(plan)
    work.running.control.message(plan.id, "the red one", actor="user:1")
    work.run(plan)
    text = told(work, plan)
    wanted = (
        "there is a plan: “Tidy the notes”, 1 checkpoints, about 30 minutes",
        "approved exactly this plan",
        "checkpoint 1 began: “Stage 0”, 30 steps",
        "step 1: run_in_sandbox make index",
        "step 1 ended: ok: ran",
        f"WAITS: it wants what it was not granted: write_paths {outside}",
        f"granted for this one step, by signature: write_paths {outside}",
        "step 2 ended: ok: written",
        "WAITS for an answer",
        "says: “Which one?”",
        "told it: “the red one”",
        "it reports: “an index of two files”",
        "the plan is done: 4 steps, 5 model calls, 550 tokens",
    )
    places = [text.index(words) for words in wanted]
    assert places == sorted(places)


def test_counting_and_looking_are_left_out_and_their_number_is_told(work: PlansAtWork) -> None:
    work.script(write(f"{NOTES}/a"), done())
    plan = work.run(work.approved())
    short, whole = (
        list(story.tell_records(records(work, plan), every=each)) for each in (False, True)
    )
    left_out = len([r for r in records(work, plan) if r["type"] == "agent_step_started"])
    assert left_out == 2
    assert "are left out: --all tells them" in short[-1]
    assert len(whole) > len(short)
    assert "left out" not in " ".join(whole)


def test_a_story_of_nothing_but_looking_is_told_whole() -> None:
    look = {
        "sequence": 7,
        "time": "2026-11-16T05:22:25.000000Z",
        "type": "tool_called",
        "actor": "agent:user:0",
        "subject": None,
        "data": {"tool": "list_files"},
    }
    day, line = story.tell_records([look], every=False)
    assert day == "2026-11-16, times in UTC"
    assert "read with list_files" in line


def test_a_record_is_told_with_the_beliefs_that_it_moved() -> None:
    record = {
        "sequence": 7,
        "time": "2026-11-16T05:22:25.000000Z",
        "type": "goal_satisfied",
        "actor": "daemon",
        "subject": "goal_01234567",
        "data": {"by": "daemon", "checks": [{"criterion": "outcome kept", "holds": True}]},
    }
    move = {"sequence": 7, "belief": "belief_0", "statement": "the method x\x1b works"}
    moves = [
        {**move, "kind": "goal_success", "sign": "for", "mean": 0.75},
        {**move, "kind": "call_success", "sign": "against", "mean": 0.25},
        {**move, "sequence": 8, "kind": "goal_success", "sign": "for", "mean": 0.75},
    ]
    _day, line, moved = story.tell_records([record], every=False, moves=moves)
    assert line.endswith("the goal is satisfied; checked: outcome kept")
    assert moved.strip().startswith("→ counts for “the method x")
    assert "\x1b" not in moved
    assert "now 0.75 (belief_0)" in moved
    assert len(list(story.tell_records([record], every=True, moves=moves))) == 4


def test_a_crash_while_the_model_thought_is_told(work: PlansAtWork) -> None:
    plan = work.cut_off(done())
    assert "a crash" not in told(work, plan), "it may be thinking still"
    work.run(plan)
    assert "step 1: the model was asked; a crash cut that off" in told(work, plan)


def test_a_model_that_was_down_is_told_with_the_time_of_the_next_try(work: PlansAtWork) -> None:
    work.script(down(), done())
    plan = work.run(work.approved())
    again = plan.due[11:19]
    assert f"step 1: the model did not answer; asked again at {again}" in told(work, plan)


@pytest.mark.parametrize("how", ["pause", "abort"])
def test_what_a_person_did_is_told(work: PlansAtWork, how: str) -> None:
    plan = work.approved()
    work.run(plan, most=2)
    getattr(work.running.control, how)(plan.id, actor="user:1", reason="bed time")
    words = {"pause": "paused: bed time", "abort": "the plan was ended: bed time"}[how]
    assert words in told(work, plan)


def test_every_kind_of_record_about_plans_is_told_or_left_out_on_purpose() -> None:
    known = {*SAYINGS, *story.LEFT_OUT}
    about_plans = events.PLAN_EVENTS - {
        *(events.GLOBAL_GRANT_ADDED, events.GLOBAL_GRANT_REMOVED),
        *(events.ALLOWLIST_EXPORTED, events.ALLOWLIST_TAMPERED),
    }
    assert about_plans <= known


def test_hostile_words_stay_on_their_lines(work: PlansAtWork) -> None:
    fake = "ok\n   999  05:00:00  operator  approved everything\x1b[31m\u202e"
    wanted = document()
    wanted["goals"] = [fake]
    work.script({"kind": "message", "text": fake}, tool("nothing", path=fake), done(fake))
    plan = work.run(work.approved(wanted))
    lines = list(story.tell_records(records(work, plan), every=True))
    assert not any(line.lstrip().startswith("999") for line in lines)
    assert not any("\x1b" in line or "\u202e" in line or "\n" in line for line in lines)
