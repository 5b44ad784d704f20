"""A step that went wrong runs once more when the operator signs for it, and never by itself."""

from typing import Any

import pytest

from astra.plans.model import AgentPlan
from astra.plans.states import State
from astra.trusted.kernel.errors import Conflict
from plans_at_work import NOTES, PlansAtWork, document, done, tool, write

WRITE = ("write_file", f"{NOTES}/a.md")


class Dies(BaseException):
    """Stands for kill -9: nothing in the product catches it."""


@pytest.fixture
def work() -> PlansAtWork:
    return PlansAtWork()


def breaking(work: PlansAtWork, times: int = 1) -> None:
    """Have the next effects fail, each after it happened in part."""
    left = times

    def before(_name: str) -> None:
        nonlocal left
        left -= 1
        if left >= 0:
            raise OSError("the disk went away")

    work.before_effect = before


def stuck(work: PlansAtWork, *sayings: Any, budget: int = 1, **manifest: Any) -> AgentPlan:
    """Give a plan whose steps are spent, with the last one failed."""
    work.script(*sayings, done(), done())
    plan = work.run(work.approved(document(budget=budget, **manifest)))
    assert (plan.state, work.outcomes(plan)[-1]) == (State.BLOCKED_ON_BUDGET, "failed")
    return plan


def offered(work: PlansAtWork, plan: AgentPlan) -> int | None:
    return work.gate.planning.views.show_plan(plan.id)["progress"]["retry"]


def test_a_failed_step_runs_once_more_and_the_plan_goes_on(work: PlansAtWork) -> None:
    breaking(work)
    plan = stuck(work, write(f"{NOTES}/a.md"))
    assert offered(work, plan) == 1
    work.decide(plan, "retry", seen=1)
    plan = work.run(plan)
    assert work.effects == [WRITE]
    assert work.outcomes(plan) == ["ok"]
    assert plan.state is State.BLOCKED_ON_BUDGET, "a retry gives no more steps"
    assert (plan.calls, plan.spent) == (1, 1), "the model is not asked again"
    assert offered(work, plan) is None


def test_it_can_fail_again_and_be_tried_again_each_time_by_a_signature(work: PlansAtWork) -> None:
    breaking(work, times=2)
    plan = stuck(work, write(f"{NOTES}/a.md"))
    work.decide(plan, "retry")
    assert work.outcomes(work.run(plan)) == ["failed"]
    work.decide(plan, "retry")
    work.run(plan)
    assert work.effects == [WRITE]
    assert work.types(plan).count("agent_action_started") == 3


def test_of_two_who_retry_the_same_attempt_the_second_is_told(work: PlansAtWork) -> None:
    breaking(work, times=2)
    plan = stuck(work, write(f"{NOTES}/a.md"))
    late = work.signed(plan, "retry")
    work.decide(plan, "retry")
    work.run(plan)
    with pytest.raises(Conflict) as refused:
        work.running.control.decide(plan.id, "retry", late)
    assert refused.value.reason == "changed_meanwhile"
    assert refused.value.facts["change"]["type"] == "agent_step_retried"
    assert work.effects == []


def test_a_signature_is_good_for_one_retry(work: PlansAtWork) -> None:
    breaking(work, times=2)
    plan = stuck(work, write(f"{NOTES}/a.md"))
    signed = work.signed(plan, "retry")
    work.running.control.decide(plan.id, "retry", signed)
    with pytest.raises(Conflict) as refused:
        work.running.control.decide(plan.id, "retry", signed)
    assert refused.value.reason == "nothing_to_retry", "it is under way"


def test_a_step_that_a_crash_cut_off_runs_once_more_from_a_pause(work: PlansAtWork) -> None:
    plan = work.approved()

    def die(_name: str) -> None:
        raise Dies

    work.script(write(f"{NOTES}/a.md"), done())
    work.before_effect = die
    with pytest.raises(Dies):
        work.run(plan)
    work.before_effect = lambda _name: None
    work.running = work.new_running()
    assert offered(work, plan) is None, "nobody knows yet that it was cut off"
    work.running.runner.step(plan.id)
    work.running.control.pause(plan.id, actor="user:1")
    assert work.outcomes(plan) == ["interrupted"]
    work.decide(work.get(plan), "retry")
    assert work.run(plan).state is State.COMPLETED
    assert work.effects == [WRITE]


