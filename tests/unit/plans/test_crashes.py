"""Kill -9 between any two records: the same step goes on, and nothing happens twice."""

from typing import Any

import pytest

from astra.plans.states import State
from plans_at_work import NOTES, PlansAtWork, document, done, tool, write

SCRIPT = (
    tool("read_file", path=f"{NOTES}/x"),
    write(f"{NOTES}/a.md"),
    {"kind": "message", "text": "half way"},
    tool("delete_file", path=f"{NOTES}/a.md"),
    done(),
    write(f"{NOTES}/b.md"),
    done(),
)


class Dies(BaseException):
    """Stands for kill -9: nothing in the product catches it."""


def run_with_crashes(die_at: int, *, after: bool) -> PlansAtWork:
    """Run a plan and die once, before or after the record `die_at`; then go on as a new daemon."""
    work = PlansAtWork()
    model = work.script()
    model.sayings = [lambda _prompt: said(work) for _ in range(100)]
    plan = work.approved(document(checkpoints=2, skills=["files", "delete_file"]))
    real, count = work.ledger.append, 0

    def append(events: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        if count == die_at and not after:
            raise Dies
        records = real(events, **options)
        if count == die_at and after:
            raise Dies
        return records

    work.ledger.append = append
    try:
        finish(work, plan)
    except Dies:
        work.ledger.append = real
        work.running = work.new_running()
        finish(work, plan)
    work.ledger.append = real
    work.plan = plan  # type: ignore[attr-defined]
    work.died = count >= die_at  # type: ignore[attr-defined]
    return work


def said(work: PlansAtWork) -> Any:
    """Say what comes next by what is on record, as a model that reads its history would."""
    (plan,) = work.register.list_plans()[0]
    did = [step for step in work.register.steps(plan.id) if step.state == "finished"]
    settled = [step for step in did if step.outcome in {"ok", "interrupted"}]
    return SCRIPT[min(len(settled), len(SCRIPT) - 1)]


def finish(work: PlansAtWork, plan: Any) -> None:
    for _ in range(50):
        found = work.run(plan)
        if found.state is State.BLOCKED_ON_DESTRUCTIVE:
            work.decide(found, "grant")
        elif found.state is State.COMPLETED:
            return
    pytest.fail(f"{found.state}: {found.reason}")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_dying_between_any_two_records_repeats_no_effect_and_loses_no_step(after: bool) -> None:
    died = True
    die_at = 1
    while died:
        work = run_with_crashes(die_at, after=after)
        died = work.died  # type: ignore[attr-defined]
        plan = work.plan  # type: ignore[attr-defined]
        assert work.state(plan) is State.COMPLETED, die_at
        names = [name for name, _ in work.effects]
        assert names.count("delete_file") <= 1, die_at
        interrupted = [s for s in work.steps(plan) if s.outcome == "interrupted"]
        done_once = names.count("write_file") + names.count("delete_file") + len(interrupted)
        assert done_once >= 3, die_at
        assert len(set(work.effects)) == len(work.effects), die_at
        messages = [each.text for each in work.register.messages(plan.id)]
        assert messages.count("half way") == 1, die_at
        die_at += 1
    assert die_at > 30


def test_an_effect_that_was_cut_off_is_told_and_not_repeated() -> None:
    work = PlansAtWork()
    model = work.script(write(f"{NOTES}/a.md"), done())
    plan = work.approved()

    def die(_name: str) -> None:
        raise Dies

    work.before_effect = die
    with pytest.raises(Dies):
        work.run(plan)
    work.before_effect = lambda _name: None
    work.running = work.new_running()
    found = work.run(plan)
    assert found.state is State.COMPLETED
    assert work.effects == [], "nobody knows whether it happened, so it is not done again"
    assert work.outcomes(found) == ["interrupted", "ok"]
    assert "is not done again" in model.last()


def test_the_history_of_a_checkpoint_survives_a_crash() -> None:
    work = PlansAtWork()
    model = work.script(tool("read_file", path=f"{NOTES}/x"), Dies(), done())
    plan = work.approved()
    work.files[f"{NOTES}/x"] = "what was read before the crash"
    work.running.control.message(plan.id, "mind the gap", actor="user:1")
    with pytest.raises(Dies):
        work.run(plan)
    before = [part for part in model.prompts[-1].data if "budget:" not in part]
    work.running = work.new_running()
    work.run(plan)
    after = [part for part in model.prompts[-1].data if "budget:" not in part]
    assert before == after
    assert "what was read before the crash" in model.last()
    assert "mind the gap" in model.last()


def test_two_daemons_on_one_ledger_never_take_the_same_step() -> None:
    work = PlansAtWork()
    plan = work.approved()
    other = work.new_running()

    def meanwhile(_prompt: Any) -> Any:
        assert other.runner.step(plan.id) is True, "the other one asks the model for the next step"
        return write(f"{NOTES}/a.md")

    work.script(meanwhile, write(f"{NOTES}/b.md"), done())
    work.run(plan)
    assert len(set(work.effects)) == len(work.effects)


def test_an_action_that_another_daemon_was_first_to_claim_is_not_done_again() -> None:
    work = PlansAtWork()
    work.script(write(f"{NOTES}/a.md"), done())
    plan = work.approved()
    work.run(plan, most=3)
    assert work.steps(plan)[-1].state == "decided"
    other, real = work.new_running(), work.ledger.append

    def second(events: Any, **options: Any) -> Any:
        work.ledger.append = real
        assert events[0].type == "agent_action_started"
        other.runner.step(plan.id)
        return real(events, **options)

    work.ledger.append = second
    work.running.runner.step(plan.id)
    assert work.effects == [("write_file", f"{NOTES}/a.md")]
    assert work.types(plan).count("agent_action_started") == 1
