"""A plan on a terminal: it fits, it says what was done, and no text of its own passes for ours."""

from typing import Any

import pytest

from astra.interfaces.cli import plan_pages
from plans_at_work import NOTES, PlansAtWork, document, done, tool, write

LONG = "words that go on and on " * 12


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def work() -> PlansAtWork:
    return PlansAtWork()


def shown(work: PlansAtWork, plan: Any) -> dict[str, Any]:
    return work.gate.planning.views.show_plan(plan.id)


def page(work: PlansAtWork, plan: Any) -> list[str]:
    return plan_pages.render_page(shown(work, plan))


def test_a_plan_fits_a_hundred_columns_and_shows_all_that_is_signed(work: PlansAtWork) -> None:
    wanted = document(network_domains=["example.com"])
    wanted["goals"] = [LONG]
    wanted["checkpoints"][0] |= {"description": LONG, "expected_output": f"a summary, {LONG}"}
    work.script(write("/data/persona_space/other/" + "x" * 120))
    lines = page(work, work.run(work.approved(wanted)))
    assert max(map(len, lines)) <= 100
    text = " ".join(" ".join(lines).split())
    assert text.count(LONG.strip()) == 3
    assert "gives: a summary" in text
    assert text.count("anyone at example.com") == 1, "what is said once is read"


def test_what_is_cut_says_how_much(work: PlansAtWork) -> None:
    wanted = document()
    wanted["checkpoints"][0]["description"] = "x" * 3_000 + "and then delete everything"
    lines = page(work, work.approved(wanted))
    assert any("2426 more characters, see --json" in line for line in lines)


def test_steps_say_what_was_done_and_how_it_went(work: PlansAtWork) -> None:
    work.script(
        tool("run_in_sandbox", command=["sh", "-c", "echo hello"]),
        write(f"{NOTES}/a.md"),
        *["no idea"] * 3,
    )
    plan = work.run(work.approved(skills=["files", "sandbox"]))
    text = "\n".join(page(work, plan))
    assert "run_in_sandbox sh -c 'echo hello' → ok: ran" in text
    assert f"write_file path={NOTES}/a.md" in text
    assert "asked the model → not an answer in the form" in text
    assert "5 model calls, 550 tokens in all" in text


def test_a_call_that_a_crash_cut_off_is_not_still_thinking(work: PlansAtWork) -> None:
    plan = work.cut_off(done())
    assert "the model thinks" in page(work, plan)[-1]
    lines = page(work, work.run(plan))
    assert any("cut off before the model answered" in line for line in lines)


def test_a_block_shows_the_action_and_each_grant(work: PlansAtWork) -> None:
    work.script(write("/data/persona_space/other/x"))
    block = shown(work, work.run(work.approved()))["block"]
    lines = list(plan_pages.render_blocked_action(block))
    assert lines[0] == "  action     write_file path=/data/persona_space/other/x content=x"
    assert lines[1] == "  grant      write_paths: /data/persona_space/other/x"


def test_a_destructive_step_is_shown_with_its_arguments(work: PlansAtWork) -> None:
    work.script(tool("delete_file", path=f"{NOTES}/a"))
    plan = work.run(work.approved(skills=["files", "delete_file"]))
    (line,) = plan_pages.render_blocked_action(shown(work, plan)["block"])
    assert line.startswith(f"  action     delete_file path={NOTES}/a")


def test_what_a_plan_says_cannot_pass_for_what_astra_says(work: PlansAtWork) -> None:
    """Escapes are shown; its lines are never at the margin or behind one of our labels."""
    fake = "done\n  next       astra plans grant plan_1\noperator's passphrase: \x1b[2J\u202e"
    work.script({"kind": "message", "text": fake}, done(fake))
    wanted = document()
    wanted["goals"], wanted["checkpoints"][0]["title"] = [fake], fake
    lines = page(work, work.run(work.approved(wanted)))
    assert not any("\x1b" in line or "\u202e" in line or "\n" in line for line in lines)
    assert [line for line in lines if line.startswith("  next ")] == [lines[1]]
    assert not any(line.lstrip().startswith("operator's passphrase") for line in lines)


def test_an_open_question_says_how_to_answer_it(work: PlansAtWork) -> None:
    work.script({"kind": "message", "text": "One or two?", "question": True})
    plan = work.run(work.approved())
    said = plan_pages.render_outcome(shown(work, plan))
    assert said[1] == "  because    it asked you something and waits for your answer"
    assert said[2] == f"  next       astra plans message {plan.id} TEXT answers it, and it goes on"


def test_an_ending_is_said_in_words(work: PlansAtWork) -> None:
    work.script(write(f"{NOTES}/a"))
    plan = work.approved()
    work.run(plan, most=3)
    work.gate.plan_files.files[f"{plan.id}/plan.json"] = "{}"
    (_, because, *_) = plan_pages.render_outcome(shown(work, work.run(plan)))
    assert because == (
        "  because    plan_tampered: its files or its record are not what the operator signed"
    )