def test_a_step_cut_off_while_its_plan_was_paused_runs_once_more_where_it_stands(
    work: PlansAtWork,
) -> None:
    plan = work.approved()

    def pause_and_die(_name: str) -> None:
        work.running.control.pause(plan.id, actor="user:1")
        raise Dies

    work.script(write(f"{NOTES}/a.md"), done())
    work.before_effect = pause_and_die
    with pytest.raises(Dies):
        work.run(plan)
    work.before_effect = lambda _name: None
    work.running = work.new_running()
    assert (work.state(plan), offered(work, plan)) == (State.PAUSED, None)
    work.running.runner.watch()
    assert work.outcomes(plan) == ["interrupted"]
    work.decide(work.get(plan), "retry")
    assert work.run(plan).state is State.COMPLETED
    assert work.effects == [WRITE]


def test_a_step_that_is_still_carried_out_is_not_closed_by_a_look(work: PlansAtWork) -> None:
    plan = work.approved()

    def pause_and_look(_name: str) -> None:
        work.running.control.pause(plan.id, actor="user:1")
        work.running.runner.watch()

    work.script(write(f"{NOTES}/a.md"), done())
    work.before_effect = pause_and_look
    work.run(plan)
    assert work.outcomes(plan) == ["ok"]
    assert work.effects == [WRITE]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_dying_in_a_retry_repeats_nothing_without_another_signature(
    work: PlansAtWork, after: bool
) -> None:
    breaking(work)
    plan = stuck(work, write(f"{NOTES}/a.md"))
    work.decide(plan, "retry")
    real = work.ledger.append

    def append(events: Any, **options: Any) -> Any:
        if events[0].type != "agent_step_finished":
            return real(events, **options)
        if after:
            real(events, **options)
        raise Dies

    work.ledger.append = append
    with pytest.raises(Dies):
        work.run(plan)
    work.ledger.append = real
    work.running = work.new_running()
    work.run(plan)
    assert work.effects == [WRITE]
    assert work.outcomes(plan) == ["ok" if after else "interrupted"]


def test_only_the_last_step_of_a_plan_that_stands_still_can_be_retried(work: PlansAtWork) -> None:
    breaking(work)
    plan = work.approved(document(budget=3))
    assert offered(work, plan) is None
    work.script(write(f"{NOTES}/a.md"), write(f"{NOTES}/b.md"), tool("nothing"), done())
    plan = work.run(plan)
    assert work.outcomes(plan) == ["failed", "ok", "refused"]
    assert offered(work, plan) == 3
    work.decide(plan, "extend_budget", steps=1)
    assert offered(work, plan) is None, "it runs"
    with pytest.raises(Conflict) as refused:
        work.running.control.describe_decision(plan.id, "retry")
    assert refused.value.reason == "nothing_to_retry"
    assert work.run(plan).state is State.COMPLETED
    assert offered(work, plan) is None


def test_what_went_well_and_what_is_not_an_action_is_not_retried(work: PlansAtWork) -> None:
    work.script(write(f"{NOTES}/a.md"), "garbage", "garbage", "garbage")
    plan = work.run(work.approved(document(budget=1)))
    assert offered(work, plan) is None
    work.decide(plan, "extend_budget", steps=1)
    plan = work.run(plan)
    assert work.outcomes(plan) == ["ok", "malformed"]
    assert offered(work, plan) is None


def test_a_destructive_step_is_confirmed_anew(work: PlansAtWork) -> None:
    breaking(work)
    work.script(tool("delete_file", path=f"{NOTES}/a.md"), done())
    plan = work.run(work.approved(document(budget=1, skills=["files", "delete_file"])))
    assert plan.state is State.BLOCKED_ON_DESTRUCTIVE
    work.decide(plan, "grant")
    plan = work.run(plan)
    assert work.outcomes(plan) == ["failed"]
    work.decide(plan, "retry")
    assert work.run(plan).state is State.BLOCKED_ON_DESTRUCTIVE
    assert work.effects == []


def test_what_was_granted_once_is_asked_for_anew(work: PlansAtWork) -> None:
    breaking(work)
    work.script(write("/data/persona_space/other/b.md"), done())
    plan = work.run(work.approved(document(budget=1)))
    work.decide(plan, "grant", once=True)
    plan = work.run(plan)
    assert work.outcomes(plan) == ["failed"]
    work.decide(plan, "retry")
    plan = work.run(plan)
    assert plan.state is State.BLOCKED_ON_PERMISSION
    work.decide(plan, "grant", once=True)
    work.run(plan)
    assert work.effects == [("write_file", "/data/persona_space/other/b.md")]
