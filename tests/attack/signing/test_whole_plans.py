"""A plan, and a step that somebody has to sign for, are shown whole or not asked for."""

from astra.plans.states import State
from astra.trusted.policy import payload
from plans_at_work import NOTES, PlansAtWork, document, done, write

SECRET = "ghp_" + "a1B2" * 9


def test_the_end_of_a_destructive_step_is_there_when_it_is_signed() -> None:
    work = PlansAtWork()
    text = "harmless\n" * 300 + "the end"
    work.script(write(f"{NOTES}/a.md", text, destructive=True), done())
    plan = work.run(work.approved())

    assert plan.state is State.BLOCKED_ON_DESTRUCTIVE
    assert plan.block
    assert plan.block["arguments"]["content"] == text
    assert "| the end" in payload.render_text(plan.block["action"])


def test_a_destructive_step_too_large_to_read_is_refused_and_nobody_is_asked() -> None:
    work = PlansAtWork()
    work.script(write(f"{NOTES}/a.md", "x" * payload.LARGEST, destructive=True), done())
    plan = work.run(work.approved())

    assert plan.state is State.COMPLETED
    assert work.effects == []


def test_a_plan_with_a_secret_is_kept_shown_and_signed_without_it() -> None:
    work = PlansAtWork()
    plan = work.approved({**document(), "goals": [f"use {SECRET}"]})

    assert plan.plan
    assert plan.plan.goals == ("use [masked]",)
    assert payload.find_objection(plan.plan.as_dict()) is None
    assert all(SECRET not in line for (line,) in work.ledger.query("SELECT line FROM record"))
